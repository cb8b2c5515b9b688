//! Web pages as text.
#![no_main]

use easel_runtime::tools::html::clean_html;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|page: &str| {
    let text = clean_html(page);
    assert!(text.lines().all(|line| !line.trim().is_empty()), "{text:?}");
    // A cell is set off by three bytes and its tag has four; a reference to a character is longer than the character.
    assert!(text.len() <= 3 * page.len(), "more came out than went in");
});
