//! A question in several languages, for datasets that hold documents in them.

use easel_models::Message;

use crate::chat::ask::{Ask, Asker};
use crate::chat::lenient::after_thoughts;

/// What parts the translations in the model's answer.
const MARK: &str = "===";

/// The query followed by its translations, a line each. It stays alone if the model does not help.
pub(super) async fn into_languages(
    query: &str,
    languages: &[String],
    asker: &mut Asker<'_>,
) -> String {
    if languages.is_empty() {
        return query.to_owned();
    }
    let ask = Ask {
        messages: vec![
            Message::system(instructions(languages)),
            Message::user(query),
        ],
        ..Ask::default()
    };
    match asker.ask(ask, None).await {
        Ok(reply) => joined(query, after_thoughts(&reply.text)),
        Err(fault) => {
            asker.call.warn(format!(
                "The question was searched for as it is: {}",
                fault.message
            ));
            query.to_owned()
        }
    }
}

fn instructions(languages: &[String]) -> String {
    format!(
        "Translate what the user says into these languages, in this order: {}.\n\n\
         Keep names, numbers and technical terms. Answer no question in it. Write the translations alone, and between two \
         of them a line that holds only {MARK}.",
        languages.join(", ")
    )
}

fn joined(query: &str, answer: &str) -> String {
    let translations = answer.split(MARK).map(str::trim);
    let translations = translations.filter(|text| !text.is_empty() && *text != query.trim());
    let mut all = vec![query.to_owned()];
    all.extend(translations.map(|text| text.replace('\n', " ")));
    all.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations_follow_the_question() {
        assert_eq!(
            joined("cats", " Katzen\n===\nchats\n===\ncats\n"),
            "cats\nKatzen\nchats"
        );
        assert_eq!(joined("cats", ""), "cats");
    }
}
