//! Web pages as text and as Markdown.
#![no_main]

use easel_runtime::tools::html::{clean_html, markdown};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|page: &str| {
    let text = clean_html(page);
    assert!(text.lines().all(|line| !line.trim().is_empty()), "{text:?}");
    // A cell is set off by three bytes and its tag has four; a reference to a character is longer than the character.
    assert!(text.len() <= 3 * page.len(), "more came out than went in");
    let marked = markdown(page, "https://a.example/page");
    assert!(!marked.starts_with('\n') && !marked.ends_with('\n'), "{marked:?}");
    assert!(marked.len() <= (2 << 20) + 3 * page.len(), "addresses fill the memory");
});
