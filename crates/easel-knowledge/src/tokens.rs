//! Counting tokens without a model's own tokeniser.
//!
//! | | tokens |
//! |---|---|
//! | ASCII letters | one for each six begun |
//! | letters of other alphabets, digits | one for each three begun |
//! | a character of a script without spaces (Chinese, Japanese, Korean, Thai, ...) | one |
//! | any other visible sign | one |
//!
//! It is an estimate: made to cut passages, the same on every machine, and no figure to bill by.

/// What a character is to the count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Ascii,
    Letter,
    Digit,
    Alone,
}

fn kind(c: char) -> Kind {
    match c {
        _ if c.is_whitespace() => Kind::Space,
        'a'..='z' | 'A'..='Z' => Kind::Ascii,
        _ if has_no_spaces(c) => Kind::Alone,
        _ if c.is_alphabetic() => Kind::Letter,
        _ if c.is_numeric() => Kind::Digit,
        _ => Kind::Alone,
    }
}

/// Whether the character belongs to a script that is written without spaces between words.
pub(crate) fn has_no_spaces(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'     // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Burmese
        | '\u{1100}'..='\u{11ff}'   // Hangul, in parts
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{3040}'..='\u{30ff}'   // Kana
        | '\u{3100}'..='\u{318f}'   // Bopomofo, Hangul
        | '\u{31f0}'..='\u{31ff}'   // Kana
        | '\u{3400}'..='\u{4dbf}'   // Han
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'   // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// How many tokens a text has, by the table of this module.
///
/// A text cut at a space has as many as its parts together; cut within a word it has as many or fewer.
pub fn count(text: &str) -> usize {
    let (mut tokens, mut run, mut last) = (0, 0_usize, Kind::Space);
    for c in text.chars() {
        let kind = kind(c);
        run = if kind == last { run + 1 } else { 0 };
        last = kind;
        tokens += usize::from(match kind {
            Kind::Space => false,
            Kind::Ascii => run.is_multiple_of(6),
            Kind::Letter | Kind::Digit => run.is_multiple_of(3),
            Kind::Alone => true,
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn latin_words_and_chinese_characters_count_about_as_models_count_them() {
        assert_eq!(count("The cat sat on the mat."), 7);
        assert_eq!(count("internationalisation"), 4);
        assert_eq!(count("知识库检索"), 5);
        assert_eq!(count("Версия 2026"), 4);
        assert_eq!(count(" \n\t"), 0);
    }

    proptest! {
        #[test]
        fn parts_never_count_less_than_the_whole(a in any::<String>(), b in any::<String>()) {
            let whole = count(&format!("{a}{b}"));
            prop_assert!(whole <= count(&a) + count(&b));
            prop_assert_eq!(count(&format!("{a} {b}")), count(&a) + count(&b));
        }
    }
}
