use super::*;

/// The canvas in today's form, and the codes and places of what was rewritten. Checks on the way that the document given
/// is left alone and that nothing more happens the second time.
pub(super) fn normal(text: &str) -> (String, Vec<String>) {
    let read = Document::read(text.as_bytes()).unwrap();
    let before = read.to_value().to_json_text();
    let once = normalise(&read);
    assert_eq!(read.to_value().to_json_text(), before);
    let twice = normalise(&once.document);
    assert_eq!(twice.notes, []);
    let canvas = once.document.canvas().to_json_text();
    assert_eq!(twice.document.canvas().to_json_text(), canvas);
    let notes = once
        .notes
        .iter()
        .map(|note| format!("{} {}", note.rewrite.code(), note.place))
        .collect();
    (canvas, notes)
}

/// JSON without the blanks that make it readable here.
pub(super) fn compact(text: &str) -> String {
    serde_json::from_str::<Value>(text).unwrap().to_json_text()
}

/// The parameters of the component `x` of a class, before and after.
pub(super) fn params(class: &str, before: &str) -> (String, Vec<String>) {
    let text = format!(
        r#"{{"components":{{"x":{{"obj":{{"component_name":"{class}","params":{before}}}}}}}}}"#
    );
    let read = Document::read(text.as_bytes()).unwrap();
    let (_, notes) = normal(&text);
    let params = normalise(&read).document.components()["x"].params.clone();
    (Value::Object(params).to_json_text(), notes)
}

#[test]
fn a_canvas_in_todays_form_comes_back_as_it_is() {
    let file = r#"{"title":"T","dsl":{"components":{"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["begin","gone"],
        "odd":1}},"history":[["user",1]],"retrieval":[],"memory":[["a","b","c"]],"variables":{},"globals":{},"_layout":0}}"#;
    let normalised = normalise(&Document::read(file.as_bytes()).unwrap());
    assert_eq!(normalised.notes, []);
    assert_eq!(normalised.document.to_text(), file);
}

#[test]
fn the_parts_around_the_components_get_their_types() {
    let (canvas, notes) = normal(
        r#"{"variables":[{"name":"a","value":1},{"value":2}],"components":{"b":{}},"retrieval":{"chunks":[1]},
            "history":[{"role":"user","content":"x"},["assistant",{}],["",1]],"memory":[{"user":1,"assistant":2,"summary":3}]}"#,
    );
    assert_eq!(
        canvas,
        compact(
            r#"{"variables":{"a":{"name":"a","value":1}},"components":{"b":{}},"retrieval":[{"chunks":[1]}],
                "history":[["user","x"],["assistant",{}]],"memory":[[1,2,3]]}"#
        )
    );
    assert_eq!(
        notes,
        [
            "history-reshaped /history",
            "retrieval-reshaped /retrieval",
            "memory-reshaped /memory",
            "variables-reshaped /variables"
        ]
    );
}

#[test]
fn a_flat_component_gets_its_obj_and_lists() {
    let (canvas, notes) = normal(
        r#"{"components":{"a":{"id":"a","name":"LLM","params":{"n":1},"downstream":"b","upstream":[],"more":0},
            "b":{"obj":{"component_name":"LLM","downstream":["c"],"params":null},"downstream":["d","c"]}}}"#,
    );
    assert_eq!(
        canvas,
        compact(
            r#"{"components":{"a":{"id":"a","obj":{"component_name":"LLM","params":{"n":1}},"downstream":["b"],"upstream":[],"more":0},
                "b":{"obj":{"component_name":"LLM","params":null},"downstream":["c","d"]}}}"#
        )
    );
    assert_eq!(
        notes,
        [
            "entry-reshaped /components/a",
            "entry-reshaped /components/a/downstream",
            "entry-reshaped /components/b/obj/downstream"
        ]
    );
}

#[test]
fn a_rewritten_document_still_knows_its_lines() {
    let file = "{\"components\":{\n\"Splitter:A\":{\n\"name\":\"Splitter\",\n\"params\":{\n\"n\":1}}},\n\"nodes\":0}";
    let document = normalise(&Document::read(file.as_bytes()).unwrap()).document;
    let line = |place: Pointer| document.locate(&place).map(|found| found.line);
    assert_eq!(line(Pointer::param("TokenChunker:A", "n")), Some(5));
    assert_eq!(
        line(
            Pointer::component("TokenChunker:A")
                .key("obj")
                .key("component_name")
        ),
        Some(3)
    );
    assert_eq!(line(Pointer::component("TokenChunker:A")), Some(2));
}

#[test]
fn renamed_classes_take_their_ids_and_every_reference_along() {
    let (canvas, notes) = normal(
        r#"{"components":{
            "Splitter:A":{"obj":{"component_name":"Splitter","params":{}},"downstream":["x"],"upstream":[]},
            "x":{"obj":{"component_name":"LLM","params":{"a":"Splitter:A","b":"see {{ Splitter:A@chunks }} and Splitter:A@chunks",
                "ref":"Splitter:A@chunks.0","deep":[{"Splitter:A":"{Splitter:A@x}{Splitter:AB@x}"}]}},"upstream":["Splitter:A"],
                "parent_id":"Splitter:A"}},
          "path":["begin","Splitter:A"],"history":[["user","{Splitter:A@q}"]],
          "graph":{"nodes":[{"id":"Splitter:A","type":"splitterNode","data":{"label":"Splitter","name":"Splitter","form":{"r":"Splitter:A@c"}}},
                            {"id":"x","parentId":"Splitter:A","data":{"label":"LLM","name":"Splitter:A"}}],
            "edges":[{"id":"xy-edge__Splitter:Astart-xend","source":"Splitter:A","target":"x"}]}}"#,
    );
    assert_eq!(
        canvas,
        compact(
            r#"{"components":{
            "TokenChunker:A":{"obj":{"component_name":"TokenChunker","params":{}},"downstream":["x"],"upstream":[]},
            "x":{"obj":{"component_name":"LLM","params":{"a":"TokenChunker:A","b":"see {{ TokenChunker:A@chunks }} and Splitter:A@chunks",
                "ref":"TokenChunker:A@chunks.0","deep":[{"Splitter:A":"{TokenChunker:A@x}{Splitter:AB@x}"}]}},"upstream":["TokenChunker:A"],
                "parent_id":"TokenChunker:A"}},
          "path":["begin","TokenChunker:A"],"history":[["user","{TokenChunker:A@q}"]],
          "graph":{"nodes":[{"id":"TokenChunker:A","type":"chunkerNode","data":{"label":"TokenChunker","name":"TokenChunker","form":{"r":"TokenChunker:A@c"}}},
                            {"id":"x","parentId":"TokenChunker:A","data":{"label":"LLM","name":"Splitter:A"}}],
            "edges":[{"id":"xy-edge__TokenChunker:Astart-xend","source":"TokenChunker:A","target":"x"}]}}"#
        )
    );
    assert_eq!(
        notes,
        [
            "drawing-repaired /graph/nodes/0",
            "class-renamed /components/Splitter:A",
            "id-renamed /components/Splitter:A"
        ]
    );
}

#[test]
fn an_id_that_only_looks_like_an_old_name_or_whose_new_name_is_taken_stays() {
    let (canvas, _) = normal(
        r#"{"components":{"Splitter:A":{"obj":{"component_name":"Splitter"}},"TokenChunker:A":{"obj":{"component_name":"LLM"}},
            "Splitter:B":{"obj":{"component_name":"StringTransform"}},"StringTransform:Splitter":{"obj":{"component_name":"LLM"}}}}"#,
    );
    assert_eq!(
        canvas,
        compact(
            r#"{"components":{"Splitter:A":{"obj":{"component_name":"TokenChunker","params":{}}},"TokenChunker:A":{"obj":{"component_name":"LLM"}},
            "Splitter:B":{"obj":{"component_name":"StringTransform"}},"StringTransform:Splitter":{"obj":{"component_name":"LLM"}}}}"#
        )
    );
}

#[test]
fn aliases_of_classes_are_resolved_in_tools_of_tools_too() {
    let tools = |name: &str| {
        format!(
            r#"{{"tools":[{{"component_name":"Agent","params":{{"tools":[{{"component_name":"{name}","params":{{}}}}]}}}},7]}}"#
        )
    };
    let (params, notes) = params("Agent", &tools("search_my_dateset"));
    assert_eq!(params, compact(&tools("Retrieval")));
    assert_eq!(notes, ["class-renamed /components/x/obj/params/tools"]);
}

#[test]
fn a_form_of_old_that_asked_without_words_still_does() {
    assert_eq!(
        params("Fillup", r#"{"inputs":{}}"#).0,
        r#"{"inputs":{},"enable_tips":false}"#
    );
}

#[test]
fn a_parallel_of_another_engine_is_an_iteration_again() {
    let (canvas, notes) = normal(
        r#"{"components":{"p":{"obj":{"component_name":"Parallel","params":{}}}},
            "graph":{"nodes":[{"id":"p","type":"parallelNode","data":{"label":"Parallel","name":"mine"}},
                              {"id":"q","type":"group","data":{"label":"Iteration"}},{"id":"r","type":"group"}]}}"#,
    );
    assert_eq!(
        canvas,
        compact(
            r#"{"components":{"p":{"obj":{"component_name":"Iteration","params":{}}}},
            "graph":{"nodes":[{"id":"p","type":"iterationNode","data":{"label":"Iteration","name":"mine"}},
                              {"id":"q","type":"iterationNode","data":{"label":"Iteration"}},{"id":"r","type":"group"}]}}"#
        )
    );
    assert_eq!(notes.len(), 3);
}

#[test]
fn ids_and_texts_that_should_be_lists_are_made_lists() {
    for (class, before, after) in [
        (
            "LLM",
            r#"{"exception_goto":"a"}"#,
            r#"{"exception_goto":["a"]}"#,
        ),
        (
            "LLM",
            r#"{"exception_goto":""}"#,
            r#"{"exception_goto":[]}"#,
        ),
        (
            "Message",
            r#"{"messages":["a","b"],"z":1}"#,
            r#"{"content":["a","b"],"z":1}"#,
        ),
        ("Message", r#"{"content":"a"}"#, r#"{"content":["a"]}"#),
        (
            "message",
            r#"{"messages":"a","content":[]}"#,
            r#"{"content":["a"]}"#,
        ),
        (
            "Categorize",
            r#"{"category_description":{"k ":{"to":"a","examples":"x\n\n  y "},"l":{"to":["b"],"examples":["x\ny"]}}}"#,
            r#"{"category_description":{"k ":{"to":["a"],"examples":["x","y"]},"l":{"to":["b"],"examples":["x\ny"]}}}"#,
        ),
        (
            "Switch",
            r#"{"conditions":[{"to":"a"},{"to":["b"]},3],"end_cpn_id":"c"}"#,
            r#"{"conditions":[{"to":["a"]},{"to":["b"]},3],"end_cpn_ids":["c"]}"#,
        ),
        (
            "UserFillUp",
            r#"{"inputs":[{"key":"b","type":"line"},{"key":"a"}]}"#,
            r#"{"inputs":{"b":{"key":"b","type":"line"},"a":{"key":"a"}}}"#,
        ),
    ] {
        let (found, notes) = params(class, before);
        assert_eq!(found, after);
        assert!(
            notes
                .iter()
                .all(|note| note.starts_with("param-reshaped /components/x/obj/params/")),
            "{notes:?}"
        );
        assert!(!notes.is_empty());
    }
}

#[test]
fn every_code_is_its_own_and_in_kebab_case() {
    use Rewrite::*;
    let all = [
        DrawingLifted,
        DrawingRepaired,
        HistoryReshaped,
        RetrievalReshaped,
        MemoryReshaped,
        VariablesReshaped,
        EntryReshaped,
        ClassRenamed,
        IdRenamed,
        ComponentsDerived,
        SubAgentLeftOut,
        ParamReshaped,
        PlaceholderRewritten,
        LegacyReplaced,
        AnswerReplaced,
        MessageAdded,
    ];
    let codes: std::collections::BTreeSet<&str> =
        all.iter().map(|rewrite| rewrite.code()).collect();
    assert_eq!(codes.len(), all.len());
    assert!(
        codes
            .iter()
            .all(|code| code.chars().all(|c| c == '-' || c.is_ascii_lowercase()))
    );
}
