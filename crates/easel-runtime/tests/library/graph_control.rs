//! Control flow of graphs: guards, routers, errors, containers.

use easel_runtime::core::machine::NodeLife;
use serde_json::json;

use super::graphs::World;

fn tool(id: &str, rest: &str) -> String {
    format!("  - {{id: {id}, kind: tool, tools: [probe]{rest}}}\n")
}

#[test]
fn a_guard_that_does_not_hold_prunes_its_node_and_the_run_is_well() {
    let nodes = tool("a", "")
        + &tool("b", ", when: 'inputs.n > 5', depends_on: [a]")
        + &tool("c", ", depends_on: [b]");
    let of = |n: i64| {
        World::of(&format!(
            "name: g\ninputs: {{n: integer}}\nnodes:\n{nodes}outputs: [c]\n"
        ))
        .run(json!({"n": n}))
    };
    assert_eq!(of(10).results(), json!({"c": "ran"}));
    let pruned = of(1);
    assert!(pruned.finished());
    assert_eq!(pruned.results(), json!({"c": null}));
    assert_eq!(pruned.life("c"), NodeLife::Dead);
    let skipped = pruned
        .events
        .iter()
        .find(|event| event["event"] == "node_skipped")
        .unwrap();
    assert_eq!(skipped["data"]["component_id"], "b");
}

#[test]
fn a_comparison_that_cannot_be_made_is_false_and_a_guard_that_fails_fails_its_node() {
    let graph = |when: &str| {
        format!(
            "name: g\ninputs: {{n: {{type: integer, required: false}}}}\nnodes:\n{}outputs: [a]\n",
            tool("a", &format!(", when: \"{when}\""))
        )
    };
    let missing = World::of(&graph("inputs.n > 5")).run(json!({}));
    assert!(missing.finished());
    assert_eq!(missing.life("a"), NodeLife::Dead);
    let broken = World::of(&graph("1 / 0 > 2")).run(json!({}));
    assert_eq!(broken.life("a"), NodeLife::Failed);
    assert!(broken.error().contains("guard"), "{}", broken.error());
}

#[test]
fn a_guard_waits_for_every_node_it_reads() {
    let nodes = tool("b", ", when: \"nodes.a == 'A'\"") + &tool("a", ", tool_args: {x: A}");
    let ran = World::new(&format!("{nodes}outputs: [a, b]\n")).run(json!({}));
    assert_eq!(ran.results(), json!({"a": "A", "b": "ran"}));
}

#[test]
fn a_join_behind_a_router_runs_once_with_what_there_is() {
    let graph = "name: g\ninputs: {n: integer}\nnodes:\n  - {id: r, kind: router, cases: [{when: 'inputs.n > 5', to: big}], default: small}\n".to_owned()
        + &tool("big", ", tool_args: {x: B}, depends_on: [r]")
        + &tool("small", ", tool_args: {x: S}, depends_on: [r]")
        + &tool("beside", ", depends_on: [r]")
        + "  - {id: join, kind: output, depends_on: [big, small]}\n";
    let big = World::of(&graph).run(json!({"n": 10}));
    assert_eq!(big.results(), json!({"join": {"big": "B", "small": null}}));
    assert_eq!(
        big.life("beside"),
        NodeLife::Done,
        "what is no target always runs"
    );
    assert_eq!(big.value("r"), json!("big"));
    let small = World::of(&graph).run(json!({"n": 1}));
    assert_eq!(
        small.results(),
        json!({"join": {"big": null, "small": "S"}})
    );
}

#[test]
fn a_router_kills_edges_and_not_nodes() {
    let nodes = tool("x", "")
        + "  - {id: r, kind: router, cases: [{when: 'True', to: a}, {to: b}]}\n"
        + &tool("a", ", depends_on: [r]")
        + &tool("b", ", depends_on: [r, x]");
    let ran = World::new(&format!("{nodes}outputs: [a, b]\n")).run(json!({}));
    assert_eq!(
        ran.results(),
        json!({"a": "ran", "b": "ran"}),
        "b has another dependency that is live"
    );
}

#[test]
fn a_router_without_a_match_and_a_default_goes_nowhere() {
    let nodes = "  - {id: r, kind: router, cases: [{when: 'False', to: a}]}\n".to_owned()
        + &tool("a", ", depends_on: [r]");
    let ran = World::new(&format!("{nodes}outputs: [a, r]\n")).run(json!({}));
    assert!(ran.finished());
    assert_eq!(ran.results(), json!({"a": null, "r": null}));
}

#[test]
fn a_model_chooses_a_route_and_gets_a_second_chance() {
    let nodes =
        "  - {id: r, kind: router, instructions: 'Sort {t}', routes: {urgent: a, not urgent: b}}\n"
            .to_owned()
            + &tool("a", ", depends_on: [r]")
            + &tool("b", ", depends_on: [r]");
    let graph = format!("name: g\ninputs: {{t: string}}\nnodes:\n{nodes}outputs: [a, b]\n");
    let ran = World::of(&graph)
        .says(json!([{"reply": "This is not urgent."}]))
        .run(json!({"t": "mail"}));
    assert_eq!(ran.results(), json!({"a": null, "b": "ran"}));
    let ran = World::of(&graph)
        .says(json!([{"times": 1, "reply": "zzz"}, {"reply": "Urgent"}]))
        .run(json!({"t": "mail"}));
    assert_eq!(ran.results(), json!({"a": "ran", "b": null}));
    assert!(ran.asked()[1].contains("zzz"), "the bad answer is quoted");
    let ran = World::of(&graph)
        .says(json!([{"reply": "zzz"}]))
        .run(json!({"t": "mail"}));
    assert!(
        ran.error().contains("none of its routes"),
        "{}",
        ran.error()
    );
}

#[test]
fn a_failure_skips_what_is_behind_it_and_the_rest_goes_on() {
    let nodes = tool("a", ", tool_args: {fail: boom}")
        + &tool("x", "")
        + &tool("join", ", depends_on: [a, x]")
        + &tool("after", ", depends_on: [join]");
    let ran = World::new(&format!("{nodes}outputs: [x, after]\n")).run(json!({}));
    assert!(ran.error().starts_with("a: "), "{}", ran.error());
    assert!(ran.error().contains("boom"));
    assert_eq!(ran.results(), json!({"x": "ran", "after": null}));
    assert_eq!(ran.life("after"), NodeLife::Skipped);
    let fast = World::of(&format!(
        "name: g\nfail_fast: true\nnodes:\n{nodes}outputs: [x]\n"
    ))
    .run(json!({}));
    assert!(fast.error().contains("boom"));
}

#[test]
fn a_handled_failure_is_no_failed_run_and_its_text_can_be_read() {
    let nodes = tool("a", ", tool_args: {fail: boom}, on_error: h")
        + &tool(
            "h",
            ", tool_args: {x: 'because {a__error}'}, depends_on: [a]",
        )
        + &tool("n", ", depends_on: [a]")
        + &tool("live", "")
        + &tool("join", ", depends_on: [n, live]");
    let ran = World::new(&format!("{nodes}outputs: [h, n, join]\n")).run(json!({}));
    assert!(ran.finished(), "{:?}", ran.ending);
    assert_eq!(ran.life("a"), NodeLife::Handled);
    assert_eq!(ran.life("n"), NodeLife::Dead);
    let results = ran.results();
    assert!(results["h"].as_str().unwrap().contains("boom"), "{results}");
    assert_eq!(results["join"], "ran", "another dependency of it is live");
    let well = World::new(
        &(tool("a", ", on_error: h") + &tool("h", ", depends_on: [a]") + "outputs: [a, h]\n"),
    )
    .run(json!({}));
    assert_eq!(well.results(), json!({"a": "ran", "h": null}));
}

#[test]
fn a_map_keeps_the_order_of_its_items_and_keeps_to_itself_what_its_body_writes() {
    let graph = |concurrency: u32| {
        format!(
            "name: g\ninputs: {{xs: array}}\nnodes:\n  - id: m\n    kind: map\n    over: inputs.xs\n    as: row\n    concurrency: {concurrency}\n    body:\n      \
             - {{id: a, kind: tool, tools: [probe], tool_args: {{x: '{{index}}:{{row}}'}}, writes: w}}\n      - {{id: b, kind: output, value: '{{w}}', depends_on: [a]}}\n  \
             - {{id: z, kind: output, value: 'outside {{w}}', depends_on: [m]}}\noutputs: [m]\n"
        )
    };
    for concurrency in [1, 4] {
        let ran = World::of(&graph(concurrency))
            .unchecked()
            .run(json!({"xs": ["p", "q"]}));
        assert_eq!(
            ran.value("m"),
            json!([{"a": "0:p", "b": "0:p"}, {"a": "1:q", "b": "1:q"}])
        );
        assert!(ran.error().contains("{w} has no value"), "{}", ran.error());
    }
}

#[test]
fn a_map_over_nothing_is_empty_and_over_text_is_an_error() {
    let graph = "name: g\ninputs: {xs: {type: any, required: false}}\nnodes:\n  - {id: m, kind: map, over: inputs.xs, body: [{id: a, kind: output, value: '{item}'}]}\noutputs: [m]\n";
    assert_eq!(
        World::of(graph).run(json!({"xs": null})).results(),
        json!({"m": []})
    );
    let text = World::of(graph).run(json!({"xs": "abc"}));
    assert!(text.error().contains("must be a list"), "{}", text.error());
}

#[test]
fn one_failed_item_fails_the_map_and_nothing_partial_is_seen() {
    let graph = "name: g\ninputs: {xs: array}\nnodes:\n  - {id: m, kind: map, over: inputs.xs, body: [{id: a, kind: tool, tools: [probe], tool_args: {fail: '{item}'}, when: 'item > 1'}]}\noutputs: [m]\n";
    let ran = World::of(graph).run(json!({"xs": [1, 2, 3]}));
    assert_eq!(ran.results(), json!({"m": null}));
    assert!(
        ran.error().contains("says: 2"),
        "the first in the list: {}",
        ran.error()
    );
    let dead = World::of(graph).run(json!({"xs": [1]}));
    assert_eq!(
        dead.results(),
        json!({"m": [null]}),
        "a body that was pruned gives null"
    );
}

#[test]
fn maps_in_maps_know_both_their_items() {
    let graph = "name: g\ninputs: {rows: array}\nnodes:\n  - id: outer\n    kind: map\n    over: inputs.rows\n    as: row\n    body:\n      - id: inner\n        kind: map\n        over: row\n        as: cell\n        body:\n          - {id: c, kind: output, value: '{cell} of {row} at {index}'}\noutputs: [outer]\n";
    let ran = World::of(graph).run(json!({"rows": [[1, 2], [3]]}));
    assert_eq!(
        ran.results()["outer"],
        json!([["1 of [1, 2] at 0", "2 of [1, 2] at 1"], ["3 of [3] at 0"]])
    );
}

#[test]
fn a_body_gives_its_sinks_or_what_is_listed() {
    let graph = |rest: &str| {
        format!(
            "  - id: s\n    kind: subgraph{rest}\n    body:\n{}{}outputs: [s]\n",
            tool("x", ", tool_args: {x: X}").replace("  - ", "      - "),
            tool("y", ", tool_args: {x: Y}").replace("  - ", "      - ")
        )
    };
    let of = |rest: &str| World::new(&graph(rest)).run(json!({})).results()["s"].clone();
    assert_eq!(of(""), json!({"x": "X", "y": "Y"}));
    assert_eq!(of("\n    body_outputs: [y]"), json!("Y"));
    assert_eq!(
        of("\n    body_outputs: [y, x]"),
        json!({"y": "Y", "x": "X"})
    );
}

#[test]
fn under_the_compat_switch_a_body_gives_the_last_node_of_the_old_order() {
    let graph = format!(
        "name: g\ncompat: neurosurfer-2.0\nnodes:\n  - id: s\n    kind: subgraph\n    body:\n{}{}outputs: [s]\n",
        tool("x", ", tool_args: {x: X}").replace("  - ", "      - "),
        tool("y", ", tool_args: {x: Y}").replace("  - ", "      - ")
    );
    assert_eq!(
        World::of(&graph).run(json!({})).results(),
        json!({"s": "X"})
    );
}

#[test]
fn a_loop_is_judged_after_each_pass_and_hands_on_what_it_was_told() {
    let graph = "  - {id: l, kind: loop, max_iterations: 5, until: The draft is short, body: [{id: b, instructions: 'Draft {index} {iteration} prev={item} fb={feedback}'}]}\noutputs: [l]\n";
    let ran = World::new(graph)
        .says(json!([
            {"match": {"last_contains": "Draft 0"}, "reply": "d1"},
            {"match": {"last_contains": "Draft 1"}, "reply": "d2"},
            {"match": {"last_contains": "\"d1\""}, "reply": "CONTINUE - shorter."},
            {"match": {"last_contains": "\"d2\""}, "reply": "STOP - ok"},
        ]))
        .run(json!({}));
    assert_eq!(ran.results(), json!({"l": "d2"}));
    let drafts: Vec<String> = ran
        .asked()
        .into_iter()
        .filter(|asked| asked.contains("Draft"))
        .collect();
    assert_eq!(
        drafts,
        [
            "Your task:\nDraft 0 0 prev=None fb=",
            "Your task:\nDraft 1 1 prev=d1 fb=shorter"
        ]
    );
    let (_, ports) = ran.session.outputs().find(|(id, _)| ***id == *"l").unwrap();
    assert_eq!(ports["results"].to_json(), json!(["d1", "d2"]));
}

#[test]
fn a_verdict_that_nobody_can_read_goes_on_to_the_ceiling() {
    let graph = "  - {id: l, kind: loop, max_iterations: 2, until: It is good, repair: false, body: [{id: b, instructions: Draft}]}\noutputs: [l]\n";
    let ran = World::new(graph)
        .says(json!([{"match": {"last_contains": "Draft"}, "reply": "d"}, {"reply": "I would not stop here"}]))
        .run(json!({}));
    assert!(ran.finished());
    assert_eq!(ran.requests.len(), 4, "two drafts, two verdicts");
    assert_eq!(ran.warnings().len(), 2);
}

#[test]
fn a_loop_that_accumulates_gives_the_list_and_shows_it_on_the_way() {
    let graph = "  - {id: l, kind: loop, max_iterations: 3, accumulate: drafts, body: [{id: b, kind: tool, tools: [probe], tool_args: {x: '{acc}'}}]}\n  - {id: o, kind: output, value: '{drafts}', depends_on: [l]}\n";
    let ran = World::new(graph).run(json!({}));
    assert_eq!(
        ran.value("l"),
        json!(["[]", "['[]']", "['[]', \"['[]']\"]"])
    );
    assert_eq!(ran.results()["o"]["l"], ran.value("l"));
}

#[test]
fn what_is_behind_a_loop_reads_its_body_and_behind_a_map_it_cannot() {
    let body = "[{id: b, kind: tool, tools: [probe], tool_args: {x: B}}]";
    let graph = format!(
        "  - {{id: l, kind: loop, max_iterations: 2, body: {body}}}\n{}outputs: [a]\n",
        tool("a", ", when: \"nodes.b == 'B'\", depends_on: [l]")
    );
    assert_eq!(
        World::new(&graph).run(json!({})).results(),
        json!({"a": "ran"})
    );
    let graph = format!(
        "  - {{id: l, kind: map, over: '[1]', body: {body}}}\n{}outputs: [a]\n",
        tool("a", ", when: \"nodes.b == 'B'\", depends_on: [l]")
    );
    assert_eq!(
        World::new(&graph).unchecked().run(json!({})).results(),
        json!({"a": null})
    );
}

#[test]
fn a_handled_failure_in_a_body_does_not_fail_its_container() {
    let body = tool("a", ", tool_args: {fail: boom}, on_error: h")
        + &tool("h", ", tool_args: {x: saved}, depends_on: [a]");
    let graph = format!(
        "  - id: s\n    kind: subgraph\n    body_outputs: [h]\n    body:\n{}outputs: [s]\n",
        body.replace("  - ", "      - ")
    );
    assert_eq!(
        World::new(&graph).run(json!({})).results(),
        json!({"s": "saved"})
    );
}

#[test]
fn retries_run_out_and_the_last_error_counts() {
    let graph = tool("a", ", tool_args: {fail: boom}, policy: {retries: 2}") + "outputs: [a]\n";
    let ran = World::new(&graph).run(json!({}));
    // A tool that may write outside is not tried again once it may have done so (design.md §6).
    assert_eq!(ran.calls.len(), 1);
    let model = World::new("  - {id: a, instructions: go, policy: {retries: 2}}\noutputs: [a]\n")
        .says(json!([{"error": "down"}]));
    assert_eq!(model.run(json!({})).requests.len(), 3);
}

#[test]
fn under_the_compat_switch_a_handled_failure_still_fails_the_run_and_a_broken_guard_prunes() {
    let nodes = tool("a", ", tool_args: {fail: boom}, on_error: h")
        + &tool("h", ", depends_on: [a]")
        + &tool("g", ", when: '1 / 0 > 2'");
    let graph = |top: &str| format!("name: g\n{top}nodes:\n{nodes}outputs: [h, g]\n");
    let old = World::of(&graph("compat: neurosurfer-2.0\n")).run(json!({}));
    assert!(old.error().starts_with("a: "), "{}", old.error());
    assert_eq!(old.results(), json!({"h": "ran", "g": null}));
    assert_eq!(old.life("g"), NodeLife::Dead);
    let ours = World::of(&graph("")).run(json!({}));
    assert_eq!(ours.life("g"), NodeLife::Failed);
}
