//! What a client brings: messages, the last of a user as the query, those before it as what was said earlier.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

use super::error::ApiError;

/// The most files in one message.
const MAX_FILES: usize = 10;

/// What a client brings.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Prompt {
    /// What the user says now.
    pub query: String,
    /// What was said before, by `user` or `assistant`.
    pub earlier: Vec<(String, String)>,
    /// Files that come with the query.
    pub files: Vec<Attached>,
}

/// A file that stands in a message.
#[derive(Debug, PartialEq)]
pub(crate) struct Attached {
    pub name: String,
    pub media_type: String,
    pub bytes: Vec<u8>,
}

impl Prompt {
    /// Reads messages, or the items of an input. Instructions to a model (`system`, `developer`) and results of a client's
    /// own tools are passed over: an agent has its own.
    pub fn of(messages: &[Json], param: &'static str) -> Result<Prompt, ApiError> {
        let mut said = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let wrong = |what: &str| {
                let told = format!("Invalid `{param}[{at}]`: {what}.");
                ApiError::invalid(Some(param), "invalid_value", told)
            };
            let members = message.as_object();
            let members =
                members.ok_or_else(|| wrong("a message is an object with role and content"))?;
            let role = members.get("role").and_then(Json::as_str);
            let kind = members
                .get("type")
                .and_then(Json::as_str)
                .unwrap_or("message");
            if kind != "message" {
                continue;
            }
            let role = role.ok_or_else(|| wrong("it has no role"))?;
            match role {
                "user" | "assistant" => {
                    let content = members.get("content").unwrap_or(&Json::Null);
                    let (text, files) = content_of(content).map_err(|what| wrong(&what))?;
                    said.push((role.to_owned(), text, files));
                }
                "system" | "developer" | "tool" | "function" => {}
                other => return Err(wrong(&format!("`{other}` is no role"))),
            }
        }
        let last = said.iter().rposition(|(role, ..)| role == "user");
        let Some(last) = last else {
            let told = format!("`{param}` has no message of a user.");
            return Err(ApiError::invalid(Some(param), "invalid_value", told));
        };
        said.truncate(last + 1);
        let (_, query, files) = said.pop().unwrap_or_default();
        let earlier = said.into_iter().map(|(role, text, _)| (role, text));
        Ok(Prompt {
            query,
            earlier: earlier.filter(|(_, text)| !text.is_empty()).collect(),
            files,
        })
    }

    /// What a user says in one text.
    pub fn text(query: &str) -> Prompt {
        Prompt {
            query: query.to_owned(),
            ..Prompt::default()
        }
    }
}

/// The text of a content, and the files in it.
fn content_of(content: &Json) -> Result<(String, Vec<Attached>), String> {
    let parts = match content {
        Json::Null => return Ok(Default::default()),
        Json::String(text) => return Ok((text.clone(), Vec::new())),
        Json::Array(parts) => parts,
        _ => return Err("content is a text or a list of parts".to_owned()),
    };
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        let member = |name: &str| part.get(name).and_then(Json::as_str);
        match member("type").unwrap_or_default() {
            "text" | "input_text" | "output_text" => {
                texts.push(member("text").ok_or("a text part has no text")?.to_owned());
            }
            "refusal" => texts.extend(member("refusal").map(str::to_owned)),
            "image_url" | "input_image" => {
                let inner = part.get("image_url");
                let url = inner.and_then(|url| url.as_str().or_else(|| url.get("url")?.as_str()));
                let url = url.ok_or("an image has no image_url")?;
                files.push(attached("image", url)?);
            }
            "file" | "input_file" => {
                let file = part.get("file").unwrap_or(part);
                let inner = |name: &str| file.get(name).and_then(Json::as_str);
                let data = inner("file_data").ok_or("a file has no file_data")?;
                files.push(attached(inner("filename").unwrap_or("file"), data)?);
            }
            other => return Err(format!("parts of type `{other}` are not taken")),
        }
    }
    if files.len() > MAX_FILES {
        return Err(format!("it has more than {MAX_FILES} files"));
    }
    Ok((texts.join("\n"), files))
}

/// A file out of a `data:` URL. Others are not fetched: whoever sends a message must not choose what the server asks for.
fn attached(name: &str, url: &str) -> Result<Attached, String> {
    let data = url.strip_prefix("data:");
    let data = data.and_then(|data| data.split_once(";base64,"));
    let (media_type, data) =
        data.ok_or("files come as `data:TYPE;base64,…`; other URLs are not fetched")?;
    let bytes = STANDARD.decode(data.trim());
    Ok(Attached {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        bytes: bytes.map_err(|_| "a file is not valid base64")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn prompt(messages: Json) -> Result<Prompt, String> {
        Prompt::of(messages.as_array().unwrap(), "messages").map_err(|error| error.message)
    }

    #[test]
    fn the_last_message_of_a_user_is_the_query() {
        let prompt = prompt(json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "two"},
            {"role": "assistant", "content": null, "tool_calls": []},
            {"role": "user", "content": [{"type": "text", "text": "three"}, {"type": "text", "text": "four"}]},
            {"role": "assistant", "content": "behind"},
        ]));
        let earlier = [("user", "one"), ("assistant", "two")];
        let expected = Prompt {
            query: "three\nfour".into(),
            earlier: earlier
                .map(|(role, text)| (role.into(), text.into()))
                .into(),
            files: Vec::new(),
        };
        assert_eq!(prompt, Ok(expected));
    }

    #[test]
    fn images_and_files_come_as_data() {
        let image =
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}});
        let file = json!({"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,aGk="}});
        let read = prompt(json!([{"role": "user", "content": [image, file]}])).unwrap();
        assert_eq!(read.files[0].bytes, b"PNG");
        assert_eq!(
            (read.files[1].name.as_str(), &*read.files[1].bytes),
            ("a.txt", &b"hi"[..])
        );
        for url in [
            "http://169.254.169.254/",
            "file:///etc/passwd",
            "data:image/png,x",
            "data:;base64,%",
        ] {
            let image = json!({"type": "input_image", "image_url": url});
            assert!(
                prompt(json!([{"role": "user", "content": [image]}])).is_err(),
                "{url}"
            );
        }
    }

    #[test]
    fn a_message_that_is_none_is_named() {
        let told = |messages: Json| prompt(messages).unwrap_err();
        assert_eq!(told(json!([])), "`messages` has no message of a user.");
        assert_eq!(
            told(json!([{"content": "x"}])),
            "Invalid `messages[0]`: it has no role."
        );
        assert_eq!(
            told(json!([{"role": "boss"}])),
            "Invalid `messages[0]`: `boss` is no role."
        );
        assert!(told(json!([{"role": "user", "content": 1}])).contains("messages[0]"));
    }

    proptest! {
        #[test]
        fn no_content_breaks_the_reader(url in "(data:)?[a-z/]{0,8}(;base64,)?[A-Za-z0-9+/=ä]{0,12}", kind in "[a-z_]{0,10}") {
            for part in [json!({"type": "image_url", "image_url": url}), json!({"type": kind, "text": url}), json!(url)] {
                let _ = prompt(json!([{"role": "user", "content": [part]}, part]));
            }
        }
    }
}
