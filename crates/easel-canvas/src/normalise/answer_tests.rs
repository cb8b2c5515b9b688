use super::super::tests::{compact, normal, params};
use crate::document::Document;
use crate::normalise::normalise;

/// A component with edges.
fn entry(id: &str, class: &str, params: &str, downstream: &[&str], upstream: &[&str]) -> String {
    format!(
        r#""{id}":{{"obj":{{"component_name":"{class}","params":{params}}},"downstream":{downstream:?},"upstream":{upstream:?}}}"#
    )
}

fn canvas(entries: &[String]) -> String {
    compact(&format!(r#"{{"components":{{{}}}}}"#, entries.join(",")))
}

const FORM: &str = r#"{"enable_tips":false,"tips":"","inputs":{"query":
    {"key":"query","name":"query","type":"line","optional":false,"options":[]}}}"#;

#[test]
fn the_common_circle_becomes_a_run_a_message() {
    let before = [
        entry("begin", "Begin", "{}", &["answer:0"], &[]),
        entry("answer:0", "Answer", "{}", &["sql:0"], &["begin", "sql:0"]),
        entry(
            "sql:0",
            "ExeSQL",
            r#"{"top_n":3}"#,
            &["answer:0"],
            &["answer:0"],
        ),
    ];
    let after = [
        entry("begin", "Begin", "{}", &["sql:0"], &[]),
        entry("sql:0", "ExeSQL", r#"{"top_n":3}"#, &["Message:sql_0"], &["begin"]),
        r#""Message:sql_0":{"obj":{"component_name":"Message","params":{"content":["{sql:0@formalized_content}"]}},
            "downstream":[],"upstream":["sql:0"]}"#
            .to_owned(),
    ];
    let (found, notes) = normal(&canvas(&before));
    assert_eq!(found, canvas(&after));
    assert_eq!(
        notes,
        [
            "answer-replaced /components/answer:0",
            "message-added /components/sql:0"
        ]
    );
}

#[test]
fn a_second_station_becomes_a_form_and_keeps_its_circle() {
    let before = [
        entry("begin", "Begin", "{}", &["a:0"], &[]),
        entry("a:0", "Answer", "{}", &["hello"], &["begin"]),
        entry(
            "hello",
            "Message",
            r#"{"content":["hi"]}"#,
            &["a:1"],
            &["a:0"],
        ),
        entry(
            "a:1",
            "Answer",
            r#"{"post_answers":[]}"#,
            &["talk"],
            &["hello", "talk"],
        ),
        entry("talk", "Generate", r#"{"prompt":"p"}"#, &["a:1"], &["a:1"]),
    ];
    let document = normalise(&Document::read(canvas(&before).as_bytes()).unwrap()).document;
    normal(&canvas(&before));
    let edges: Vec<_> = document
        .edges()
        .iter()
        .map(|edge| format!("{}>{}", edge.from, edge.to))
        .collect();
    assert_eq!(
        edges,
        [
            "begin>hello",
            "hello>a:1",
            "a:1>talk",
            "talk>Message:talk",
            "Message:talk>a:1"
        ]
    );
    let form = &document.components()["a:1"];
    assert!(form.is("UserFillUp"));
    assert_eq!(
        easel_core::Value::Object(form.params.clone()).to_json_text(),
        compact(&FORM.replacen('{', "{\"post_answers\":[],", 1))
    );
    assert_eq!(document.asymmetries(&document.components()), []);
}

#[test]
fn an_answer_with_nothing_behind_it_only_ends_the_run() {
    let before = [
        entry("begin", "Begin", "{}", &["talk"], &[]),
        entry("talk", "LLM", "{}", &["end"], &["begin"]),
        entry("end", "Answer", "{}", &[], &["talk"]),
    ];
    let document = normalise(&Document::read(canvas(&before).as_bytes()).unwrap()).document;
    let ids: Vec<_> = document
        .components()
        .into_keys()
        .map(|id| id.to_string())
        .collect();
    assert_eq!(ids, ["begin", "talk", "Message:talk"]);
}

#[test]
fn a_branch_that_leads_to_the_end_still_leads_somewhere() {
    let before = [
        entry("begin", "Begin", "{}", &["a"], &[]),
        entry("a", "Answer", "{}", &["choose"], &["begin", "choose"]),
        entry(
            "choose",
            "Categorize",
            r#"{"category_description":{"no":{"to":"a"}}}"#,
            &["a"],
            &["a"],
        ),
    ];
    let (found, _) = normal(&canvas(&before));
    let after = [
        entry("begin", "Begin", "{}", &["choose"], &[]),
        entry(
            "a",
            "UserFillUp",
            r#"{"enable_tips":false,"tips":"","inputs":{}}"#,
            &[],
            &["choose"],
        ),
        entry(
            "choose",
            "Categorize",
            r#"{"category_description":{"no":{"to":["a"]}}}"#,
            &["a"],
            &["begin"],
        ),
    ];
    assert_eq!(found, canvas(&after));
}

#[test]
fn a_drawing_follows_its_answers() {
    let text = r#"{"components":{
          "begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["a"],"upstream":[]},
          "a":{"obj":{"component_name":"Answer","params":{}},"downstream":["g"],"upstream":["begin","g"]},
          "g":{"obj":{"component_name":"Generate","params":{}},"downstream":["a"],"upstream":["a"]}},
        "graph":{"nodes":[{"id":"begin","data":{"label":"Begin"}},{"id":"a","data":{"label":"Answer"}},
            {"id":"g","position":{"x":10,"y":20},"data":{"label":"Generate"}}],
          "edges":[{"id":"1","source":"begin","target":"a"},{"id":"2","source":"a","target":"g"},{"id":"3","source":"g","target":"a"},
            {"id":"4","source":"g","target":"note"}]}}"#;
    normal(text);
    let document = normalise(&Document::read(text.as_bytes()).unwrap()).document;
    let graph = document.graph();
    let drawn: Vec<_> = graph.nodes.iter().map(|node| node.id.to_string()).collect();
    assert_eq!(drawn, ["begin", "g", "Message:g"]);
    let lines: Vec<_> = graph
        .edges
        .iter()
        .map(|line| format!("{}>{}", line.source, line.target))
        .collect();
    assert_eq!(lines, ["g>note", "begin>g", "g>Message:g"]);
    assert_eq!(document.asymmetries(&document.components()), []);
}

#[test]
fn an_old_generator_is_an_llm_whose_settings_are_sent() {
    let (found, notes) = params(
        "Generate",
        r#"{"llm_id":"m","prompt":"say {line} {nothing@x}","temperature":0.1,"top_p":0.2,"topPEnabled":false}"#,
    );
    assert_eq!(
        found,
        r#"{"llm_id":"m","sys_prompt":"say {line} {nothing@x}","temperature":0.1,"top_p":0.2,"topPEnabled":false,"temperatureEnabled":true}"#
    );
    assert_eq!(
        notes,
        [
            "param-reshaped /components/x/obj/params/prompt",
            "legacy-replaced /components/x"
        ]
    );
}

#[test]
fn other_classes_that_are_gone_become_what_does_the_same() {
    let (found, _) = params("RewriteQuestion", r#"{"llm_id":"m","temperature":0}"#);
    assert!(
        found.contains(r#""temperatureEnabled":true"#) && found.contains("sys_prompt"),
        "{found}"
    );
    let (found, notes) = params("WaitingDialogue", "{}");
    assert!(found.contains(r#""type":"line""#), "{found}");
    assert_eq!(notes, ["legacy-replaced /components/x"]);
}

/// The parameter of a component as it is after normalising.
fn param(entries: &[String], id: &str, name: &str) -> String {
    normal(&canvas(entries));
    let document = normalise(&Document::read(canvas(entries).as_bytes()).unwrap()).document;
    let value = document.components()[id]
        .params
        .get(name)
        .cloned()
        .unwrap_or_default();
    value.to_json_text()
}

#[test]
fn old_placeholders_name_what_came_along_the_edges() {
    let flow = |prompt: &str, params: &str| {
        [
            entry("begin", "Begin", "{}", &["a"], &[]),
            entry("a", "Answer", "{}", &["choose"], &["begin"]),
            entry("choose", "Categorize", "{}", &["r:0", "g"], &["a"]),
            entry("r:0", "Retrieval", "{}", &["g"], &["choose"]),
            entry(
                "g",
                "Generate",
                &format!(r#"{{"prompt":"{prompt}"{params}}}"#),
                &["m"],
                &["r:0", "choose"],
            ),
            entry(
                "m",
                "Message",
                r#"{"messages":["{g} {a@content} {g@content} {line}"]}"#,
                &[],
                &["g"],
            ),
            entry(
                "s",
                "Switch",
                r#"{"conditions":[{"items":[{"cpn_id":"r:0"},{"cpn_id":"a"},{"cpn_id":"g@x"}],"to":["m"]}]}"#,
                &["m"],
                &[],
            ),
            entry(
                "q",
                "ExeSQL",
                r#"{"query":[{"type":"reference","component_id":"a"},{"type":"input","value":"plain"},{"component_id":"begin@t"}]}"#,
                &[],
                &[],
            ),
        ]
    };
    let prompt = |text: &str, params: &str| param(&flow(text, params), "g", "sys_prompt");
    assert_eq!(
        prompt("use { input }!", ""),
        r#""use {r:0@formalized_content}!""#
    );
    assert_eq!(
        prompt("{r:0} {a} {begin} {x}", ""),
        r#""{r:0@formalized_content} {sys.query} {sys.query} {x}""#
    );
    let table = r#","parameters":[{"key":"topic","component_id":"begin@t"},{"key":"docs","component_id":"r:0"}]"#;
    assert_eq!(
        prompt("{topic}/{docs}", table),
        r#""{begin@t}/{r:0@formalized_content}""#
    );
    assert_eq!(
        param(&flow("", ""), "m", "content"),
        r#"["{g@content} {sys.query} {g@content} {line}"]"#
    );
    assert_eq!(
        param(&flow("", ""), "s", "conditions"),
        r#"[{"items":[{"cpn_id":"r:0@formalized_content"},{"cpn_id":"sys.query"},{"cpn_id":"g@x"}],"to":["m"]}]"#
    );
    assert_eq!(
        param(&flow("", ""), "q", "query"),
        r#""{sys.query}\nplain\n{begin@t}""#
    );
}

#[test]
fn input_is_what_the_person_said_if_nothing_else_came() {
    let flow = [
        entry("begin", "Begin", "{}", &["a"], &[]),
        entry("a", "Answer", "{}", &["choose"], &["begin"]),
        entry("choose", "Categorize", "{}", &["g"], &["a"]),
        entry(
            "g",
            "Generate",
            r#"{"prompt":"{input}"}"#,
            &["a"],
            &["choose"],
        ),
    ];
    assert_eq!(param(&flow, "g", "sys_prompt"), r#""{sys.query}""#);
}

#[test]
fn messages_that_are_added_get_ids_of_their_own() {
    let flow = [
        entry("begin", "Begin", "{}", &["g:0", "g_0"], &[]),
        entry("g:0", "LLM", "{}", &["a"], &["begin"]),
        entry("g_0", "LLM", "{}", &["a"], &["begin"]),
        entry("Message:g_0_2", "Message", "{}", &[], &[]),
        entry("a", "Answer", "{}", &["g:0"], &["g:0", "g_0"]),
    ];
    let document = normalise(&Document::read(canvas(&flow).as_bytes()).unwrap()).document;
    let ids: Vec<_> = document
        .components()
        .into_keys()
        .map(|id| id.to_string())
        .collect();
    assert_eq!(
        ids,
        [
            "begin",
            "g:0",
            "Message:g_0",
            "g_0",
            "Message:g_0_3",
            "Message:g_0_2",
            "a"
        ]
    );
}

#[test]
fn a_canvas_of_answers_alone_keeps_one_so_that_nothing_is_derived_in_its_place() {
    let alone = r#"{"components":{"a":{"obj":{"component_name":"Answer","params":{}},"downstream":[]}},
        "graph":{"nodes":[{"id":"b","data":{"label":"Begin"}}]}}"#;
    let (found, _) = normal(alone);
    assert!(
        found.contains("UserFillUp") && !found.contains("Answer"),
        "{found}"
    );
}
