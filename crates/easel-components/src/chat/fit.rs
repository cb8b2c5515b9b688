//! Fitting a conversation into a model's context window (spec/canvas-components §3.1, "Fitting").

use std::sync::Arc;

use easel_models::{Content, Message, Part, Role, tokens};

/// The share of the window that a prompt may take.
const SHARE: f64 = 0.97;

/// The share of instructions and last message up to which the instructions stay whole.
const INSTRUCTIONS: f64 = 0.8;

/// The shortest that an answer of a tool is cut to, in tokens.
const LEAST: usize = 200;

/// What stands where an answer of a tool was cut.
const CUT: &str = "\n[The rest was left out: it does not fit.]";

/// Makes a prompt fit: if it is too long, the instructions and the last message stay; if these still are, the longer
/// of them is cut.
pub(crate) fn prompt(messages: &mut Vec<Message>, window: u32) {
    let budget = budget(window);
    let total = |messages: &[Message]| messages.iter().map(length).sum::<usize>();
    if total(messages) <= budget {
        return;
    }
    let last = messages.pop();
    messages.retain(|message| message.role == Role::System);
    messages.truncate(1);
    messages.extend(last);
    if total(messages) <= budget {
        return;
    }
    match messages.as_mut_slice() {
        [system, last] if system.role == Role::System => {
            let (first, second) = (length(system), length(last));
            let (kept, cut) = match first as f64 > INSTRUCTIONS * (first + second) as f64 {
                true => (last, system),
                false => (system, last),
            };
            cut_to(kept, budget);
            cut_to(cut, budget - length(kept));
        }
        others => others
            .iter_mut()
            .for_each(|message| cut_to(message, budget)),
    }
}

/// Makes a conversation with tools fit: the longest answers of tools are cut, as far as they can be.
pub(crate) fn tool_answers(messages: &mut [Message], window: u32) {
    let budget = budget(window);
    let mut total: usize = messages.iter().map(length).sum();
    while total > budget {
        let answers = messages.iter_mut().filter(|m| m.role == Role::Tool);
        let Some((long, message)) = answers.map(|m| (length(m), m)).max_by_key(|(n, _)| *n) else {
            return;
        };
        if long <= LEAST {
            return;
        }
        let over = total - budget + tokens(CUT);
        cut_to(message, long.saturating_sub(over).max(LEAST / 2));
        let text = format!("{}{CUT}", message.content.text());
        message.content = Content::Text(text.into());
        total = total - long + length(message);
    }
}

fn budget(window: u32) -> usize {
    (f64::from(window) * SHARE) as usize
}

fn length(message: &Message) -> usize {
    let calls = message.tool_calls.iter();
    let calls: usize = calls.map(|c| tokens(&c.name) + tokens(&c.arguments)).sum();
    calls + tokens(&message.content.text())
}

/// An estimate of a text's length in tokens that is rather too high: a word of up to eight letters is one, so is each
/// other sign and each character that is not Latin.
pub(crate) fn tokens(text: &str) -> usize {
    tokens::pieces(text).map(weight).sum()
}

fn weight(piece: &str) -> usize {
    const LETTERS_OF_A_TOKEN: usize = 8;
    /// Latin letters end here; beyond are the scripts of which a character is a token.
    const LATIN: char = '\u{250}';
    let piece = piece.trim_start();
    let other = piece.chars().filter(|c| *c >= LATIN).count();
    let latin = piece.chars().count() - other;
    (other + latin.div_ceil(LETTERS_OF_A_TOKEN)).max(1)
}

/// Cuts the text of a message to that many tokens.
fn cut_to(message: &mut Message, limit: usize) {
    match &mut message.content {
        Content::Empty => {}
        Content::Text(text) => {
            if let Some(shorter) = start(text, limit) {
                *text = shorter;
            }
        }
        Content::Parts(parts) => {
            let mut left = limit;
            for part in parts {
                if let Part::Text { text } = part {
                    if let Some(shorter) = start(text, left) {
                        *text = shorter;
                    }
                    left = left.saturating_sub(tokens(text));
                }
            }
        }
    }
}

/// The start of a text, if it is longer than that many tokens.
fn start(text: &str, limit: usize) -> Option<Arc<str>> {
    let mut end = 0;
    let mut used = 0;
    for piece in tokens::pieces(text) {
        used += weight(piece);
        if used > limit {
            return Some(text[..end].into());
        }
        end += piece.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(word: &str, count: usize) -> String {
        vec![word; count].join(" ")
    }

    fn texts(messages: &[Message]) -> Vec<String> {
        messages
            .iter()
            .map(|m| m.content.text().to_string())
            .collect()
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let before = vec![Message::system("be kind"), Message::user("hello")];
        let mut after = before.clone();
        prompt(&mut after, 100);
        assert_eq!(after, before);
    }

    #[test]
    fn of_a_long_conversation_instructions_and_last_message_stay() {
        let mut messages = vec![
            Message::system("be kind"),
            Message::user(words("alpha", 30)),
            Message::assistant("ok"),
            Message::user(words("beta", 30)),
        ];
        prompt(&mut messages, 60);
        assert_eq!(texts(&messages), ["be kind".to_owned(), words("beta", 30)]);
    }

    #[test]
    fn the_longer_of_the_two_is_cut() {
        let mut messages = vec![Message::system(words("rule", 200)), Message::user("why?")];
        prompt(&mut messages, 100);
        assert_eq!(texts(&messages), [words("rule", 95), "why?".to_owned()]);

        let mut messages = vec![Message::system("be kind"), Message::user(words("why", 200))];
        prompt(&mut messages, 100);
        assert_eq!(texts(&messages), ["be kind".to_owned(), words("why", 95)]);

        let mut messages = vec![Message::user(words("why", 200))];
        prompt(&mut messages, 100);
        assert_eq!(texts(&messages), [words("why", 97)]);
    }

    #[test]
    fn long_answers_of_tools_are_cut_and_say_so() {
        let mut messages = vec![
            Message::user("search"),
            Message::tool("a", words("short", 10)),
            Message::tool("b", words("long", 5_000)),
        ];
        tool_answers(&mut messages, 1_000);
        assert!(messages.iter().map(length).sum::<usize>() <= 970);
        assert_eq!(messages[1].content.text(), words("short", 10).into());
        assert!(messages[2].content.text().ends_with(CUT));
    }

    #[test]
    fn scripts_without_spaces_count_by_character() {
        assert_eq!(tokens("你好世界"), 4);
        assert_eq!(tokens("Donaudampfschiff"), 2);
        assert_eq!(tokens("a, b"), 3);
    }

    proptest! {
        #[test]
        fn a_prompt_fits_whatever_it_says(texts in prop::collection::vec("\\PC{0,200}", 1..5), window in 1u32..80) {
            let mut messages: Vec<_> = texts.into_iter().map(Message::user).collect();
            messages.insert(0, Message::system("some rules that are to be followed"));
            prompt(&mut messages, window);
            prop_assert!(messages.iter().map(length).sum::<usize>() <= budget(window));
        }
    }
}
