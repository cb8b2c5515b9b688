//! Files that a run makes, as people find them.

use serde_json::json;

use crate::easel::{Desk, canvas};

/// Makes a document of what is said, and offers the answer as a file, too.
fn writer() -> serde_json::Value {
    let document = json!({"content": "# For {sys.query}\n\n| a | b |\n|---|---|\n| 1 | 2 |", "filename": "For {sys.query}",
        "watermark_text": "DRAFT"});
    let message =
        json!({"content": ["Here it is. {DocGenerator:D@download}"], "output_format": "docx"});
    canvas(&[
        ("begin", "Begin", json!({}), &["DocGenerator:D"]),
        ("DocGenerator:D", "PDFGenerator", document, &["Message:M"]),
        ("Message:M", "Message", message, &[]),
    ])
}

#[test]
fn a_run_writes_its_files_into_a_folder_and_says_so() {
    let desk = Desk::new();
    desk.json("a.json", &writer());
    let ran = desk.easel(&["run", "a.json", "Ada/Grace", "--downloads", "out"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out.trim(), "Here it is.");
    let out = desk.path("out");
    let told = |name: &str| format!("Wrote {}", std::path::Path::new("out").join(name).display());
    assert!(ran.err.contains(&told("For Ada Grace.pdf")), "{}", ran.err);
    assert!(ran.err.contains(&told("Here it is.docx")), "{}", ran.err);
    assert!(
        std::fs::read(out.join("For Ada Grace.pdf"))
            .unwrap()
            .starts_with(b"%PDF-")
    );
    assert!(
        std::fs::read(out.join("Here it is.docx"))
            .unwrap()
            .starts_with(b"PK")
    );
    let again = desk.easel(&["run", "a.json", "Ada/Grace", "--downloads", "out", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    let downloads = &told["outputs"]["Message:M"]["downloads"];
    assert_eq!(downloads[0]["filename"], "For Ada Grace (2).pdf", "{told}");
}

#[test]
fn a_workbook_that_is_handed_in_is_read_and_written_again() {
    let desk = Desk::new();
    desk.write("sales.csv", "region;lamps\nNorth;512\nSouth;007\n");
    desk.json(
        "a.json",
        &canvas(&[
            ("begin", "Begin", json!({}), &["Read"]),
            ("Read", "ExcelProcessor", json!({"input_files": ["sys.files"]}), &["Write"]),
            (
                "Write",
                "ExcelProcessor",
                json!({"operation": "output", "transform_data": "Read@data", "output_filename": "copy"}),
                &["Message:M"],
            ),
            ("Message:M", "Message", json!({"content": ["{Read@markdown}{Write@attachment}"]}), &[]),
        ]),
    );
    let run = |file: &str| {
        let ran = desk.easel(&["run", "a.json", "x", "--file", file]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out
    };
    let rows = "| region | lamps |\n| --- | --- |\n| North | 512 |\n| South | 007 |";
    assert!(run("sales.csv").contains(rows));
    assert!(desk.path("downloads").join("copy.xlsx").exists());
    assert!(
        run("downloads/copy.xlsx").contains(rows),
        "what was written is read"
    );
}

#[test]
fn a_document_is_not_made_twice_however_often_the_run_is_killed() {
    let desk = Desk::new();
    desk.json("a.json", &writer());
    let tested = desk.easel(&["crash-test", "a.json", "--say", "Ada", "--every-event"]);
    assert_eq!(tested.code, 0, "{}{}", tested.out, tested.err);
}
