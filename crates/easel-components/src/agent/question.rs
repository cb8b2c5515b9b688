//! The last question of a conversation, put so that it stands by itself.

use easel_core::event::Timestamp;
use easel_models::{Message, Role};
use jiff::civil::Date;

use crate::chat::ask::{Ask, Asker};
use crate::chat::lenient::after_thoughts;

/// Messages beside the instructions from which on it is worth it (spec/canvas-components §3.2).
const WORTH_IT: usize = 4;

/// Puts a question in place of the last message of the user, so that tools are called with what is meant. Nothing
/// changes in a short conversation, or if the model does not help.
pub(super) async fn stand_alone(asker: &mut Asker<'_>, messages: &mut [Message]) {
    let said = messages
        .iter()
        .filter(|message| message.role != Role::System);
    let dialogue: Vec<String> = said
        .map(|message| {
            format!(
                "{}: {}",
                message.role.as_str().to_uppercase(),
                message.content.text()
            )
        })
        .collect();
    if dialogue.len() < WORTH_IT {
        return;
    }
    let instructions = instructions(today(asker.call.now));
    let ask = Ask {
        messages: vec![
            Message::system(instructions),
            Message::user(dialogue.join("\n")),
        ],
        ..Ask::default()
    };
    match asker.ask(ask, None).await {
        Err(fault) => asker
            .call
            .warn(format!("The question was left as it is: {}", fault.message)),
        Ok(reply) => {
            let question = after_thoughts(&reply.text).trim();
            if let Some(last) = messages.last_mut().filter(|_| !question.is_empty()) {
                *last = Message::user(question);
            }
        }
    }
}

fn instructions(today: Date) -> String {
    let day = |date: Option<Date>| date.unwrap_or(today).strftime("%A, %Y-%m-%d").to_string();
    format!(
        "You read a conversation and write down what its last USER message asks for, so that somebody who has not read the \
         rest understands it.\n\n\
         - Put names in place of \"it\", \"they\", \"the second one\" and the like, and add what was left out because it had \
         been said before.\n\
         - Put dates in place of words for them. Today is {}, yesterday was {}, tomorrow is {}.\n\
         - Keep the language of the message, and every condition in it. Add nothing and answer nothing.\n\
         - If the message stands by itself, repeat it as it is.\n\n\
         Write the message alone, without quotes or an introduction.",
        day(Some(today)),
        day(today.yesterday().ok()),
        day(today.tomorrow().ok()),
    )
}

fn today(now: Timestamp) -> Date {
    let moment = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
    moment.to_zoned(jiff::tz::TimeZone::system()).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_days_around_are_named() {
        let text = instructions(jiff::civil::date(2026, 1, 1));
        assert!(
            text.contains("Today is Thursday, 2026-01-01, yesterday was Wednesday, 2025-12-31"),
            "{text}"
        );
        assert!(text.contains("tomorrow is Friday, 2026-01-02."));
    }
}
