//! Templates of graphs: the value that every name stands for in the first line, the template behind it.
#![no_main]

use easel_runtime::Value;
use easel_runtime::core::argument::Part;
use easel_runtime::core::bind::{Inputs, ReadId, Resolved};
use easel_runtime::core::format::{Secrets, parse};
use easel_runtime::core::reference::graph::Binding;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (value, text) = text.split_once('\n').unwrap_or(("", text));
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    let inputs = Inputs([Resolved::Value(value)].into());
    for declared in [[].as_slice(), &["KEY".into()]] {
        let parsed = parse(text, Secrets::Declared(declared));
        for finding in parsed.findings() {
            assert!(text.get(finding.span.clone()).is_some(), "a finding has its place");
        }
        let unknown = parsed.clone().bind(|_| Binding::Unknown("".into()));
        let rendered = unknown.render(&Inputs::default()).text;
        let escaped = ["{{", "}}", "$${"].iter().any(|escape| text.contains(escape));
        assert!(escaped || rendered == text, "{rendered:?} is not {text:?}");
        let filled = parsed.bind(|_| Binding::Read {
            read: ReadId(0),
            used: 0,
        });
        let rendered = filled.render(&inputs);
        let (parts, unresolved) = filled.render_parts(&inputs);
        assert_eq!(unresolved, rendered.unresolved);
        let text: String = parts.iter().map(shown).collect();
        assert_eq!(text, rendered.text, "the parts are the text");
    }
});

fn shown(part: &Part) -> String {
    match part {
        Part::Text(text) => text.to_string(),
        Part::Secret(name) => {
            assert_eq!(&**name, "KEY", "only a declared name is a secret");
            format!("${{{name}}}")
        }
    }
}
