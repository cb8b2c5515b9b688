use easel_core::Value;
use easel_documents::{Limits, read_workbook, write_workbook};
use easel_tools::documents::{Sheet, WorkbookFile};
use easel_tools::files::FileContent;
use serde_json::{Value as Json, json};

use crate::testing::{Files, Trial, Tried, with_files, with_scripted_files};
use crate::turn::Turn;

const SALES: &str = "region,lamps\nNorth,512\nSouth,256\n";
const PRICES: &str = "region,price\nNorth,1.5\nWest,2\n";

fn file(id: &str, name: &str) -> Json {
    json!({"id": id, "name": name, "created_by": "u"})
}

/// A node that reads the references, with what they stand for.
fn excel(params: Json, files: &[Json]) -> Trial {
    let references: Vec<String> = (0..files.len()).map(|at| format!("env.f{at}")).collect();
    let mut params = params;
    params["input_files"] = json!(references);
    let trial = Trial::new("ExcelProcessor", params);
    references
        .iter()
        .zip(files)
        .fold(trial, |trial, (name, file)| trial.given(name, file.clone()))
}

fn run(params: Json, files: &[Json]) -> (Tried, Files) {
    with_scripted_files(excel(params, files), json!({"s": SALES, "p": PRICES}))
}

/// A workbook as a data URI.
fn workbook(sheets: Json) -> Json {
    let sheets = sheets.as_object().unwrap().iter().map(|(name, rows)| {
        let rows: Vec<Vec<Json>> = serde_json::from_value(rows.clone()).unwrap();
        let rows = rows
            .into_iter()
            .map(|row| row.into_iter().map(Value::from).collect());
        Sheet {
            name: name.clone(),
            rows: rows.collect(),
        }
    });
    let sheets: Vec<Sheet> = sheets.collect();
    let bytes = write_workbook(&sheets, &Limits::default()).unwrap();
    json!(FileContent::image("application/octet-stream", &bytes).rendered())
}

#[test]
fn rows_are_read_by_file() {
    let (tried, _) = run(
        json!({}),
        &[file("s", "sales.csv"), json!([file("p", "prices.csv")])],
    );
    assert_eq!(tried.warnings, [""; 0]);
    assert_eq!(
        tried.ports(),
        json!({
            "data": {
                "sales": [{"region": "North", "lamps": 512}, {"region": "South", "lamps": 256}],
                "prices": [{"region": "North", "price": 1.5}, {"region": "West", "price": 2}],
            },
            "summary": "**sales**: 2 rows, 2 columns (region, lamps)\n**prices**: 2 rows, 2 columns (region, price)",
            "markdown": "### sales\n\n| region | lamps |\n| --- | --- |\n| North | 512 |\n| South | 256 |\n\n\
                         ### prices\n\n| region | price |\n| --- | --- |\n| North | 1.5 |\n| West | 2 |\n",
        })
    );
}

#[test]
fn the_sheets_of_a_workbook_are_chosen_by_name() {
    let book =
        workbook(json!({"Q1": [["a", null, "a"], [1, 2, 3]], "Q2": [["b"], [true]], "Q3": []}));
    let keys = |selection: &str| {
        let (tried, _) = run(
            json!({"sheet_selection": selection}),
            std::slice::from_ref(&book),
        );
        let data = tried.port("data");
        data.as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys("all"), ["uploaded_Q1", "uploaded_Q2", "uploaded_Q3"]);
    assert_eq!(keys("first"), ["uploaded"]);
    assert_eq!(keys("q2, Q9"), ["uploaded"]);
    let (tried, _) = run(json!({"sheet_selection": "Q1"}), &[book]);
    assert_eq!(
        tried.port("data"),
        json!({"uploaded": [{"a": 1, "Unnamed: 1": 2, "a.1": 3}]})
    );
}

#[test]
fn without_files_that_is_said() {
    for nothing in [json!(null), json!("some text"), json!([]), json!(7)] {
        let (tried, _) = run(json!({}), &[nothing]);
        assert_eq!(
            tried.ports(),
            json!({"data": {}, "summary": "No Excel files found", "markdown": "No data"})
        );
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told_and_the_others_are_read() {
    let (tried, _) = run(
        json!({}),
        &[
            file("gone", "gone.xlsx"),
            json!("data:x;base64,AAAA"),
            file("s", "sales.csv"),
        ],
    );
    assert_eq!(
        tried.port("data"),
        json!({"sales": [{"region": "North", "lamps": 512}, {"region": "South", "lamps": 256}]})
    );
    let summary = tried.port("summary");
    let lines: Vec<&str> = summary.as_str().unwrap().lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1], "file \"gone\" does not exist.");
    assert!(
        lines[2].contains("uploaded.xlsx cannot be read as a workbook"),
        "{summary}"
    );
    assert_eq!(tried.warnings.len(), 2);
}

#[test]
fn what_was_uploaded_is_read_beside_the_text_that_a_form_has() {
    let params = json!({"input_files": ["begin@f", "sys.files"]});
    let turn = Turn {
        files: vec![Value::from(file("p", "prices.csv"))],
        ..Turn::default()
    };
    let trial = Trial::new("ExcelProcessor", params)
        .turn(turn)
        .given(
            "begin@f",
            json!(["File: sales.csv\nContent as following: \nregion,lamps"]),
        )
        .given("begin@_files", json!({"f": [file("s", "sales.csv")]}))
        .given(
            "sys.files",
            json!(["File: prices.csv\nContent as following: \nregion,price"]),
        );
    let (tried, _) = with_scripted_files(trial, json!({"s": SALES, "p": PRICES}));
    let data = tried.port("data");
    assert_eq!(
        data.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["sales", "prices"]
    );
}

#[test]
fn rows_are_merged_below_each_other() {
    let (tried, _) = run(
        json!({"operation": "merge"}),
        &[file("s", "a.csv"), file("p", "b.csv")],
    );
    assert_eq!(
        tried.port("data"),
        json!({"merged": [
            {"region": "North", "lamps": 512, "price": null},
            {"region": "South", "lamps": 256, "price": null},
            {"region": "North", "lamps": null, "price": 1.5},
            {"region": "West", "lamps": null, "price": 2},
        ]})
    );
    assert_eq!(
        tried.port("summary"),
        "Merged 2 tables. **merged**: 4 rows, 3 columns (region, lamps, price)"
    );
}

#[test]
fn rows_are_joined_on_a_column_and_none_is_lost() {
    let join =
        |column: &str| json!({"operation": "merge", "merge_strategy": "join", "join_on": column});
    let (tried, _) = run(
        join("region"),
        &[file("s", "a.csv"), file("p", "b.csv"), file("s", "c.csv")],
    );
    assert_eq!(
        tried.port("data"),
        json!({"merged": [
            {"region": "North", "lamps": 512, "price": 1.5, "lamps_3": 512},
            {"region": "South", "lamps": 256, "price": null, "lamps_3": 256},
            {"region": "West", "lamps": null, "price": 2, "lamps_3": null},
        ]})
    );
    let (tried, _) = run(join("lamps"), &[file("s", "a.csv"), file("p", "b.csv")]);
    assert_eq!(tried.port("data"), json!({}));
    assert_eq!(
        tried.port("summary"),
        "The table b has no column lamps to join on. It has: region, price."
    );
    let tried = excel(join(" "), &[]).run();
    assert!(
        tried
            .fault()
            .message
            .contains("`join_on` is not set. Name the column"),
        "{}",
        tried.fault()
    );
}

#[test]
fn a_join_that_would_explode_is_refused() {
    let rows = format!("k,v\n{}", "1,2\n".repeat(1_500));
    let trial = excel(
        json!({"operation": "merge", "merge_strategy": "join", "join_on": "k"}),
        &[file("r", "a.csv"), file("r", "b.csv")],
    );
    let (tried, _) = with_scripted_files(trial, json!({"r": rows}));
    assert!(
        tried
            .port("summary")
            .as_str()
            .unwrap()
            .contains("more than 1000000 cells")
    );
}

#[test]
fn data_of_other_nodes_becomes_tables() {
    let transform = |value: Json| {
        let trial = Trial::new(
            "ExcelProcessor",
            json!({"operation": "transform", "transform_data": "env.v"}),
        );
        trial.given("env.v", value).run().port("data")
    };
    assert_eq!(
        transform(json!([{"a": 1}, {"b": 2, "a": 3}])),
        json!({"data": [{"a": 1, "b": null}, {"a": 3, "b": 2}]})
    );
    assert_eq!(
        transform(json!({"x": [{"a": 1}], "y": [["h"], [2]]})),
        json!({"x": [{"a": 1}], "y": [{"h": 2}]})
    );
    assert_eq!(
        transform(json!({"a": [1, 2], "b": [3]})),
        json!({"data": [{"a": 1, "b": 3}, {"a": 2, "b": null}]})
    );
    assert_eq!(
        transform(json!("```json\n[{\"a\": 1}]\n```")),
        json!({"data": [{"a": 1}]})
    );
    let markdown = "## Sales\n\n| r | n |\n|---|--:|\n| a\\|b | 007 |\n| c | 1.5 |\n\ntext\n| x |\n|---|\n| 1 |";
    assert_eq!(
        transform(json!(markdown)),
        json!({"Sales": [{"r": "a|b", "n": "007"}, {"r": "c", "n": 1.5}], "Table_2": [{"x": 1}]})
    );
    assert_eq!(
        transform(json!({"a": 1, "b": [2]})),
        json!({"data": [{"a": 1, "b": [2]}]})
    );
    assert_eq!(
        transform(json!("words")),
        json!({"data": [{"value": "words"}]})
    );
    assert_eq!(transform(json!(null)), json!({}));
}

#[test]
fn a_workbook_is_written_and_offered() {
    let params =
        json!({"operation": "output", "transform_data": "env.v", "output_filename": "Lamps/2026"});
    let data = json!({"North": [{"n": 1, "t": "=1+1"}], "South": [{"n": 2.5, "t": null}]});
    let (tried, files) =
        with_files(Trial::new("ExcelProcessor", params).given("env.v", data.clone()));
    let attachment = tried.port("attachment");
    for (name, value) in [
        ("doc_id", "made-X/1"),
        ("format", "xlsx"),
        ("file_name", "Lamps 2026.xlsx"),
        ("url", "/files/made-X/1"),
    ] {
        assert_eq!(attachment[name], value);
    }
    assert_eq!(
        tried.port("summary"),
        "Wrote Lamps 2026.xlsx. **North**: 1 rows, 2 columns (n, t) **South**: 1 rows, 2 columns (n, t)"
    );
    let file = WorkbookFile {
        name: "l.xlsx".into(),
        bytes: files.made("made-X/1"),
    };
    let sheets = read_workbook(&file, &Limits::default()).unwrap();
    assert_eq!(
        (sheets[0].name.as_str(), sheets[1].name.as_str()),
        ("North", "South")
    );
    let rows = sheets[0]
        .rows
        .iter()
        .map(|row| Value::from(row.clone()).to_json());
    assert_eq!(
        Json::from(rows.collect::<Vec<_>>()),
        json!([["n", "t"], [1, "=1+1"]])
    );
    // A message makes a download of it.
    let message = Trial::new("Message", json!({"content": ["{E:E@attachment}"]}))
        .given("E:E@attachment", attachment)
        .run();
    assert_eq!(message.port("downloads")[0]["filename"], "Lamps 2026.xlsx");
}

#[test]
fn a_csv_file_holds_the_first_table() {
    let params = json!({"operation": "output", "output_format": "csv"});
    let (tried, files) = run(params, &[file("s", "a.csv"), file("p", "b.csv")]);
    assert_eq!(tried.port("attachment")["file_name"], "output.csv");
    let text = String::from_utf8(files.made("made-X/1")).unwrap();
    assert_eq!(text, "\u{feff}region,lamps\r\nNorth,512\r\nSouth,256\r\n");
    assert_eq!(
        tried.warnings,
        ["\"X\" writes the first of 2 tables: a CSV file holds one."]
    );
}

#[test]
fn nothing_to_write_writes_nothing() {
    let (tried, _) = run(json!({"operation": "output"}), &[]);
    assert_eq!(
        tried.ports(),
        json!({"data": {}, "summary": "No Excel files found", "markdown": "No data"})
    );
}

#[test]
fn a_file_that_cannot_be_written_is_a_failure() {
    let params = json!({"operation": "output", "transform_data": "env.v"});
    let tried = Trial::new("ExcelProcessor", params)
        .given("env.v", json!([{"a": 1}]))
        .run();
    assert_eq!(&*tried.fault().code, "tool.not_configured");
    assert!(
        tried
            .fault()
            .message
            .starts_with("\"X\" could not write its file: "),
        "{}",
        tried.fault()
    );
}
