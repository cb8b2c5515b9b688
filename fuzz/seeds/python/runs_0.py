def dedupe(text, **kw):
    seen, kept = set(), []
    for line in text.splitlines():
        key = line.strip().lower()
        if key and key not in seen:
            seen.add(key)
            kept.append(line)
    return "\n".join(kept)
assert dedupe("a\nA\nb") == "a\nb"
