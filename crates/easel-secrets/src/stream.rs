//! Taking secret values out of a text that comes in pieces.

use std::borrow::Cow;

use crate::mask::{MASK, Masker, Tally};

/// A masked text that comes in pieces: what comes out is what [`Masker::mask`] makes of the whole, wherever the borders
/// between the pieces lie.
///
/// It holds back only what might be the beginning of a value, so at most one byte less than the longest form of one, and
/// nothing of ordinary text.
///
/// ```
/// use easel_secrets::{MaskStream, Masker, Secret};
///
/// let mut stream = MaskStream::new(Masker::new(&[Secret::new("s3cr3t-value")])?);
/// assert_eq!(stream.push("it is s3cr"), "it is ");
/// assert_eq!(stream.push("3t-value!"), "••••••!");
/// assert_eq!(stream.finish(), "");
/// # Ok::<(), easel_secrets::TooManySecrets>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MaskStream {
    masker: Masker,
    /// What was held back.
    held: Held,
    pub(crate) tally: Tally,
}

/// The end of a text that might be the beginning of a value.
#[derive(Clone, Default)]
struct Held {
    text: String,
    /// How many of its bytes belong to a value that was masked already.
    covered: usize,
}

impl std::fmt::Debug for Held {
    /// Hides what might be half of a value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.text.len())
    }
}

impl MaskStream {
    /// A text that begins.
    pub fn new(masker: Masker) -> MaskStream {
        MaskStream {
            masker,
            ..MaskStream::default()
        }
    }

    /// Goes on with a masker that knows more.
    pub(crate) fn know(&mut self, masker: Masker) {
        self.masker = masker;
    }

    /// Takes a piece in and gives what can go out.
    pub fn push<'t>(&mut self, piece: &'t str) -> Cow<'t, str> {
        if self.masker.is_empty() {
            return Cow::Borrowed(piece);
        }
        let Held { text, covered } = std::mem::take(&mut self.held);
        match text.is_empty() {
            true => self.masked(Cow::Borrowed(piece), 0, false),
            false => self.masked(Cow::Owned(text + piece), covered, false),
        }
    }

    /// Ends the text and gives what was held back.
    pub fn finish(&mut self) -> String {
        let Held { text, covered } = std::mem::take(&mut self.held);
        self.masked(Cow::Owned(text), covered, true).into_owned()
    }

    /// What can go out of a text of which the first `covered` bytes are masked already. The rest is held back, unless it
    /// is the `last`.
    fn masked<'t>(&mut self, text: Cow<'t, str>, covered: usize, last: bool) -> Cow<'t, str> {
        // What was held back is searched again, and counted once.
        let mut tally = Tally::default();
        let ranges = self.masker.ranges(&text, covered, &mut tally);
        let end = match last {
            true => text.len(),
            false => self.masker.open_end(&text),
        };
        self.tally.scanned += end as u64;
        let Some(ranges) = ranges else {
            return match text {
                text if end == text.len() => text,
                Cow::Borrowed(text) => {
                    self.held.text = text[end..].to_owned();
                    Cow::Borrowed(&text[..end])
                }
                Cow::Owned(mut text) => {
                    self.held.text = text.split_off(end);
                    Cow::Owned(text)
                }
            };
        };
        let mut masked = String::with_capacity(end);
        let mut written = 0;
        for (start, stop) in ranges {
            if start >= end {
                break;
            }
            masked.push_str(&text[written..start]);
            if start > 0 || covered == 0 {
                masked.push_str(MASK);
                self.tally.masked += 1;
            }
            written = stop;
        }
        if written < end {
            masked.push_str(&text[written..end]);
        }
        self.held = Held {
            text: text[end..].to_owned(),
            covered: match end {
                0 => covered,
                _ => written.saturating_sub(end),
            },
        };
        Cow::Owned(masked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;
    use proptest::prelude::*;

    fn stream(values: &[&str]) -> MaskStream {
        let secrets: Vec<Secret> = values.iter().copied().map(Secret::new).collect();
        MaskStream::new(Masker::new(&secrets).unwrap())
    }

    fn through(stream: &mut MaskStream, pieces: &[&str]) -> String {
        let mut out = String::new();
        pieces.iter().for_each(|piece| out += &stream.push(piece));
        out + &stream.finish()
    }

    #[test]
    fn a_value_is_masked_across_the_borders_of_pieces() {
        let mut stream = stream(&["s3cr3t-value"]);
        let pieces = ["a s", "3cr3t", "-v", "alue b s3cr3t", "-valued"];
        assert_eq!(through(&mut stream, &pieces), "a •••••• b ••••••d");
    }

    #[test]
    fn ordinary_text_is_not_held_back() {
        let mut stream = stream(&["xyzzy-plugh"]);
        for piece in ["The ", "quick ", "brown ", "fo"] {
            assert!(matches!(stream.push(piece), Cow::Borrowed(out) if out == piece));
        }
        assert_eq!(stream.push("x"), "");
        assert_eq!(stream.push(" jumps"), "x jumps");
        assert_eq!(stream.tally.scanned, 25);
    }

    #[test]
    fn what_only_began_like_a_value_comes_out_at_the_end() {
        let mut stream = stream(&["s3cr3t-value"]);
        assert_eq!(stream.push("s3cr3t-valu"), "");
        assert_eq!(stream.finish(), "s3cr3t-valu");
    }

    #[test]
    fn values_that_overlap_across_a_border_leave_one_mask() {
        let mut stream = stream(&["abcdefgh", "fghijklmno"]);
        assert_eq!(stream.push("-abcdefgh"), "-••••••");
        assert_eq!(stream.push("ijklm"), "");
        assert_eq!(stream.push("no-"), "-");
        assert_eq!(stream.tally.masked, 1);
    }

    /// Values that begin alike, overlap with others and with themselves, and characters of several bytes.
    fn values() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[abé]{6,9}", 1..4)
    }

    proptest! {
        #[test]
        fn pieces_come_out_as_the_whole_does(
            values in values(),
            pieces in prop::collection::vec("[abé ]{0,9}", 0..12),
        ) {
            let values: Vec<&str> = values.iter().map(|value| &**value).collect();
            let pieces: Vec<&str> = pieces.iter().map(|piece| &**piece).collect();
            let mut stream = stream(&values);
            let whole = pieces.concat();
            let masked = stream.masker.mask(&whole).into_owned();
            prop_assert_eq!(through(&mut stream, &pieces), masked);
            prop_assert_eq!(stream.tally.scanned, whole.len() as u64);
        }

        #[test]
        fn less_than_the_longest_form_is_held_back(
            values in values(),
            pieces in prop::collection::vec("[abé ]{0,9}", 0..12),
        ) {
            let refs: Vec<&str> = values.iter().map(|value| &**value).collect();
            let mut stream = stream(&refs);
            let forms = values.iter().flat_map(|value| crate::forms::forms(value));
            let longest = forms.map(|form| form.len()).max().unwrap();
            for piece in &pieces {
                let _ = stream.push(piece);
                prop_assert!(stream.held.text.len() < longest);
            }
        }
    }
}
