//! Counting tokens without a model's own tokeniser, the same on every machine.
//!
//! This is the counting of the scripted world, where a test must know what fits. It treats a run of letters as one
//! token, so it is far too low for scripts without spaces; it is no estimate of what a provider will bill.

/// The count of words and of other visible characters: a run of letters, digits and `_` is one, any other character
/// that is no space is one.
pub fn count(text: &str) -> usize {
    pieces(text)
        .filter(|piece| !piece.trim().is_empty())
        .count()
}

/// The text in pieces that each count as one token: a word or a visible character with the spaces before it; spaces at
/// the end are one piece. The pieces together are the text.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(piece_length(rest));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The length of the first piece, in bytes.
fn piece_length(text: &str) -> usize {
    let visible = text.trim_start();
    let spaces = text.len() - visible.len();
    let word = visible.find(|c| !is_word(c)).unwrap_or(visible.len());
    match word {
        0 => spaces + visible.chars().next().map_or(0, char::len_utf8),
        _ => spaces + word,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_and_signs_count_and_spaces_do_not() {
        assert_eq!(count("Hello, wide_world!  "), 4);
        assert_eq!(count(""), 0);
        assert_eq!(count(" \n"), 0);
        assert_eq!(count("你好，世界"), 3);
    }

    #[test]
    fn a_piece_takes_the_spaces_before_it() {
        let all: Vec<_> = pieces("a  b, c \n").collect();
        assert_eq!(all, ["a", "  b", ",", " c", " \n"]);
    }

    proptest! {
        #[test]
        fn pieces_are_never_empty_and_make_up_the_text(text in "\\PC{0,40}|[ a_,\n]{0,40}") {
            let all: Vec<_> = pieces(&text).collect();
            prop_assert!(all.iter().all(|piece| !piece.is_empty()));
            prop_assert_eq!(all.concat(), text);
        }
    }
}
