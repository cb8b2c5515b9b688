//! The message: its heads, its text in HTML, and the same as plain text.

use easel_tools::ToolError;
use easel_tools::html::clean_html;
use easel_tools::mail::Mail;
use lettre::message::header::{HeaderName, HeaderValue, MessageId};
use lettre::message::{Mailbox, Mailboxes, MultiPart};
use lettre::{Address, Message};

/// The most addresses of a mail.
const ADDRESSES: usize = 100;

/// A message, ready to be sent.
pub(crate) fn of(mail: &Mail) -> Result<Message, ToolError> {
    let sender = Mailbox::new(
        Some(one_line(&mail.sender)).filter(|name| !name.is_empty()),
        address(&mail.from)?,
    );
    let (to, cc) = (
        addresses("to_email", &mail.to)?,
        addresses("cc_email", &mail.cc)?,
    );
    let invalid = |problem: String| ToolError::InvalidRequest {
        what: "the mail".to_owned(),
        problem,
    };
    let count = to.len() + cc.len();
    if count == 0 || count > ADDRESSES {
        return Err(invalid(format!(
            "it is for {count} addresses; it must be for 1 to {ADDRESSES}"
        )));
    }
    let mut message = Message::builder()
        .from(sender)
        .subject(one_line(&mail.subject))
        .header(MessageId::from(id(mail)));
    for mailbox in to {
        message = message.to(mailbox);
    }
    for mailbox in cc {
        message = message.cc(mailbox);
    }
    let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
    let message = message.raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()));
    let text = clean_html(&mail.html);
    message
        .multipart(MultiPart::alternative_plain_html(text, mail.html.clone()))
        .map_err(|error| invalid(error.to_string()))
}

/// The same for every attempt, so that who gets it twice sees one.
fn id(mail: &Mail) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || c == '-' {
        true => c,
        false => '-',
    };
    let key: String = mail.key.chars().map(plain).collect();
    format!("<{key}@easel>")
}

/// A line of a head. What would begin another one is a blank.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_control())
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    words.join(" ")
}

fn address(text: &str) -> Result<Address, ToolError> {
    text.trim()
        .parse()
        .map_err(|error| ToolError::InvalidRequest {
            what: format!("the sender's address \"{text}\""),
            problem: format!("it is none ({error})"),
        })
}

/// The addresses of a list with commas or semicolons between.
fn addresses(name: &str, list: &str) -> Result<Vec<Mailbox>, ToolError> {
    let list = list.replace(';', ",");
    let list = list.trim().trim_matches(',').trim();
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let parsed: Result<Mailboxes, _> = list.parse();
    match parsed {
        Ok(mailboxes) => Ok(mailboxes.into_iter().collect()),
        Err(error) => Err(ToolError::InvalidRequest {
            what: format!("`{name}`, \"{list}\","),
            problem: format!("it is no list of addresses ({error})"),
        }),
    }
}
