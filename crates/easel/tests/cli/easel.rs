//! Runs the command in a folder of its own, with nothing of this machine's settings.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

/// A folder in which commands are run.
pub struct Desk {
    folder: tempfile::TempDir,
}

/// What a command did.
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Desk {
    pub fn new() -> Desk {
        Desk {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn json(&self, name: &str, value: &Value) {
        self.write(name, &serde_json::to_string_pretty(value).unwrap());
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_easel"), arguments)
    }

    /// Any program, in this folder.
    pub fn program(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(name);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn easel(&self, arguments: &[&str]) -> Done {
        Done::of(self.command(arguments).output().unwrap())
    }

    /// Runs with text on standard input.
    pub fn typed(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Done {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_ref())
            .unwrap();
        Done::of(child.wait_with_output().unwrap())
    }
}

impl Done {
    pub fn of(output: Output) -> Done {
        Done {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }

    /// Everything a person sees, for a snapshot.
    pub fn seen(&self) -> String {
        format!(
            "exit {}\n--- out\n{}\n--- err\n{}",
            self.code, self.out, self.err
        )
    }
}

/// Waits for a child and says what it did.
pub fn wait(child: Child) -> Done {
    Done::of(child.wait_with_output().unwrap())
}

/// A canvas of nodes: id, component, parameters, targets.
pub fn canvas(nodes: &[(&str, &str, Value, &[&str])]) -> Value {
    let node = |(id, component, params, targets): &(&str, &str, Value, &[&str])| {
        let node =
            json!({"obj": {"component_name": component, "params": params}, "downstream": targets});
        ((*id).to_owned(), node)
    };
    let components: serde_json::Map<String, Value> = nodes.iter().map(node).collect();
    json!({"components": components})
}

/// `begin` and a Message that says this.
pub fn says(text: &str) -> Value {
    canvas(&[
        ("begin", "Begin", json!({}), &["Message:M"]),
        ("Message:M", "Message", json!({"content": [text]}), &[]),
    ])
}

/// A canvas in which a model answers the user.
pub fn asks_a_model() -> Value {
    let prompt = json!([{"role": "user", "content": "{sys.query}"}]);
    canvas(&[
        ("begin", "Begin", json!({}), &["LLM:A"]),
        (
            "LLM:A",
            "LLM",
            json!({"llm_id": "", "sys_prompt": "Be brief.", "prompts": prompt}),
            &["Message:M"],
        ),
        (
            "Message:M",
            "Message",
            json!({"content": ["{LLM:A@content}"]}),
            &[],
        ),
    ])
}

/// A canvas that asks for an age and, if one likes, a colour.
pub fn asks_a_form() -> Value {
    let fields = json!({
        "age": {"name": "Your age", "type": "integer"},
        "colour": {"name": "Colour", "type": "options", "options": ["Red", "Blue"], "optional": true}
    });
    let form = json!({"tips": "One more thing, {sys.query}:", "inputs": fields});
    canvas(&[
        ("begin", "Begin", json!({}), &["UserFillUp:F"]),
        ("UserFillUp:F", "UserFillUp", form, &["Message:M"]),
        (
            "Message:M",
            "Message",
            json!({"content": ["{UserFillUp:F@age} and {UserFillUp:F@colour}"]}),
            &[],
        ),
    ])
}
