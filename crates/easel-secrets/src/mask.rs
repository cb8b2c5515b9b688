//! Taking secret values out of text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;

use crate::forms::forms;
use crate::secret::Secret;
use crate::sieve::Sieve;

/// What stands in place of a secret's value.
pub const MASK: &str = "••••••";

/// The shortest value that is masked, in characters: a shorter one occurs in ordinary text (design §5.4).
pub const SHORTEST: usize = 6;

/// Replaces secret values by [`MASK`] wherever they occur in a text.
///
/// Besides the raw value it knows the forms in which values travel: JSON-escaped, URL-encoded, and base64 at any
/// alignment in either alphabet. Where values overlap, all that any of them covers goes; nothing of the longer one
/// remains beside the shorter.
///
/// A masker that knows no value costs nothing. Cloning one costs a reference count.
///
/// ```
/// use easel_secrets::{Masker, Secret};
///
/// let masker = Masker::new(&[Secret::new("s3cr3t value")])?;
/// assert_eq!(masker.mask("GET /?key=s3cr3t%20value&page=1"), "GET /?key=••••••&page=1");
/// # Ok::<(), easel_secrets::TooManySecrets>(())
/// ```
#[derive(Clone, Default)]
pub struct Masker {
    /// `None` where there is nothing to mask.
    forms: Option<Arc<Forms>>,
}

/// The values are too many or too long to be searched for; nothing may leave unsearched, so this is an error.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the secrets are too many or too long to be masked: {0}; remove some")]
pub struct TooManySecrets(#[from] aho_corasick::BuildError);

/// Everything that is searched for.
struct Forms {
    search: AhoCorasick,
    /// In the order of their bytes, each with the name of its secret. The pattern of the search with the same index.
    sorted: Vec<(String, Arc<str>)>,
    /// Finds where to search.
    sieve: Sieve,
    /// The length of the longest form, in bytes.
    longest: usize,
    /// Whether one of them could be a number.
    numeric: bool,
}

/// What masking did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Bytes of text that were searched.
    pub scanned: u64,
    /// Places that were masked.
    pub masked: u64,
}

impl Masker {
    /// A masker of these values. Those under [`SHORTEST`] characters are left alone.
    ///
    /// # Errors
    /// [`TooManySecrets`] beyond some gigabytes of values.
    pub fn new<'a>(
        secrets: impl IntoIterator<Item = &'a Secret>,
    ) -> Result<Masker, TooManySecrets> {
        let unnamed: Arc<str> = "".into();
        let secrets = secrets.into_iter();
        Masker::named(secrets.map(|secret| (unnamed.clone(), secret)))
    }

    /// The same, with the names of the secrets: for telling which one could not be masked.
    ///
    /// # Errors
    /// As [`Masker::new`].
    pub fn named<'a>(
        secrets: impl IntoIterator<Item = (Arc<str>, &'a Secret)>,
    ) -> Result<Masker, TooManySecrets> {
        let mut sorted = BTreeMap::new();
        for (name, secret) in secrets.into_iter().filter(|(_, s)| s.is_masked()) {
            for form in forms(secret.value()) {
                sorted.entry(form).or_insert_with(|| name.clone());
            }
        }
        let forms = match sorted.is_empty() {
            true => None,
            false => Some(Arc::new(Forms::new(sorted.into_iter().collect())?)),
        };
        Ok(Masker { forms })
    }

    /// Whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.forms.is_none()
    }

    /// The text without the values; borrowed if none is in it.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.mask_counted(text, &mut Tally::default())
    }

    pub(crate) fn mask_counted<'t>(&self, text: &'t str, tally: &mut Tally) -> Cow<'t, str> {
        let Some(ranges) = self.ranges(text, 0, tally) else {
            return Cow::Borrowed(text);
        };
        let mut masked = String::with_capacity(text.len());
        let mut written = 0;
        for (start, end) in ranges {
            masked.push_str(&text[written..start]);
            masked.push_str(MASK);
            tally.masked += 1;
            written = end;
        }
        Cow::Owned(masked + &text[written..])
    }

    /// Where values stand in a text, in order and without overlaps; `None` if nowhere. The first `covered` bytes count
    /// as a value.
    pub(crate) fn ranges(
        &self,
        text: &str,
        covered: usize,
        tally: &mut Tally,
    ) -> Option<Vec<(usize, usize)>> {
        let forms = self.forms.as_ref()?;
        tally.scanned += text.len() as u64;
        let text = text.as_bytes();
        let found = forms.stretches(text).flat_map(|stretch| {
            let found = forms.search.find_overlapping_iter(&text[stretch.clone()]);
            found.map(move |found| (stretch.start + found.start(), stretch.start + found.end()))
        });
        let before = Some((0, covered)).filter(|_| covered > 0);
        let mut found = before.into_iter().chain(found).peekable();
        found.peek()?;
        Some(merged(found))
    }

    /// From where on a text might go on to be a value, if more text followed. Its length, if from nowhere.
    pub(crate) fn open_end(&self, text: &str) -> usize {
        self.forms
            .as_ref()
            .map_or(text.len(), |forms| forms.open_end(text))
    }

    /// The secret whose value stands in the text of a number.
    pub(crate) fn secret_in_number(&self, text: &str) -> Option<&Arc<str>> {
        let forms = self.forms.as_ref().filter(|forms| forms.numeric)?;
        let found = forms.search.find_overlapping_iter(text).next()?;
        forms
            .sorted
            .get(found.pattern().as_usize())
            .map(|(_, name)| name)
    }
}

impl Forms {
    fn new(sorted: Vec<(String, Arc<str>)>) -> Result<Forms, TooManySecrets> {
        let digits = |form: &str| {
            form.bytes()
                .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b))
        };
        Ok(Forms {
            search: AhoCorasick::new(sorted.iter().map(|(form, _)| form))?,
            longest: sorted.iter().map(|(form, _)| form.len()).max().unwrap_or(0),
            numeric: sorted.iter().any(|(form, _)| digits(form)),
            sieve: Sieve::new(sorted.iter().map(|(form, _)| &**form)),
            sorted,
        })
    }

    /// The stretches of a text in which a form may stand, in order and apart from each other.
    fn stretches<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Range<usize>> + 't {
        let mut places = self.sieve.places(text).peekable();
        std::iter::from_fn(move || {
            let start = places.next()?;
            let mut end = start + self.longest;
            while let Some(place) = places.next_if(|place| *place < end) {
                end = place + self.longest;
            }
            Some(start..end.min(text.len()))
        })
    }

    fn open_end(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let from = bytes.len().saturating_sub(self.longest.saturating_sub(1));
        let may_begin = |bytes| self.sieve.may_begin(bytes).unwrap_or(true);
        (from..bytes.len())
            .find(|&at| may_begin(&bytes[at..]) && self.goes_on(&bytes[at..]))
            .unwrap_or(bytes.len())
    }

    /// Whether there is a form that begins with these bytes and goes on after them.
    fn goes_on(&self, bytes: &[u8]) -> bool {
        let at = self
            .sorted
            .partition_point(|(form, _)| form.as_bytes() <= bytes);
        let next = self.sorted.get(at);
        next.is_some_and(|(form, _)| form.as_bytes().starts_with(bytes))
    }
}

impl fmt::Debug for Masker {
    /// Hides the values: the automaton would spell them out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masker").finish_non_exhaustive()
    }
}

/// Ranges that overlap, as one each, in order.
fn merged(ranges: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, usize)> {
    let mut sorted: Vec<_> = ranges.collect();
    sorted.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in sorted {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
