//! Looking components up, and adding one's own.

use easel_core::draft::EffectClass;
use easel_core::{Object, Value};
use serde_json::json;

use crate::{
    Argument, Catalog, Component, Control, Family, Param, Rejected, Role, TimeLimit, Tool, Type,
};

fn params(json: serde_json::Value) -> Object {
    match Value::from(json) {
        Value::Object(members) => members.as_ref().clone(),
        _ => Object::new(),
    }
}

fn shout() -> Component {
    Component::new(
        "Shout",
        Family::Data,
        "Shout",
        "Turns a text into capitals.",
    )
    .param(Param::new("text", Type::template(), "The text.").required())
    .port("result", "string", "The text in capitals.")
    .primary("result")
}

#[test]
fn names_are_found_in_any_case_and_by_their_old_names() {
    let catalog = Catalog::builtin();
    for (name, canonical) in [
        ("switch", "Switch"),
        ("userfillup", "UserFillUp"),
        ("Generate", "LLM"),
        ("Parallel", "Iteration"),
        ("PDFGenerator", "DocGenerator"),
        ("Splitter", "TokenChunker"),
        ("search_my_dateset", "Retrieval"),
    ] {
        assert_eq!(&*catalog.get(name).unwrap().name, canonical);
    }
    assert!(catalog.get("Nonsense").is_none());
    assert!(catalog.get("Note").is_none());
}

#[test]
fn a_component_of_ones_own_is_added() {
    let mut catalog = Catalog::builtin().clone();
    catalog.add(shout()).unwrap();
    assert_eq!(catalog.get("SHOUT").unwrap().title, "Shout");
    assert!(Catalog::builtin().get("Shout").is_none());
}

#[test]
fn a_name_is_given_once() {
    let mut catalog = Catalog::builtin().clone();
    let error = catalog.add(shout().alias("generate")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot add component `Shout`: the name `generate` belongs to `LLM`",
    );
}

#[test]
fn a_table_that_contradicts_itself_is_rejected_with_every_reason() {
    let faulty = shout()
        .param(Param::new("times", Type::at_least(1), "How often.").default(json!(0)))
        .param(Param::new(
            "mode",
            Type::choice_also(&["a"], &[("b", "c")]),
            "",
        ))
        .tool(Tool::new("say it", "Says it loudly.").argument(Argument::new("x", Type::Text, "")))
        .reads_when("method", &["get"])
        .primary("answer")
        .later("no");
    let Err(Rejected::Faulty { faults, .. }) = Catalog::new().add(faulty) else {
        panic!("it was taken");
    };
    assert_eq!(
        faults,
        [
            "the default of `times` does not fit its type: The value is the number 0, where a whole number of at least \
             1 belongs. Write a whole number such as 1.",
            "parameter `mode` has no sentence",
            "`b` stands for `c`, which `mode` does not offer",
            "parameter `x` has no sentence",
            "the primary port `answer` is none of its ports",
            "it speaks of a parameter `method` that it does not have",
            "`say it` is no legal function name",
            "tool argument `x` has no sentence",
            "it does not say in a sentence why it is not available",
        ],
    );
}

#[test]
fn an_http_request_that_only_gets_does_not_write() {
    let invoke = Catalog::builtin().get("Invoke").unwrap();
    let effect = |json| invoke.effect_of(&invoke.read(json).params);
    assert_eq!(effect(json!({"url": "u"})), EffectClass::Reads);
    assert_eq!(
        effect(json!({"url": "u", "method": "GET"})),
        EffectClass::Reads
    );
    assert_eq!(
        effect(json!({"url": "u", "method": "post"})),
        EffectClass::Writes
    );
}

#[test]
fn an_agent_writes_if_one_of_its_tools_does() {
    let catalog = Catalog::builtin();
    let agent = catalog.get("Agent").unwrap();
    let effect = |json| catalog.effect_of(agent, &params(json));
    let tool =
        |name: &str, params: serde_json::Value| json!({"component_name": name, "params": params});
    assert_eq!(
        effect(json!({"tools": [tool("Retrieval", json!({}))]})),
        EffectClass::Reads
    );
    assert_eq!(
        effect(json!({"tools": [tool("Email", json!({}))]})),
        EffectClass::Writes
    );
    assert_eq!(
        effect(json!({"tools": [tool("Nobody", json!({}))]})),
        EffectClass::Writes
    );
    let inner = tool("Agent", json!({"tools": [tool("Email", json!({}))]}));
    assert_eq!(effect(json!({"tools": [inner]})), EffectClass::Writes);
    let server = |hint: bool| json!({"mcp": [{"mcp_id": "m", "tools": {"look": {"annotations": {"readOnlyHint": hint}}}}]});
    assert_eq!(effect(server(true)), EffectClass::Reads);
    assert_eq!(effect(server(false)), EffectClass::Writes);
    assert_eq!(
        effect(json!({"mcp": [{"mcp_id": "m", "tools": {}}]})),
        EffectClass::Reads
    );
}

#[test]
fn agents_within_agents_without_end_are_taken_to_write() {
    let catalog = Catalog::builtin();
    let mut nested = json!({"tools": []});
    for _ in 0..20 {
        nested = json!({"tools": [{"component_name": "Agent", "params": nested}]});
    }
    let agent = catalog.get("Agent").unwrap();
    assert_eq!(
        catalog.effect_of(agent, &params(nested)),
        EffectClass::Writes
    );
}

#[test]
fn time_limits_follow_the_kind_the_parameter_and_the_node() {
    let limit = |name: &str, json| {
        let component = Catalog::builtin().get(name).unwrap();
        component.timeout_s(&component.read(json).params)
    };
    assert_eq!(limit("LLM", json!({})), Some(600.0));
    assert_eq!(limit("Agent", json!({})), Some(1200.0));
    assert_eq!(limit("CodeExec", json!({})), Some(60.0));
    assert_eq!(limit("Retrieval", json!({})), Some(15.0));
    assert_eq!(limit("Switch", json!({})), Some(10.0));
    for unlimited in ["Iteration", "Loop", "UserFillUp"] {
        assert_eq!(limit(unlimited, json!({})), None);
    }
    assert_eq!(limit("Invoke", json!({})), Some(65.0));
    assert_eq!(limit("Invoke", json!({"timeout": "20"})), Some(25.0));
    assert_eq!(limit("Agent", json!({"timeout_s": "3.5"})), Some(3.5));
    assert_eq!(limit("Agent", json!({"timeout_s": 0})), None);
}

#[test]
fn ports_that_the_parameters_name_come_behind_those_a_component_always_has() {
    let ports = |name: &str, json| {
        let component = Catalog::builtin().get(name).unwrap();
        let params = component.read(json).params;
        let names: Vec<String> = component
            .ports_of(&params)
            .iter()
            .map(|port| port.to_string())
            .collect();
        (
            names.join(" "),
            component.primary_of(&params).map(|port| port.to_string()),
        )
    };
    let some = |name: &str| Some(name.to_owned());
    assert_eq!(
        ports(
            "UserFillUp",
            json!({"inputs": {"name": {"type": "line"}, "tips": {}, "age": {}}})
        ),
        ("tips name age".to_owned(), some("name")),
    );
    assert_eq!(
        ports(
            "VariableAggregator",
            json!({"groups": [{"group_name": "a"}, {"group_name": " "}, {"group_name": "a"}]})
        ),
        ("a".to_owned(), some("a")),
    );
    assert_eq!(
        ports(
            "CodeExec",
            json!({"outputs": {"_ERROR": {}, "content": {}, "table": {"type": "String"}}})
        ),
        (
            "content raw_result actual_type attachments table".to_owned(),
            some("table")
        ),
    );
    assert_eq!(ports("CodeExec", json!({})).1, some("result"));
    assert_eq!(ports("ExitLoop", json!({})), (String::new(), None));
}

#[test]
fn sites_tell_references_targets_and_credentials_from_data() {
    let sites = |name: &str, json| -> Vec<(String, Role)> {
        let component = Catalog::builtin().get(name).unwrap();
        let params = component.read(json).params;
        component
            .sites(&params)
            .into_iter()
            .map(|site| (site.path, site.role))
            .collect()
    };
    let site = |path: &str, role| (path.to_owned(), role);
    assert_eq!(
        sites(
            "VariableAssigner",
            json!({"variables": [{"variable": "env.n", "operator": "+=", "parameter": 1},
                                                        {"variable": "env.t", "operator": "set", "parameter": "{A@b}"}]})
        ),
        [
            site("variables.0.variable", Role::Target),
            site("variables.1.variable", Role::Target),
            site("variables.1.parameter", Role::Binding),
        ],
    );
    assert_eq!(
        sites(
            "Invoke",
            json!({"variables": [{"key": "q", "value": {"deep": ["{A@b}", 1]}, "ref": "A@c"}],
                               "url": "http://{A@h}", "headers": {"Authorization": "Bearer ${KEY}"}})
        ),
        [
            site("variables.0.value.deep.0", Role::Template { jinja: false }),
            site("variables.0.ref", Role::Reference),
            site("url", Role::Template { jinja: false }),
            site("headers.Authorization", Role::Template { jinja: false }),
        ],
    );
    assert_eq!(
        sites(
            "Switch",
            json!({"conditions": [{"items": [{"cpn_id": "A@b", "operator": "=", "value": "{A@c}"}], "to": "M"}],
                               "end_cpn_ids": ["N", ""]})
        ),
        [
            site("conditions.0.items.0.cpn_id", Role::Reference),
            site("conditions.0.to.0", Role::NodeId),
            site("end_cpn_ids.0", Role::NodeId),
        ],
    );
    assert_eq!(
        sites(
            "TavilyExtract",
            json!({"api_key": "tvly", "urls": "a.com, b.com"})
        ),
        [site("api_key", Role::Credential)],
    );
    assert!(
        sites(
            "Agent",
            json!({"tools": [{"component_name": "ExeSQL", "params": {"password": "x"}}]})
        )
        .contains(&site("tools.0.params", Role::Params))
    );
}

#[test]
fn a_model_is_offered_the_arguments_that_are_not_bound() {
    let tool = Catalog::builtin()
        .get("TavilySearch")
        .unwrap()
        .tool
        .clone()
        .unwrap();
    let all = tool.schema(&[]);
    assert_eq!(all["required"], json!(["query"]));
    assert_eq!(
        all["properties"]["topic"]["enum"],
        json!(["general", "news"])
    );
    assert_eq!(
        all["properties"]["include_domains"]["items"],
        json!({"type": "string"})
    );
    let fewer = tool.schema(&["query", "topic"]);
    assert_eq!(fewer["required"], json!([]));
    assert_eq!(fewer["properties"].as_object().unwrap().len(), 2);
}

#[test]
fn containers_and_their_items_are_marked() {
    for component in Catalog::builtin().iter() {
        let opens = component.control.opens_body();
        assert_eq!(opens, matches!(&*component.name, "Iteration" | "Loop"));
        if opens || component.control == Control::Form {
            assert_eq!(component.time_limit, TimeLimit::None);
        }
    }
}
