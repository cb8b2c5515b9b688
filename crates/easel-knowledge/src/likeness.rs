//! How alike a query and texts are that lie in no knowledge base.

use crate::embed::HashedNgrams;
use crate::terms::{QueryTerm, query_terms, terms};

/// How soon a term that is repeated stops to count more; as in `search/score.rs`.
const SATURATION: f64 = 0.3;

/// How well each text fits a query, from 0 to 1: words by their weight, the groups of letters in them by the rest of it. It is
/// scored as in a knowledge base that holds these texts and nothing else.
pub fn likeness(query: &str, texts: &[String], weight_of_words: f64) -> Vec<f64> {
    let wanted = query_terms(query);
    let of_texts: Vec<Vec<String>> = texts.iter().map(|text| terms(text)).collect();
    let by_words = by_words(&wanted, &of_texts);
    let query = HashedNgrams::vector(query);
    let together = |(text, words): (&String, f64)| {
        let vector = HashedNgrams::vector(text);
        let cosine: f32 = query.iter().zip(&vector).map(|(a, b)| a * b).sum();
        let letters = f64::from(cosine).clamp(0.0, 1.0);
        weight_of_words * words + (1.0 - weight_of_words) * letters
    };
    texts.iter().zip(by_words).map(together).collect()
}

fn by_words(wanted: &[QueryTerm], texts: &[Vec<String>]) -> Vec<f64> {
    let size = texts.len() as f64;
    let weights: Vec<f64> = wanted
        .iter()
        .map(|wanted| {
            let has = |text: &&Vec<String>| text.iter().any(|term| wanted.is(term));
            let having = texts.iter().filter(has).count() as f64;
            (1.0 + (size - having + 0.5).max(0.0) / (having + 0.5)).ln()
        })
        .collect();
    let total: f64 = weights.iter().sum();
    let of_text = |text: &Vec<String>| {
        let got: f64 = wanted
            .iter()
            .zip(&weights)
            .map(|(wanted, weight)| {
                let count = text.iter().filter(|term| wanted.is(term)).count() as f64;
                weight * count / (count + SATURATION)
            })
            .sum();
        if total > 0.0 { got / total } else { 0.0 }
    };
    texts.iter().map(of_text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_words_or_their_letters_with_a_query_fits_it_better() {
        let texts = [
            "My cat is called Whiskers.",
            "The invoice was paid in May.",
            "Cats sleep a lot.",
            "",
        ]
        .map(str::to_owned);
        let scores = likeness("What is my cat called?", &texts, 0.5);
        assert!(scores[0] > scores[2] && scores[2] > scores[1], "{scores:?}");
        assert_eq!(scores[3], 0.0);
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        let letters = likeness("configuraton", &["configuration".to_owned()], 0.0);
        let words = likeness("configuraton", &["configuration".to_owned()], 1.0);
        assert!(letters[0] > 0.5 && words[0] == 0.0, "{letters:?} {words:?}");
    }

    #[test]
    fn without_texts_or_words_nothing_fits() {
        assert_eq!(likeness("x", &[], 0.5), [0.0; 0]);
        assert_eq!(likeness("?!", &["a b c".to_owned()], 0.5), [0.0]);
    }
}
