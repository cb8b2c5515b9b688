use easel_core::Value;
use easel_core::event::Fault;
use easel_tools::{Script, ScriptedWorld};
use serde_json::{Value as Json, json};

use crate::stream::StreamItem;
use crate::testing::{Trial, Tried, with_files};
use crate::turn::Turn;

fn message(content: &str) -> Trial {
    Trial::new("Message", json!({"content": [content]}))
        .given("env.s", json!("text"))
        .given("env.d", json!({"k": 1, "é": [true, null]}))
        .given("env.none", Json::Null)
}

fn text(text: &str) -> StreamItem {
    StreamItem::Text(text.into())
}

fn ended(value: &str) -> StreamItem {
    StreamItem::Ended(Value::from(value))
}

fn content(tried: &Tried) -> String {
    tried.port("content").as_str().unwrap().to_owned()
}

#[test]
fn a_text_is_said_piece_by_piece() {
    let tried = message("a {env.s} b {env.d}").run();
    assert_eq!(
        tried.shown,
        ["a ", "text", " b ", r#"{"k": 1, "é": [true, null]}"#]
    );
    let ports = json!({"content": r#"a text b {"k": 1, "é": [true, null]}"#, "downloads": []});
    assert_eq!(tried.ports(), ports);
    assert!(tried.at_once && tried.warnings.is_empty());
}

#[test]
fn what_has_no_value_is_nothing_and_a_warning() {
    let tried = message("[{env.none}{env.gone}]").run();
    assert_eq!(content(&tried), "[]");
    assert_eq!(
        tried.warnings,
        [
            "\"X\" shows nothing for env.none, which has no value.",
            "\"X\" shows nothing for env.gone, which has no value."
        ]
    );
}

#[test]
fn an_inserted_value_is_never_read_again() {
    let value = json!(r"{env.s} {{ 1 + 1 }} \1 {% if %}");
    let tried = message("{env.v}|{% if true %}{env.v}{% endif %}")
        .given("env.v", value.clone())
        .run();
    assert_eq!(content(&tried), format!("{0}|{0}", value.as_str().unwrap()));
    let tried = message("{env.v}").given("env.v", value.clone()).run();
    assert_eq!(content(&tried), value.as_str().unwrap());
}

#[test]
fn one_of_several_texts_is_picked_by_the_random_number_of_the_run() {
    let said = |random: u64| {
        let params = json!({"content": ["a", "b", "c"]});
        content(&Trial::new("Message", params).random(random).run())
    };
    assert_eq!(
        [said(0), said(1), said(5), said(u64::MAX)],
        ["a", "b", "c", "a"]
    );
    assert_eq!(said(7), said(7));
}

#[test]
fn without_streaming_it_is_one_piece() {
    let params = json!({"content": ["a {env.s} {env.d}"], "stream": false});
    let trial = Trial::new("Message", params).given("env.s", json!("text"));
    let tried = trial.given("env.d", json!([1])).run();
    assert_eq!(tried.shown, ["a text [1]"]);
}

#[test]
fn an_empty_message_shows_nothing() {
    let tried = message("{env.none}").run();
    assert_eq!(tried.shown, Vec::<String>::new());
    assert_eq!(tried.ports(), json!({"content": "", "downloads": []}));
}

#[test]
fn thoughts_in_a_value_are_told_apart_from_the_answer() {
    let value = json!("<think>hmm</think>answer");
    let tried = message("a={A:x@content}")
        .given("A:x@content", value.clone())
        .run();
    assert_eq!(tried.shown, ["a=", "(think", "hmm", "think)", "answer"]);
    assert_eq!(content(&tried), "a=hmmanswer");
    let tried = message("{% if true %}[{A:x@content}]{% endif %}")
        .given("A:x@content", value)
        .run();
    assert_eq!(tried.shown, ["[", "(think", "hmm", "think)", "answer]"]);
    let open = message("{A:x@content}!").given("A:x@content", json!("<think>hmm"));
    assert_eq!(open.run().shown, ["(think", "hmm", "think)", "!"]);
    let stray = message("{A:x@content}").given("A:x@content", json!("a</think>b"));
    assert_eq!(stray.run().shown, ["a</think>b"]);
}

#[test]
fn files_that_a_value_names_become_downloads() {
    let file = json!({"doc_id": "d1", "filename": "f.txt", "mime_type": "text/plain"});
    let tried = message("file:{env.f}!").given("env.f", file.clone()).run();
    assert_eq!(
        tried.ports(),
        json!({"content": "file:!", "downloads": [file]})
    );
    let tried = message("{env.f}").given("env.f", json!([file, file])).run();
    assert_eq!(
        tried.ports(),
        json!({"content": "", "downloads": [file, file]})
    );
    let tried = message("{env.f}")
        .given("env.f", json!(file.to_string()))
        .run();
    assert_eq!(tried.ports(), json!({"content": "", "downloads": [file]}));
    let tried = message("{% if true %}[{env.f}]{% endif %}")
        .given("env.f", file.clone())
        .run();
    assert_eq!(tried.ports(), json!({"content": "[]", "downloads": [file]}));
    let mut shown = file.clone();
    shown["include_download_info_in_content"] = json!(true);
    let tried = message("file:{env.f}!").given("env.f", shown).run();
    let inside = r#"file:{"doc_id": "d1", "filename": "f.txt", "mime_type": "text/plain"}!"#;
    assert_eq!(
        tried.ports(),
        json!({"content": inside, "downloads": [file]})
    );
}

#[test]
fn what_only_looks_like_a_download_is_shown() {
    for value in [
        json!([]),
        json!({"doc_id": "d1"}),
        json!([{"doc_id": "d1"}, 1]),
        json!("{doc_id filename mime_type"),
    ] {
        let shown = Value::from(value.clone()).to_string();
        let tried = message("{env.f}").given("env.f", value).run();
        assert_eq!(tried.ports(), json!({"content": shown, "downloads": []}));
    }
}

#[test]
fn a_text_that_arrives_is_passed_on_while_it_does() {
    let items = [text("a"), text("b"), ended("ab")];
    let tried = message("y={A:x@content}|{A:x@content}")
        .streaming("A:x@content", items)
        .run();
    assert_eq!(
        tried.shown,
        ["y=", "a", "b", "|", "ab"],
        "streamed once, then from its text"
    );
    assert_eq!(content(&tried), "y=ab|ab");
    assert!(!tried.at_once);
}

#[test]
fn two_texts_that_arrive_are_shown_in_the_order_of_the_message() {
    let trial = message("A={A:x@content}B={B:x@content}")
        .streaming("A:x@content", [text("a"), ended("a")])
        .streaming("B:x@content", [text("b"), ended("b")]);
    assert_eq!(trial.run().shown, ["A=", "a", "B=", "b"]);
}

#[test]
fn thoughts_that_arrive_are_passed_on_as_such() {
    let items = [
        StreamItem::ThinkStart,
        text("hmm"),
        StreamItem::ThinkEnd,
        text("ans"),
        ended("<think>hmm</think>answer"),
    ];
    let tried = message("{A:x@content}")
        .streaming("A:x@content", items)
        .run();
    assert_eq!(tried.shown, ["(think", "hmm", "think)", "ans", "wer"]);
    assert_eq!(content(&tried), "hmmanswer");
    let items = [
        StreamItem::ThinkStart,
        text("h"),
        ended("<think>hmm</think>answer"),
    ];
    let tried = message("{A:x@content}")
        .streaming("A:x@content", items)
        .run();
    assert_eq!(tried.shown, ["(think", "h", "mm", "think)", "answer"]);
}

#[test]
fn thoughts_that_a_model_marks_in_its_text_are_found_however_it_is_cut() {
    let whole = "<think>hmm</think>a < b";
    for pieces in [
        vec![whole],
        vec!["<think>", "hmm", "</think>", "a < b"],
        vec!["<thi", "nk>hm", "m<", "/think", ">a <", " b"],
    ] {
        let items = pieces.into_iter().map(text).chain([ended(whole)]);
        let tried = message("{A:x@content}!")
            .streaming("A:x@content", items)
            .run();
        let shown = tried.shown.concat();
        assert_eq!(shown, "(thinkhmmthink)a < b!");
        assert_eq!(content(&tried), "hmma < b!");
    }
    let items = [text("1 <th"), ended("1 <th")];
    let tried = message("{A:x@content}!")
        .streaming("A:x@content", items)
        .run();
    assert_eq!(content(&tried), "1 <th!");
}

#[test]
fn a_text_that_only_comes_with_the_end_is_shown_then() {
    let tried = message("{A:x@content}")
        .streaming("A:x@content", [ended("all")])
        .run();
    assert_eq!(tried.shown, ["all"]);
    let tried = message("[{A:x@content}]")
        .streaming("A:x@content", [ended("")])
        .run();
    assert_eq!(tried.shown, ["[", "]"]);
}

#[test]
fn a_restart_takes_back_the_whole_message() {
    let trial = message("A={A:x@content} B={B:x@content}")
        .streaming("A:x@content", [text("a"), ended("a")])
        .streaming(
            "B:x@content",
            [
                text("wro"),
                StreamItem::Restart,
                text("right"),
                ended("right"),
            ],
        );
    let tried = trial.run();
    assert_eq!(
        tried.shown,
        [
            "A=", "a", " B=", "wro", "(reset)", "A=", "a", " B=", "right"
        ]
    );
    assert_eq!(content(&tried), "A=a B=right");
    let items = [StreamItem::Restart, text("a"), ended("a")];
    let tried = message("{A:x@content}")
        .streaming("A:x@content", items)
        .run();
    assert_eq!(
        tried.shown,
        ["a"],
        "nothing was shown, so nothing is taken back"
    );
}

#[test]
fn a_value_that_is_not_what_was_shown_takes_its_place() {
    let items = [text("half an ans"), ended("the default")];
    let tried = message("[{A:x@content}]")
        .streaming("A:x@content", items)
        .run();
    assert_eq!(
        tried.shown,
        ["[", "half an ans", "(reset)", "[", "the default", "]"]
    );
    assert_eq!(content(&tried), "[the default]");
}

#[test]
fn a_text_that_breaks_off_fails_the_message() {
    let fault = Fault::new("model", "The model went away.");
    let items = [text("half"), StreamItem::Broken(fault)];
    let tried = message("{A:x@content}")
        .streaming("A:x@content", items)
        .run();
    assert_eq!(&*tried.fault().code, "model");
    assert_eq!(
        tried.fault().to_string(),
        "\"X\" broke off because the text of A:x@content did: The model went away."
    );
    assert_eq!(tried.shown, ["half"]);
    let tried = message("{A:x@content}")
        .streaming("A:x@content", [text("half")])
        .run();
    assert_eq!(&*tried.fault().code, "stream");
}

#[test]
fn jinja_and_a_path_wait_for_the_whole_text() {
    let items = || [text("{\"k\": "), text("\"v\"}"), ended("{\"k\": \"v\"}")];
    let tried = message("k={A:x@content.k}")
        .streaming("A:x@content", items())
        .run();
    assert_eq!(tried.shown, ["k=", "v"]);
    let jinja = "{% if A:x@content %}[{A:x@content}]{% endif %}";
    let tried = message(jinja).streaming("A:x@content", items()).run();
    assert_eq!(tried.shown, ["[{\"k\": \"v\"}]"]);
    let params = json!({"content": ["y={A:x@content}"], "stream": false});
    let tried = Trial::new("Message", params)
        .streaming("A:x@content", items())
        .run();
    assert_eq!(tried.shown, ["y={\"k\": \"v\"}"]);
}

#[test]
fn jinja_works_on_typed_values() {
    let said = |text: &str| {
        let trial = message(text).given("env.rows", json!([{"n": 1}, {"n": 2}]));
        let tried = trial.run();
        assert!(tried.warnings.is_empty(), "{:?}", tried.warnings);
        content(&tried)
    };
    assert_eq!(
        said("{% for row in env.rows %}{{ row.n * 10 }};{% endfor %}"),
        "10;20;"
    );
    assert_eq!(
        said("{{ env.s | upper }} {{ env.rows | length }}"),
        "TEXT 2"
    );
    assert_eq!(said("{% if true %}yes{% endif %} {env.s}"), "yes text");
    assert_eq!(
        said("{{ env.d.é }} {{ env.d.k == 1 }} {{ none }}{{ nobody.at.all }}|"),
        "[true, null] true |"
    );
    assert_eq!(
        said("{{ env.d | tojson }}"),
        r#"{"k": 1, "é": [true, null]}"#
    );
    assert_eq!(
        said("{{ env.s.replace('t', 'T') }} {{ env.d.items() | list | length }}"),
        "TexT 2"
    );
}

#[test]
fn jinja_that_fails_is_shown_as_it_is_written() {
    for broken in [
        "{% if %}{env.s}{% endif %}",
        "{% include 'x' %}{env.s}",
        "{{ env.d.nothing() }}{env.s}",
    ] {
        let tried = message(broken).run();
        let said = content(&tried);
        assert!(
            said.ends_with("text") || said.contains("text{% endif %}"),
            "{said}"
        );
        assert_eq!(tried.warnings.len(), 1, "{:?}", tried.warnings);
        assert!(tried.warnings[0].starts_with("\"X\" leaves its Jinja as it is written: "));
    }
}

#[test]
fn the_exchange_is_kept_in_memories() {
    let world = ScriptedWorld::new(Script::default());
    let params = json!({"content": ["answer"], "memory_ids": ["m1"], "user_id": "{env.uid}"});
    let turn = Turn {
        query: Value::from("hello"),
        session: "s".into(),
        agent: "a".into(),
        user: "u1".into(),
        ..Turn::default()
    };
    let trial = || {
        Trial::new("Message", params.clone())
            .turn(turn.clone())
            .world(world.world())
    };
    assert_eq!(
        content(&trial().given("env.uid", json!("u9")).run()),
        "answer"
    );
    trial().run();
    let calls = Value::from(world.take_calls()).to_json();
    assert_eq!(calls[0]["save_memory"], json!(["m1"]));
    assert_eq!(calls[0]["message"]["user_id"], json!("u9"));
    assert_eq!(calls[0]["message"]["user_input"], json!("hello"));
    assert_eq!(calls[0]["message"]["agent_response"], json!("answer"));
    assert_eq!(
        calls[1]["message"]["user_id"],
        json!("u1"),
        "without an own id it is the user's"
    );
}

#[test]
fn a_memory_that_cannot_be_reached_is_a_warning() {
    let tried = Trial::new(
        "Message",
        json!({"content": ["answer"], "memory_ids": ["m1"]}),
    )
    .run();
    assert_eq!(content(&tried), "answer");
    assert_eq!(tried.warnings.len(), 1);
}

#[test]
fn what_is_not_done_yet_is_said() {
    let params = json!({"content": ["x"], "auto_play": true});
    let tried = Trial::new("Message", params).run();
    assert_eq!(
        tried.warnings,
        ["\"X\" is not spoken: Easel makes no speech. Its text is shown."]
    );
}

#[test]
fn a_message_is_offered_as_a_file_as_well() {
    let params = json!({"content": ["{Agent:A@content}"], "output_format": "md"});
    let text = "<think>hm</think># The plan\n\n\n\nWe go.";
    let (tried, files) =
        with_files(Trial::new("Message", params).given("Agent:A@content", json!(text)));
    assert_eq!(content(&tried), "hm# The plan\n\n\n\nWe go.");
    let attachment = tried.port("attachment");
    assert_eq!(attachment["doc_id"], "made-X/1");
    assert_eq!(attachment["format"], "markdown");
    assert_eq!(attachment["file_name"], "The plan.md");
    let download = json!({"doc_id": "made-X/1", "filename": "The plan.md", "mime_type": "text/markdown", "size": 18,
        "url": "/files/made-X/1", "preview_url": ""});
    assert_eq!(tried.port("downloads"), json!([download]));
    assert_eq!(files.made("made-X/1"), b"# The plan\n\nWe go.");
    assert_eq!(tried.warnings, [""; 0]);
}

#[test]
fn a_file_of_a_message_has_every_format_there_is() {
    for (format, ending) in [
        ("html", "html"),
        ("pdf", "pdf"),
        ("docx", "docx"),
        ("xlsx", "xlsx"),
        ("markdown", "md"),
    ] {
        let params = json!({"content": ["Sales 2026"], "output_format": format});
        let (tried, files) = with_files(Trial::new("Message", params));
        assert_eq!(
            tried.port("attachment")["file_name"],
            format!("Sales 2026.{ending}")
        );
        assert!(!files.made("made-X/1").is_empty());
    }
}

#[test]
fn a_message_whose_file_cannot_be_made_is_said_all_the_same() {
    let params = json!({"content": ["x"], "output_format": "pdf"});
    let tried = Trial::new("Message", params).run();
    assert_eq!(content(&tried), "x");
    assert_eq!(tried.port("downloads"), json!([]));
    assert_eq!(
        tried.warnings,
        [
            "\"X\" offers no pdf file: no document maker is configured: connect a document maker. The text is said."
        ]
    );
}

#[test]
fn a_message_without_a_text_cannot_run() {
    let tried = Trial::new("Message", json!({"content": []})).run();
    assert_eq!(&*tried.fault().code, "bad_parameter");
}
