use super::*;

fn read(text: &str) -> Document {
    Document::read(text.as_bytes()).unwrap()
}

fn lines(drawing: &Value) -> Vec<String> {
    let part = |line: &Value, name: &str| text(line.get(name)).unwrap_or_default();
    let line = |line: &Value| {
        format!(
            "{}.{}>{}.{}",
            part(line, "source"),
            part(line, "sourceHandle"),
            part(line, "target"),
            part(line, "targetHandle")
        )
    };
    drawing
        .get("edges")
        .and_then(Value::as_array)
        .unwrap()
        .iter()
        .map(line)
        .collect()
}

#[test]
fn swapped_handles_are_straightened_and_others_left() {
    let document = read(
        r#"{"graph":{"nodes":[],"zoom":2,"edges":[
            {"source":"a","target":"b","sourceHandle":"end","targetHandle":"start"},
            {"source":"a","target":"b","sourceHandle":"Case 1","targetHandle":"agentTop"}]}}"#,
    );
    let drawing = document.drawing();
    assert_eq!(lines(&drawing), ["a.start>b.end", "a.Case 1>b.agentTop"]);
    assert_eq!(drawing.get("zoom"), Some(&Value::from(2_i64)));
}

#[test]
fn a_canvas_without_a_drawing_gets_one() {
    let document = read(
        r#"{"components":{
            "begin":{"obj":{"component_name":"Begin","params":{"mode":"task"}},"downstream":["s"]},
            "s":{"obj":{"component_name":"Switch","params":{"conditions":[{"to":["m"]},{"to":["n","m"]}],"end_cpn_ids":["n"]}},
                 "downstream":["m","n"]},
            "m":{"obj":{"component_name":"Message","params":{}},"upstream":["s"]},
            "n":{"obj":{"component_name":"Odd","params":{}},"parent_id":"it","downstream":["nothing"]}}}"#,
    );
    let drawing = document.drawing();
    assert_eq!(
        lines(&drawing),
        [
            "begin.start>s.end",
            "s.Case 1>m.end",
            "s.Case 2>m.end",
            "s.Case 2>n.end",
            "s.end_cpn_ids>n.end"
        ]
    );
    let nodes = drawing.get("nodes").and_then(Value::as_array).unwrap();
    let kinds: Vec<_> = nodes
        .iter()
        .map(|node| text(node.get("type")).unwrap().to_string())
        .collect();
    assert_eq!(kinds, ["beginNode", "switchNode", "messageNode", "ragNode"]);
    assert_eq!(
        nodes[3].to_json_text(),
        r#"{"id":"n","type":"ragNode","position":{"x":1100.0,"y":200.0},"data":{"label":"Odd","name":"n","form":{}},"parentId":"it"}"#
    );
}

#[test]
fn a_component_that_is_not_drawn_is_put_below_what_is() {
    let document = read(
        r#"{"components":{"a":{"downstream":["b"]},"b":{}},
            "graph":{"nodes":[{"id":"a","position":{"x":0,"y":30}}],"edges":[]}}"#,
    );
    let drawing = document.drawing();
    assert_eq!(lines(&drawing), ["a.start>b.end"]);
    let nodes = drawing.get("nodes").and_then(Value::as_array).unwrap();
    assert_eq!(
        nodes[1].get("position").unwrap().to_json_text(),
        r#"{"x":50.0,"y":230.0}"#
    );
}
