//! Reading parameters as people and editors write them.

use std::sync::Arc;

use easel_core::{Object, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;

use crate::{Catalog, Component, Finding, Param, Problem, Read, Type, common};

fn component(name: &str) -> &'static Component {
    Catalog::builtin().get(name).unwrap()
}

fn read(name: &str, params: serde_json::Value) -> Read {
    component(name).read(params)
}

fn sentences(read: &Read) -> Vec<String> {
    read.findings.iter().map(Finding::to_string).collect()
}

fn value(json: serde_json::Value) -> Value {
    Value::from(json)
}

#[test]
fn defaults_are_filled_in_behind_what_the_file_has() {
    let read = read(
        "ListOperations",
        json!({"query": "A@list", "operations": "head"}),
    );
    assert_eq!(sentences(&read), Vec::<String>::new());
    let keys: Vec<&str> = read.params.keys().map(|key| &**key).collect();
    assert_eq!(keys[..3], ["query", "operations", "n"]);
    assert_eq!(read.params["n"], value(json!(0)));
    assert_eq!(
        read.params["filter"],
        value(json!({"operator": "=", "value": ""}))
    );
    assert_eq!(read.params["max_retries"], value(json!(0)));
    assert!(
        !read.params.contains_key("timeout_s"),
        "what has no default stays out"
    );
}

#[test]
fn numbers_written_as_text_become_numbers() {
    let read = read(
        "LLM",
        json!({"temperature": "0.1", "max_tokens": " 256 ", "top_p": "", "delay_after_error": "1"}),
    );
    assert_eq!(sentences(&read), Vec::<String>::new());
    assert_eq!(read.params["temperature"], value(json!(0.1)));
    assert_eq!(read.params["max_tokens"], value(json!(256)));
    assert_eq!(
        read.params["top_p"],
        value(json!(0)),
        "blank means the default"
    );
    assert_eq!(read.params["delay_after_error"], value(json!(1)));
}

#[test]
fn a_word_for_true_becomes_true() {
    for word in ["true", "1", "yes", "On"] {
        assert_eq!(
            Type::Boolean.coerce(&value(json!(word))),
            Ok(Value::Bool(true))
        );
    }
    for word in ["false", "0", "no", "OFF"] {
        assert_eq!(
            Type::Boolean.coerce(&value(json!(word))),
            Ok(Value::Bool(false))
        );
    }
    assert!(Type::Boolean.coerce(&value(json!("perhaps"))).is_err());
    assert!(Type::Boolean.coerce(&value(json!(2))).is_err());
}

#[test]
fn one_target_is_a_list_of_one() {
    let read = read(
        "Categorize",
        json!({"category_description": {"casual": {"examples": "Hello!\n\n  How are you?", "to": "Agent:A"}}}),
    );
    assert_eq!(sentences(&read), Vec::<String>::new());
    assert_eq!(
        read.params["category_description"],
        value(json!({"casual": {"examples": ["Hello!", "How are you?"], "to": ["Agent:A"]}})),
    );
}

#[test]
fn old_names_of_parameters_get_their_present_ones() {
    assert_eq!(
        read("Message", json!({"messages": ["Hi"]})).params["content"],
        value(json!(["Hi"]))
    );
    assert_eq!(
        read("Generate", json!({"prompt": "Be kind."})).params["sys_prompt"],
        value(json!("Be kind."))
    );
    let both = read(
        "Retrieval",
        json!({"kb_ids": ["old"], "dataset_ids": ["new"]}),
    );
    assert_eq!(both.params["dataset_ids"], value(json!(["new"])));
    let blank = read("Retrieval", json!({"dataset_ids": [], "kb_ids": ["old"]}));
    assert_eq!(blank.params["dataset_ids"], value(json!(["old"])));
}

#[test]
fn a_prompt_that_is_one_text_is_a_message_of_the_user() {
    let read = read("Agent", json!({"prompts": "Look at {sys.query}"}));
    assert_eq!(
        read.params["prompts"],
        value(json!([{"content": "Look at {sys.query}", "role": "user"}])),
    );
}

#[test]
fn headers_may_be_json_text() {
    let read = read(
        "Invoke",
        json!({"url": "http://a", "headers": "{\"X-Topic\": \"{sys.query}\"}"}),
    );
    assert_eq!(sentences(&read), Vec::<String>::new());
    assert_eq!(
        read.params["headers"],
        value(json!({"X-Topic": "{sys.query}"}))
    );
    let broken = self::read(
        "Invoke",
        json!({"url": "http://a", "headers": "{X-Topic: }"}),
    );
    assert_eq!(
        sentences(&broken),
        [
            "`headers` is a text, where an object whose members are each text with references, or JSON text of it \
          belongs. Write valid JSON, or the value itself."
        ],
    );
}

#[test]
fn a_blank_is_a_delimiter() {
    let read = read("StringTransform", json!({"delimiters": " "}));
    assert_eq!(read.params["delimiters"], value(json!([" "])));
}

#[test]
fn a_wrong_value_stays_and_the_finding_says_where_and_what() {
    let read = read(
        "Switch",
        json!({
            "conditions": [{"items": [{"cpn_id": 5, "operator": "not contain", "value": "x"}], "to": []}],
            "end_cpn_ids": ["Message:A"],
        }),
    );
    assert_eq!(
        sentences(&read),
        [
            "`conditions.0.items.0.cpn_id` is the number 5, where a reference belongs. Write the reference as a text, \
             such as \"sys.query\" or \"Agent:X@content\".",
            "`conditions.0.items.0.operator` is the text \"not contain\", where one of `contains`, `not contains`, \
             `start with`, `end with`, `empty`, `not empty`, `=`, `≠`, `>`, `<`, `≥`, `≤`, `in`, `not in` belongs. \
             Did you mean `not contains`?",
            "`conditions.0.to` is not set. Set it: where the run goes on.",
        ],
    );
    let case = &read.params["conditions"].as_array().unwrap()[0];
    let test = &case.get("items").unwrap().as_array().unwrap()[0];
    assert_eq!(test.get("cpn_id"), Some(&value(json!(5))));
}

#[test]
fn a_number_out_of_range_is_told_from_a_value_of_another_type() {
    let read = read(
        "Agent",
        json!({"max_rounds": -1, "temperature": [], "top_p": 1.5, "cite": "maybe"}),
    );
    let problems: Vec<_> = read
        .findings
        .iter()
        .map(|f| (f.path.as_str(), f.problem))
        .collect();
    assert_eq!(
        problems,
        [
            ("max_rounds", Problem::Range),
            ("temperature", Problem::Type),
            ("top_p", Problem::Range),
            ("cite", Problem::Type),
        ],
    );
}

#[test]
fn a_misspelt_parameter_is_kept_and_its_name_is_guessed() {
    let read = read(
        "Invoke",
        json!({"url": "http://a", "methd": "post", "llm_filter": "all", "nonsense": 1}),
    );
    assert_eq!(
        sentences(&read),
        [
            "`methd` is a name that nothing reads. Did you mean `method`?",
            "`nonsense` is a name that nothing reads. Remove it; it is kept and has no effect.",
        ],
    );
    assert!(read.findings.iter().all(Finding::is_harmless));
    assert_eq!(read.params["methd"], value(json!("post")));
}

#[test]
fn a_login_is_required_where_the_database_has_one() {
    let missing = |params| -> Vec<String> {
        read("ExeSQL", params)
            .findings
            .into_iter()
            .map(|f| f.path)
            .collect()
    };
    assert_eq!(
        missing(json!({})),
        ["database", "host", "username", "password"]
    );
    assert_eq!(
        missing(json!({"db_type": "trino"})),
        ["database", "host", "username"]
    );
    assert_eq!(
        missing(json!({"db_type": "SQLite", "database": "a.db"})),
        Vec::<String>::new()
    );
}

#[test]
fn a_tool_needs_no_argument_that_the_model_passes() {
    let code = component("CodeExec");
    assert_eq!(code.read(json!({})).findings.len(), 1);
    assert_eq!(code.read_as_tool(json!({})).findings, []);
    let search = component("TavilySearch").read_as_tool(json!({"api_key": "${TAVILY}"}));
    assert_eq!(search.findings, []);
    assert!(!search.params.contains_key("query"));
    assert_eq!(search.params["topic"], value(json!("general")));
}

#[test]
fn what_may_be_secret_is_not_quoted() {
    let search = read("TavilySearch", json!({"api_key": ["tvly-0123456789"]}));
    let header = read(
        "Invoke",
        json!({"url": "http://a", "headers": "Bearer 0123456789"}),
    );
    for text in sentences(&search).into_iter().chain(sentences(&header)) {
        assert!(!text.contains("0123456789"), "{text}");
    }
}

#[test]
fn parameters_that_are_no_object_are_one_finding_and_all_defaults() {
    let read = read("Begin", json!([1, 2]));
    assert_eq!(
        sentences(&read),
        [
            "The value is a list of 2 items, where an object belongs. Write the parameters as an object in braces."
        ],
    );
    assert_eq!(read.params["mode"], value(json!("conversational")));
}

#[test]
fn a_reference_may_stand_where_a_tool_takes_a_number() {
    assert_eq!(
        read("Google", json!({"api_key": "k", "num": "{A:b@n}"})).findings,
        []
    );
    assert_eq!(
        read("Google", json!({"api_key": "k", "num": "sys.limit"})).findings,
        []
    );
    let few = read("Google", json!({"api_key": "k", "num": "5"}));
    assert_eq!(few.params["num"], value(json!(5)));
    assert_eq!(
        read("Google", json!({"api_key": "k", "num": "five"})).findings[0].problem,
        Problem::Type
    );
}

/// Any value, with the texts that types treat specially among its leaves.
fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        select(vec![
            "",
            " ",
            "0",
            "-3",
            "1e400",
            "0x10",
            "nan",
            "true",
            "off",
            "topN",
            "{sys.query}",
            "A@b",
            "[1]",
            "{\"a\": 1}",
            "a,b\nc",
            "≠",
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(|n| value(json!(n))),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = select(vec![
            "to",
            "items",
            "content",
            "value",
            "type",
            "cpn_id",
            "component_name",
            "params",
            "x",
            "",
        ]);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key, inner), 0..4).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(key, member)| (Arc::from(key), member));
                Value::from(members.collect::<Object>())
            }),
        ]
    })
}

/// Any parameter of any component.
fn any_param() -> impl Strategy<Value = (&'static Component, &'static Param)> {
    let all: Vec<(&Component, &Param)> = Catalog::builtin()
        .iter()
        .flat_map(|component| component.all_params().map(|param| (&**component, param)))
        .collect();
    any::<Index>().prop_map(move |index| all[index.index(all.len())])
}

proptest! {
    #[test]
    fn any_value_in_any_parameter_is_read((component, param) in any_param(), given in any_value()) {
        let params = Object::from([(param.name.clone(), given.clone())]);
        let read = component.read(Value::from(params));
        for finding in read.findings.iter().chain(&param.kind.check(&given)) {
            let text = finding.to_string();
            prop_assert!(text.ends_with(['.', '?']), "{text}");
            prop_assert!(!finding.fix.is_empty() && !finding.expected.is_empty());
        }
        component.sites(&read.params);
        component.ports_of(&read.params);
        component.primary_of(&read.params);
        component.timeout_s(&read.params);
        Catalog::builtin().effect_of(component, &read.params);
    }

    #[test]
    fn what_was_coerced_fits_and_stays((_, param) in any_param(), given in any_value()) {
        if let Ok(coerced) = param.kind.coerce(&given) {
            prop_assert!(param.kind.check(&coerced).iter().all(Finding::is_harmless));
            prop_assert_eq!(param.kind.coerce(&coerced), Ok(coerced));
        }
    }

    #[test]
    fn reading_twice_changes_nothing((component, param) in any_param(), given in any_value()) {
        let params = Object::from([(param.name.clone(), given)]);
        let once = component.read(Value::from(params));
        let twice = component.read(Value::from(once.params.clone()));
        prop_assert_eq!(&once.params, &twice.params);
    }
}

#[test]
fn every_default_fits_its_own_type() {
    for component in Catalog::builtin().iter() {
        for param in component.all_params() {
            assert_eq!(
                param.kind.check(&param.default),
                [],
                "{}.{}",
                component.name,
                param.name
            );
        }
    }
    for param in common::params() {
        assert_eq!(param.kind.check(&param.default), [], "{}", param.name);
    }
}
