//! Prose in lines that a terminal can show.

/// The longest line, in characters.
const WIDTH: usize = 100;

/// Adds a text in lines of at most [`WIDTH`] characters, each set in by `indent`.
pub fn wrapped(out: &mut String, text: &str, indent: usize) {
    let blank = " ".repeat(indent);
    let mut length = 0;
    for word in text.split_whitespace() {
        let chars = word.chars().count();
        if length > 0 && length + 1 + chars > WIDTH - indent {
            out.push('\n');
            length = 0;
        }
        out.push_str(if length == 0 { &blank } else { " " });
        length += chars + usize::from(length > 0);
        out.push_str(word);
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_wrapped_and_set_in() {
        let mut out = String::new();
        wrapped(&mut out, &"word ".repeat(40), 2);
        assert!(out.lines().count() > 1);
        assert!(
            out.lines()
                .all(|line| line.starts_with("  word") && line.len() <= WIDTH)
        );
    }
}
