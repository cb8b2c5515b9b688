//! Embeddings: texts as vectors, so that what means alike lies near.

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::terms::terms;

/// What a text is embedded for. Some models tell the two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A passage that is to be found.
    Passage,
    /// A query that looks for passages.
    Query,
}

/// A model that makes vectors of texts. A provider's API implements it.
pub trait Embedder: Send + Sync {
    /// The model's name, as knowledge bases keep it. The same name must always make the same vectors.
    fn model(&self) -> &str;

    /// How many texts one call may bring.
    fn batch(&self) -> usize {
        32
    }

    /// A vector for each text, in their order, all of one length. The error is what the provider said.
    fn embed(
        &self,
        purpose: Purpose,
        texts: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<Vec<f32>>, String>>;
}

/// Vectors of the words of a text and the groups of letters in them, without a model: offline, at once, and the same on
/// every machine.
///
/// It finds other forms of a word, compounds and slips of the pen. It knows nothing of meaning: `car` and `automobile`
/// have nothing in common to it. It is for tests, and for where no embedding model is to be had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HashedNgrams;

impl HashedNgrams {
    /// The name of the model.
    pub const MODEL: &'static str = "hashed-ngrams-v1";

    /// The length of its vectors.
    pub const DIMENSIONS: usize = 1024;

    /// The vector of a text, of length 1; of a text without words all zero.
    pub fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; Self::DIMENSIONS];
        for term in terms(text) {
            let letters: Vec<char> = format!("<{term}>").chars().collect();
            // Short words are in every text and say little.
            let weight = match letters.len() - 2 {
                0..=3 if term.is_ascii() => 0.25,
                _ => 1.0,
            };
            add(&mut vector, &term, weight);
            for size in 3..=4 {
                for group in letters.windows(size) {
                    let group: String = group.iter().collect();
                    add(&mut vector, &group, weight * 0.5);
                }
            }
        }
        // What is there ten times is not ten times as much about it.
        for value in &mut vector {
            *value = value.signum() * value.abs().sqrt();
        }
        normalise(&mut vector);
        vector
    }
}

impl Embedder for HashedNgrams {
    fn model(&self) -> &str {
        Self::MODEL
    }

    fn embed(
        &self,
        _: Purpose,
        texts: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<Vec<f32>>, String>> {
        async move { Ok(texts.iter().map(|text| Self::vector(text)).collect()) }.boxed()
    }
}

/// Adds a feature at the place and with the sign that its hash gives.
fn add(vector: &mut [f32], feature: &str, weight: f32) {
    // FNV-1a, with its upper bits mixed into the lower ones.
    let hash = feature
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let at = (hash >> 33) as usize % vector.len();
    vector[at] += if hash & 1 == 0 { weight } else { -weight };
}

/// Brings a vector to length 1. One of zeros, or with what is no number, becomes zeros.
pub(crate) fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length.is_finite() && length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    } else {
        vector.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> f32 {
        let (a, b) = (HashedNgrams::vector(a), HashedNgrams::vector(b));
        a.iter().zip(&b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn a_slip_of_the_pen_is_nearer_than_another_word() {
        assert!(alike("configuration", "configuraton") > 0.5);
        assert!(alike("configuration", "weather report") < 0.2);
        assert!((alike("知识库检索", "知识库检索") - 1.0).abs() < 1e-5);
        assert!(alike("知识库", "知识") > alike("知识库", "天气"));
    }

    #[test]
    fn a_text_without_words_is_near_nothing() {
        assert!(
            HashedNgrams::vector("— !")
                .iter()
                .all(|value| *value == 0.0)
        );
    }
}
