use proptest::prelude::*;

use super::*;

fn of(html: &str) -> String {
    markdown(html, "https://a.example/dir/page")
}

#[test]
fn a_page_keeps_its_headings_lists_links_and_code() {
    let page = "<html><head><title>T</title><script>x</script></head><body><nav><a href=/>Home</a></nav>\
        <h1>The  <i>Sun</i></h1><p>It is a <b>star</b>, see <a href='../moon?x=1#y'> the moon</a>.</p>\
        <ul><li>one<ul><li>inner</ul><li>two</ul><ol><li>first<li>second</ol>\
        <blockquote><p>Light!</p></blockquote><pre>def f():\n    return 1\n</pre><p>Run <code>f()</code>.<br>Done. \
        <img src=sun.png alt='A [sun]'><img src=x.png></p><hr><footer>(c)</footer></body></html>";
    assert_eq!(
        of(page),
        "# The *Sun*\n\nIt is a **star**, see [the moon](https://a.example/moon?x=1#y).\n\n\
         - one\n  - inner\n- two\n\n1. first\n2. second\n\n> Light!\n\n\
         ```\ndef f():\n    return 1\n```\n\nRun `f()`.\nDone. ![A sun](https://a.example/dir/sun.png)\n\n---"
    );
}

#[test]
fn a_table_has_its_rows() {
    let page = "<p>Before</p><table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td><p>3</p><p>4</p></td></tr></table><p>After</p>";
    assert_eq!(
        of(page),
        "Before\n\n| a | b |\n| --- | --- |\n| 1\\|2 | 3 4 |\n\nAfter"
    );
}

#[test]
fn of_a_page_with_a_main_part_that_is_what_it_says() {
    let words = "word ".repeat(40);
    let page = format!("<div>Sign in</div><main><h2>Title</h2><p>{words}</p></main><div>Ads</div>");
    assert_eq!(of(&page), format!("## Title\n\n{}", words.trim()));
    let short = "<div>All there is.</div><main>x</main>";
    assert_eq!(of(short), "All there is.\nx");
}

#[test]
fn links_that_lead_nowhere_are_words() {
    let page = "<a href='javascript:alert(1)'>a</a> <a href='#top'>b</a> <a>c</a> <a href='http://['>d</a> <a href='data:x'>e</a>";
    assert_eq!(of(page), "a b c d e");
    assert_eq!(markdown("<a href=y>y</a>", "no address"), "y");
    assert_eq!(
        of("<base href='http://b.example/x/'><a href=y>y</a>"),
        "[y](http://b.example/x/y)"
    );
}

#[test]
fn pages_that_never_close_their_tags_are_read_to_the_end() {
    for piece in [
        "<div>",
        "<b><p>",
        "<table><td>",
        "<ul><li>",
        "<blockquote>",
        "<a href=x>",
        "<pre>",
        "</div>",
        "<h1>",
        "<tr>",
        "<main>",
        "<svg/>",
    ] {
        let page = piece.repeat(5_000) + "end";
        let read = of(&page);
        assert!(read.contains("end"), "{piece}");
    }
    for piece in ["<nav>", "<script>", "<!--", "<a b='"] {
        assert_eq!(of(&(piece.repeat(5_000) + "end")), "", "{piece}");
    }
}

#[test]
fn a_page_that_says_a_long_address_over_and_over_is_not_read_on() {
    let base = format!("<base href='http://b.example/{}/'>", "x".repeat(1_900));
    for link in [
        "<a href=y>y</a> ",
        "<p><a href=y>y</a>",
        "<table><tr><td><a href=y>y</a>",
        "<img src=y alt=y>",
    ] {
        let read = of(&(base.clone() + &link.repeat(10_000)));
        assert!(read.len() < LONGEST + 10_000, "{link}: {}", read.len());
    }
    let longer = format!("<a href='/{}'>words</a>", "x".repeat(ADDRESS));
    assert_eq!(of(&longer), "words");
}

proptest! {
    #[test]
    fn any_text_is_a_page(html in "(</?(p|a href=b|li|ul|ol|pre|td|tr|table|h2|b|i|code|blockquote|main|nav|br|hr|img alt=x src=y)>|[ a-z\n&;|*]{0,5}|<!|-->|[äß<>])*") {
        let text = of(&html);
        prop_assert!(!text.starts_with('\n') && !text.ends_with('\n'));
    }
}
