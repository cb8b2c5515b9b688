use serde_json::{Value as Json, json};

use crate::testing::{Trial, with_files};
use crate::turn::Turn;

fn params(more: Json) -> Json {
    let mut params = json!({"content": "# Report\n\n{Agent:A@content}"});
    if let (Some(params), Some(more)) = (params.as_object_mut(), more.as_object()) {
        params.extend(more.clone());
    }
    params
}

fn trial(more: Json) -> Trial {
    let text = json!("<think>let me see</think>Sales rose by **7 %**.");
    Trial::new("DocGenerator", params(more)).given("Agent:A@content", text)
}

#[test]
fn a_document_is_made_kept_and_described_for_a_message() {
    let (tried, files) = with_files(trial(json!({"filename": "Q2: report"})));
    assert_eq!(tried.warnings, [""; 0]);
    let bytes = files.made("made-X/1");
    assert!(bytes.starts_with(b"%PDF-"));
    let mut ports = tried.ports();
    let download: Json = serde_json::from_str(ports["download"].as_str().unwrap()).unwrap();
    assert_eq!(
        download,
        json!({"doc_id": "made-X/1", "filename": "Q2 report.pdf", "mime_type": "application/pdf", "size": bytes.len(),
            "url": "/files/made-X/1", "preview_url": "", "include_download_info_in_content": false})
    );
    ports.as_object_mut().unwrap().remove("download");
    assert_eq!(
        ports,
        json!({"doc_id": "made-X/1", "filename": "Q2 report.pdf", "mime_type": "application/pdf", "size": bytes.len(),
            "url": "/files/made-X/1"})
    );
    let message = Trial::new("Message", json!({"content": ["Here: {Doc:D@download}"]}));
    let message = message
        .given("Doc:D@download", json!(download.to_string()))
        .run();
    assert_eq!(message.port("content"), "Here: ");
    assert_eq!(message.port("downloads")[0]["filename"], "Q2 report.pdf");
}

#[test]
fn thoughts_of_a_model_are_no_part_of_a_document_and_the_time_is() {
    let (tried, files) = with_files(trial(json!({"output_format": "md", "filename": "r"})));
    assert_eq!(tried.port("filename"), "r.md");
    assert_eq!(tried.port("mime_type"), "text/markdown");
    let text = String::from_utf8(files.made("made-X/1")).unwrap();
    let (time, text) = text.split_once("\n\n").unwrap();
    assert!(time.starts_with("Generated: 2026-01-0"), "{time}");
    assert_eq!(text, "# Report\n\nSales rose by **7 %**.");
    let (_, files) = with_files(trial(
        json!({"output_format": "markdown", "add_timestamp": false}),
    ));
    assert!(files.made("made-X/1").starts_with(b"# Report"));
}

#[test]
fn a_secret_is_masked_in_files_as_everywhere() {
    let said = |trial: Trial| {
        let (tried, files) = with_files(
            trial
                .knowing("KEY", "sesame-123")
                .given("env.v", json!("It is sesame-123.")),
        );
        assert!(tried.result.is_ok());
        String::from_utf8(files.made("made-X/1")).unwrap()
    };
    let document = json!({"content": "{env.v}", "output_format": "txt", "filename": "{env.v}"});
    let message = json!({"content": ["{env.v}"], "output_format": "markdown"});
    let sheet = json!({"operation": "output", "output_format": "csv", "transform_data": "env.v"});
    for (component, params) in [
        ("DocGenerator", document),
        ("Message", message),
        ("ExcelProcessor", sheet),
    ] {
        let text = said(Trial::new(component, params));
        assert!(
            text.contains("It is ") && !text.contains("sesame"),
            "{component}: {text}"
        );
    }
}

#[test]
fn every_format_is_made() {
    for (format, start) in [
        ("pdf", "%PDF-"),
        ("docx", "PK"),
        ("html", "<!DOCTYPE html>"),
        ("txt", "Generated: "),
    ] {
        let whole = json!({"output_format": format, "header_text": "Above {sys.query}", "footer_text": "Below", "watermark_text": "DRAFT",
            "font_size": 14, "add_page_numbers": true});
        let (tried, files) = with_files(trial(whole));
        assert!(
            tried.port("filename").as_str().unwrap().ends_with(format),
            "{format}"
        );
        assert!(
            files.made("made-X/1").starts_with(start.as_bytes()),
            "{format}"
        );
    }
    let (_, files) = with_files(
        trial(json!({"output_format": "html", "header_text": "For {sys.query}"}))
            .given("sys.query", json!("Ada & Co")),
    );
    let page = String::from_utf8(files.made("made-X/1")).unwrap();
    assert!(page.contains("<header>For Ada &amp; Co</header>"), "{page}");
}

#[test]
fn a_document_without_a_name_gets_one_of_its_own() {
    let (tried, _) = with_files(trial(json!({"filename": " / "})).random(0xabc));
    let name = tried.port("filename");
    let name = name.as_str().unwrap();
    assert!(
        name.starts_with("document_2026010") && name.ends_with("_00000abc.pdf"),
        "{name}"
    );
}

#[test]
fn characters_that_no_font_has_are_warned_about() {
    let trial = Trial::new("DocGenerator", json!({"content": "{sys.query}"}))
        .given("sys.query", json!("报告"));
    let (tried, _) = with_files(trial);
    assert_eq!(tried.warnings.len(), 1);
    assert!(
        tried.warnings[0].contains("fonts-noto-cjk"),
        "{:?}",
        tried.warnings
    );
}

#[test]
fn a_document_that_cannot_be_made_fails_with_the_cause() {
    let tried = trial(json!({})).turn(Turn::default()).run();
    assert_eq!(&*tried.fault().code, "tool.not_configured");
    assert_eq!(
        &*tried.fault().message,
        "Document generation failed in \"X\": no document maker is configured: connect a document maker."
    );
    let long = json!({"content": "x".repeat(5 << 20)});
    let (tried, _) = with_files(Trial::new("DocGenerator", long));
    assert!(
        tried
            .fault()
            .message
            .contains("4194304 are the limit; make several documents of it"),
        "{}",
        tried.fault()
    );
}
