#!/usr/bin/env bash
# Judges the API by its own description: what schemathesis makes up for every route must get no 5xx, and only answers that the
# description knows.
#
#   tests/clients/schemathesis.sh            starts `easel serve` over a folder of its own
#   tests/clients/schemathesis.sh URL KEY    a running server, with a key of all scopes that it may use up
#
# EASEL_EXAMPLES says how many requests are made up for a route (default 25). Needs python3 with venv; installs schemathesis
# below target/clients/.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

version=4.32.5
folder=$root/target/clients/schemathesis
program=$folder/bin/schemathesis
if [ "$("$program" --version 2>/dev/null)" != "schemathesis, version $version" ]; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi

work=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT

if [ $# -ge 2 ]; then
    url=$1
    key=$2
else
    easel=${EASEL:-$root/target/debug/easel}
    [ -x "$easel" ] || cargo build -q -p easel
    echo '{"default_reply": "ok"}' >"$work/world.json"
    "$easel" serve --data "$work/data" --listen 127.0.0.1:0 --world "$work/world.json" >"$work/log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        url=$(sed -n 's/.*\(http:\/\/127\.0\.0\.1:[0-9]*\).*/\1/p' "$work/log" | head -n 1)
        [ -n "$url" ] && break
        sleep 0.1
    done
    if [ -z "${url:-}" ]; then
        cat "$work/log" >&2
        exit 1
    fi
    body='{"owner": "local", "name": "schemathesis", "scopes": ["read", "run", "write", "admin"]}'
    key=$(curl -sS -H 'Content-Type: application/json' -d "$body" "$url/v1/keys" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["key"])')
fi

# Some requests would lock out the judge, or wait for a client that never comes.
cat >"$work/schemathesis.toml" <<'TOML'
[[operations]]
include-path-regex = "^/mcp"
enabled = false

[[operations]]
include-method = "DELETE"
include-path-regex = "^/v1/keys"
enabled = false
TOML

# What everybody must keep to.
strict=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance
strict=$strict,response_schema_conformance
# What our own API keeps to besides. The forms of others answer 200 with a code, and take more than they say.
ours=$strict,negative_data_rejection,missing_required_header,unsupported_method,ignored_auth,use_after_free

judge() {
    "$program" --config-file "$work/schemathesis.toml" run "$url/openapi.json" \
        -H "Authorization: Bearer $key" --request-timeout 20 --workers 2 \
        --max-examples "${EASEL_EXAMPLES:-25}" --generation-database none --no-color --continue-on-failure \
        --suppress-health-check all --warnings off "$@"
}
status=0
judge --checks "$ours" --include-path-regex '^/(v1/(workflows|agents|sessions|runs|keys)|healthz|readyz|openapi)' || status=$?
judge --checks "$strict" --exclude-path-regex '^/(v1/(workflows|agents|sessions|runs|keys)|healthz|readyz|openapi)' || status=$?
exit "$status"
