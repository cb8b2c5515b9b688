use std::time::Duration;

use futures::executor::block_on;
use serde_json::json;

use super::*;
use crate::code::Language;
use crate::files::{FileDescriptor, FileRequest, FileStore};
use crate::memory::{MemoryMessage, Whose};
use crate::retrieval::MetadataCondition;
use crate::sql::SqlConnection;

fn scripted(script: serde_json::Value) -> ScriptedWorld {
    ScriptedWorld::new(serde_json::from_value(script).unwrap())
}

fn log(world: &ScriptedWorld) -> serde_json::Value {
    serde_json::to_value(world.take_calls()).unwrap()
}

fn object(json: serde_json::Value) -> Object {
    Value::from(json).as_object().unwrap().clone()
}

fn ask(query: &str) -> RetrievalRequest {
    RetrievalRequest {
        query: query.into(),
        dataset_ids: vec!["ds1".into()],
        ..Default::default()
    }
}

fn script(source: &str, arguments: serde_json::Value) -> CodeRequest {
    CodeRequest {
        language: Language::Python,
        script: source.into(),
        arguments: object(arguments),
        timeout: Duration::from_secs(1),
    }
}

fn statement(statement: &str, max_records: u32) -> SqlRequest {
    SqlRequest {
        connection: SqlConnection::default(),
        statement: statement.into(),
        max_records,
        timeout: Duration::from_secs(1),
    }
}

#[test]
fn one_file_feeds_models_and_tools() {
    let file = json!({
        "rules": [{"reply": "hi", "match": {"component": "A"}}],
        "models": {"m": {"types": ["chat"]}},
        "default_reply": "x",
        "retrieval": [{"match": {"turn": 1}, "chunks": [], "comment": "unknown members are left aside"}],
    });
    let script: Script = serde_json::from_value(file).unwrap();
    assert_eq!(script.retrieval.len(), 1);
    assert_eq!(script.retrieval[0].when, Default::default());
}

#[test]
fn a_retrieval_finds_what_its_query_matches() {
    let world = scripted(json!({"retrieval": [
        {"match": {"contains": "capital"}, "chunks": [{"chunk_id": "c1"}], "doc_aggs": [{"doc_name": "geo"}]},
        {"match": {"contains": "down"}, "error": "index down"},
    ]}));
    let found = block_on(world.retrieve(ask("the capital"))).unwrap();
    assert_eq!(found.chunks, [object(json!({"chunk_id": "c1"}))]);
    assert_eq!(found.doc_aggs, [object(json!({"doc_name": "geo"}))]);
    assert_eq!(
        block_on(world.retrieve(ask("else"))).unwrap(),
        Retrieved::default()
    );
    let error = block_on(world.retrieve(ask("down"))).unwrap_err();
    assert_eq!(error.to_string(), "retrieval failed: index down");
    assert_eq!(
        log(&world),
        json!([
            {"retrieval": "the capital", "datasets": ["ds1"]},
            {"retrieval": "else", "datasets": ["ds1"]},
            {"retrieval": "down", "datasets": ["ds1"]},
        ])
    );
    assert_eq!(log(&world), json!([]));
}

#[test]
fn filters_are_logged_where_there_are_any() {
    let world = scripted(json!({}));
    let filters = vec![MetadataCondition {
        key: "region".into(),
        op: "=".into(),
        value: "north".into(),
    }];
    block_on(world.retrieve(RetrievalRequest {
        filters,
        ..ask("prices")
    }))
    .unwrap();
    assert_eq!(
        log(&world),
        json!([{"retrieval": "prices", "datasets": ["ds1"], "filters": [{"key": "region", "op": "=", "value": "north"}]}])
    );
}

#[test]
fn a_dataset_that_does_not_exist_is_an_error_only_when_none_is_left() {
    let world = scripted(json!({"missing_datasets": ["ds1", "ds3"]}));
    let error = block_on(world.retrieve(ask("x"))).unwrap_err();
    assert_eq!(error.to_string(), "dataset \"ds1\" does not exist");
    let mut request = ask("x");
    request.dataset_ids.push("ds2".into());
    block_on(world.retrieve(request)).unwrap();
    assert_eq!(
        log(&world),
        json!([{"retrieval": "x", "datasets": ["ds2"]}])
    );
}

#[test]
fn a_rule_stops_after_its_uses_even_across_clones() {
    let world = scripted(json!({"retrieval": [
        {"times": 1, "chunks": [{"chunk_id": "first"}]},
        {"chunks": [{"chunk_id": "later"}]},
    ]}));
    let other = world.clone();
    let first = block_on(world.retrieve(ask("x"))).unwrap();
    let second = block_on(other.world().retrieval.retrieve(ask("x"))).unwrap();
    assert_eq!(first.chunks[0]["chunk_id"], Value::from("first"));
    assert_eq!(second.chunks[0]["chunk_id"], Value::from("later"));
    assert_eq!(world.take_calls().len(), 2);
}

#[test]
fn a_search_is_logged_under_its_provider() {
    let world = scripted(json!({"search": [
        {"match": {"contains": "http://e.com"}, "results": [{"raw_content": "page"}]},
        {"match": {"contains": "sun"}, "results": [{"title": "T"}]},
        {"match": {"contains": "much"}, "error": "quota"},
    ]}));
    let search = |provider: &str, subject: serde_json::Value| {
        block_on(WebSearch::search(
            &world,
            SearchRequest {
                provider: provider.into(),
                subject: subject.into(),
                ..Default::default()
            },
        ))
    };
    let found = search("tavily_search", json!("the sun")).unwrap();
    assert_eq!(found.results, [Value::from(json!({"title": "T"}))]);
    let page = search("tavily_extract", json!(["http://e.com/a"])).unwrap();
    assert_eq!(page.results, [Value::from(json!({"raw_content": "page"}))]);
    assert!(
        search("tavily_search", json!("unknown"))
            .unwrap()
            .results
            .is_empty()
    );
    let error = search("tavily_search", json!("too much")).unwrap_err();
    assert_eq!(error.to_string(), "tavily_search failed: quota");
    assert_eq!(
        log(&world),
        json!([
            {"tavily_search": "the sun"},
            {"tavily_extract": ["http://e.com/a"]},
            {"tavily_search": "unknown"},
            {"tavily_search": "too much"},
        ])
    );
}

#[test]
fn an_unscripted_company_has_the_one_row_of_recorded_cases() {
    let world = scripted(json!({
        "search": [{"results": [{"title": "not this"}]}],
        "finance": [{"match": {"contains": "ACME"}, "sections": [{"title": "News", "content": "none"}]}],
    }));
    let report = |code: &str| {
        let request = SearchRequest {
            provider: providers::YAHOO_FINANCE.into(),
            subject: code.into(),
            parameters: object(json!({"balance_sheet": true, "cash_flow_statement": false})),
            api_key: None,
        };
        let found = block_on(WebSearch::search(&world, request)).unwrap();
        let title = |section: &Value| section.get("title").unwrap().as_str().unwrap().to_owned();
        found.results.iter().map(title).collect::<Vec<_>>()
    };
    assert_eq!(report("XYZ"), ["Balance sheet", "Quarterly balance sheet"]);
    assert_eq!(report("ACME"), ["News"]);
    assert_eq!(log(&world), json!([]));
}

#[test]
fn a_script_returns_prints_echoes_or_fails() {
    let world = scripted(json!({"code": [
        {"match": {"contains": "nothing"}, "result": null},
        {"match": {"contains": "echo"}, "result_arg": "x"},
        {"match": {"contains": "print"}, "stdout": "42\n"},
        {"match": {"contains": "raise"}, "stderr": "Traceback: bad"},
        {"match": {"contains": "boom"}, "error": "ValueError: boom"},
    ]}));
    let run = |source: &str| block_on(world.run(script(source, json!({"x": [1]}))));
    assert_eq!(run("nothing").unwrap().result.unwrap().value, Value::Null);
    assert_eq!(
        run("echo").unwrap().result.unwrap().value,
        Value::from(json!([1]))
    );
    let printed = run("print").unwrap();
    assert_eq!(
        (printed.result, printed.stdout.as_str(), printed.exit_code),
        (None, "42\n", 0)
    );
    let raised = run("raise").unwrap();
    assert_eq!(
        (raised.stderr.as_str(), raised.exit_code),
        ("Traceback: bad", 1)
    );
    assert_eq!(
        run("boom").unwrap_err().to_string(),
        "code execution failed: ValueError: boom"
    );
    assert_eq!(
        run("other").unwrap_err().to_string(),
        "code execution failed: no scripted rule"
    );
    assert_eq!(
        serde_json::to_value(&world.take_calls()[0]).unwrap(),
        json!({"code": "python", "arguments": {"x": [1]}})
    );
}

#[test]
fn a_statement_gives_at_most_the_rows_asked_for() {
    let world = scripted(json!({"sql": [
        {"match": {"contains": "from t"}, "columns": ["a"], "rows": [[1], [2], [3]]},
        {"match": {"contains": "drop"}, "error": "denied"},
    ]}));
    let rows = block_on(world.query(statement("select a from t", 2))).unwrap();
    assert_eq!(rows.columns, ["a"]);
    assert_eq!(rows.rows, [[Value::from(1)], [Value::from(2)]]);
    assert_eq!(
        block_on(world.query(statement("select 1", 2))).unwrap(),
        SqlRows::default()
    );
    let error = block_on(world.query(statement("drop table t", 2))).unwrap_err();
    assert_eq!(error.to_string(), "the database failed: denied");
    assert_eq!(world.take_calls().len(), 3);
}

#[test]
fn a_request_is_answered_by_method_and_url() {
    let world = scripted(json!({"http": [
        {"match": {"method": "post", "contains": "pay.example.com"}, "json": {"id": 1}},
        {"match": {"contains": "/broken"}, "error": "connection reset"},
        {"match": {"method": "GET"}, "status": 500, "text": "oops"},
    ]}));
    let send = |request: HttpRequest| block_on(world.send(request));
    let mut post = HttpRequest::new("POST", "http://pay.example.com/x");
    post.body = HttpBody::Form(object(json!({"a": "hello"})));
    post.headers = vec![("X-Id".into(), "7".into())];
    let paid = send(post).unwrap();
    assert_eq!((paid.status, paid.body.as_str()), (200, r#"{"id":1}"#));
    assert_eq!(paid.header("Content-Type"), Some("application/json"));

    let mut get = HttpRequest::new("get", "http://api.example.com/x");
    get.query = Some(object(json!({"q": "hello", "n": 5})));
    let failed = send(get).unwrap();
    assert_eq!((failed.status, failed.body.as_str()), (500, "oops"));

    let broken = send(HttpRequest::new("get", "http://api.example.com/broken")).unwrap_err();
    assert_eq!(
        broken.to_string(),
        "no connection to api.example.com: connection reset"
    );
    let unknown = send(HttpRequest::new("put", "http://api.example.com/x")).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "no connection to api.example.com: no scripted rule"
    );
    assert_eq!(
        serde_json::to_value(&world.take_calls()[..2]).unwrap(),
        json!([
            {"http": "post", "url": "http://pay.example.com/x", "params": null, "json": null,
             "data": {"a": "hello"}, "headers": {"X-Id": "7"}},
            {"http": "get", "url": "http://api.example.com/x", "params": {"q": "hello", "n": 5}, "json": null,
             "data": null, "headers": {}},
        ])
    );
}

#[test]
fn the_guard_holds_in_a_script_too() {
    let world = scripted(json!({"http": [{"text": "never"}]}));
    for url in [
        "http://127.0.0.1:80/",
        "http://localhost/",
        "ftp://a.example/",
    ] {
        let refused = block_on(world.send(HttpRequest::new("get", url))).unwrap_err();
        assert!(matches!(refused, ToolError::Blocked(_)), "{url}: {refused}");
    }
    let mut proxied = HttpRequest::new("get", "http://api.example.com/");
    proxied.proxy = Some("http://10.0.0.1:3128".into());
    assert!(matches!(
        block_on(world.send(proxied)),
        Err(ToolError::Blocked(_))
    ));
    assert_eq!(log(&world), json!([]));
}

#[test]
fn files_are_read_by_id_as_text_or_image() {
    let world = scripted(json!({"files": {"f1": "PNG"}}));
    let read = |id: &str, name: &str, mime: Option<&str>| {
        block_on(world.read(FileRequest {
            file: FileDescriptor {
                id: id.into(),
                name: name.into(),
                mime_type: mime.map(str::to_owned),
                created_by: None,
            },
            layout: None,
        }))
    };
    assert_eq!(
        read("f1", "a.txt", None).unwrap().rendered(),
        "File: a.txt\nContent as following: \nPNG"
    );
    assert_eq!(
        read("f1", "a.png", Some("image/png")).unwrap().rendered(),
        "data:image/png;base64,UE5H"
    );
    assert_eq!(
        read("f2", "a.txt", None).unwrap_err().to_string(),
        "file \"f2\" does not exist"
    );
}

#[test]
fn memories_are_saved_and_found() {
    let world = scripted(
        json!({"memory": [{"match": {"contains": "name"}, "messages": [{"content": "Ada"}]}]}),
    );
    let whose = Whose {
        owner: "o1".into(),
        agent_id: "canvas-1".into(),
        user_id: "u9".into(),
        session_id: "task-1".into(),
    };
    let message = MemoryMessage {
        user_input: "hello".into(),
        agent_response: "answer".into(),
    };
    block_on(world.save(MemorySave {
        memory_ids: vec!["mem1".into()],
        whose: whose.clone(),
        key: "run/node/1".into(),
        message,
    }))
    .unwrap();
    let query = |text: &str| MemoryQuery {
        memory_ids: vec!["mem1".into()],
        whose: whose.clone(),
        query: text.into(),
        top_n: 8,
        similarity_threshold: 0.2,
        keywords_similarity_weight: 0.5,
    };
    let found = block_on(MemoryStore::search(&world, query("my name?"))).unwrap();
    assert_eq!(found, [object(json!({"content": "Ada"}))]);
    assert!(
        block_on(MemoryStore::search(&world, query("else")))
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        log(&world),
        json!([
            {"save_memory": ["mem1"], "message": {"user_id": "u9", "user_input": "hello", "agent_response": "answer"}},
            {"search_memory": ["mem1"], "query": "my name?"},
            {"search_memory": ["mem1"], "query": "else"},
        ])
    );
}
