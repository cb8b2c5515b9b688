use super::*;
use proptest::prelude::*;

fn text(markdown: &str) -> Text {
    Text {
        markdown: markdown.into(),
        ..Text::default()
    }
}

fn cut(markdown: &str, tokens: usize, overlap_percent: usize) -> Vec<Chunk> {
    let chunking = Chunking {
        tokens,
        overlap_percent,
    };
    chunks(&text(markdown), chunking)
}

fn sentences(from: usize, to: usize) -> String {
    let sentence = |n| format!("Sentence {n} says a little more than the one before.");
    (from..to).map(sentence).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_passage_knows_the_headings_above_it() {
    let guide = format!(
        "# Guide\n\n{}\n\n## Install\n\n{}\n\n## Use\n\n{}",
        sentences(0, 3),
        sentences(3, 6),
        sentences(6, 9)
    );
    let paths: Vec<_> = cut(&guide, 64, 0).into_iter().map(|c| c.heading).collect();
    assert_eq!(paths, ["Guide", "Guide > Install", "Guide > Use"]);
}

#[test]
fn a_heading_stays_with_what_stands_below_it() {
    let guide = format!("{}\n\n# Next\n\n{}", sentences(0, 5), sentences(5, 9));
    let cut = cut(&guide, 64, 0);
    assert!(cut.iter().all(|c| !c.text.trim_end().ends_with("# Next")));
    assert!(
        cut.iter()
            .any(|c| c.text.starts_with("# Next") && c.heading == "Next")
    );
}

#[test]
fn short_sections_share_a_passage() {
    let cut = cut("# A\n\none\n\n# B\n\ntwo", 64, 0);
    assert_eq!(cut.len(), 1);
    assert_eq!(cut[0].heading, "A");
}

#[test]
fn the_next_passage_repeats_the_end_of_the_last_one_if_told_so() {
    let cut = cut(&sentences(0, 30), 100, 25);
    assert!(cut.len() > 2);
    for pair in cut.windows(2) {
        assert!(pair[1].place.start < pair[0].place.end, "nothing repeated");
        let repeated = count(&sentences(0, 30)[pair[1].place.start..pair[0].place.end]);
        assert!((1..=25).contains(&repeated), "{repeated}");
    }
}

#[test]
fn a_table_is_cut_between_its_rows_and_its_head_is_repeated() {
    let rows: String = (0..40)
        .map(|n| format!("| row {n} | value {n} |\n"))
        .collect();
    let table = format!("| name | value |\n| --- | --- |\n{rows}");
    let cut = cut(&table, 80, 20);
    assert!(cut.len() > 2);
    for chunk in &cut {
        assert!(
            chunk.text.starts_with("| name | value |\n| --- | --- |"),
            "{}",
            chunk.text
        );
        assert!(chunk.text.ends_with('|'));
        assert!(count(&chunk.text) <= 80);
    }
}

#[test]
fn chinese_is_cut_at_its_sentences() {
    let text = "知识库保存文档的段落。".repeat(20);
    for chunk in cut(&text, 40, 0) {
        assert!(chunk.text.ends_with('。'), "{}", chunk.text);
    }
}

#[test]
fn a_passage_knows_its_page() {
    let markdown = format!("{}\n\n{}", sentences(0, 4), sentences(4, 8));
    let second = sentences(0, 4).len() + 2;
    let text = Text {
        markdown,
        pages: vec![0, second],
        ..Text::default()
    };
    let chunking = Chunking {
        tokens: 48,
        overlap_percent: 0,
    };
    let pages: Vec<_> = chunks(&text, chunking).iter().map(|c| c.page).collect();
    assert_eq!(pages, [Some(1), Some(2)]);
}

#[test]
fn code_is_no_heading() {
    let cut = cut("# A\n\n```sh\n# a comment\nls\n```\n", 64, 0);
    assert_eq!(cut[0].heading, "A");
    assert_eq!(cut.len(), 1);
}

#[test]
fn settings_out_of_bounds_are_refused_with_the_bounds() {
    let bad = Chunking {
        tokens: 8,
        overlap_percent: 0,
    };
    assert_eq!(
        bad.check().unwrap_err().to_string(),
        "chunk tokens cannot be used: 8 is not from 32 to 8192"
    );
    let bad = Chunking {
        tokens: 512,
        overlap_percent: 80,
    };
    assert!(bad.check().is_err());
}

/// Visible characters of a text that lie in no passage.
fn lost(text: &str, chunks: &[Chunk]) -> String {
    let covered = |at| chunks.iter().any(|c| c.place.contains(&at));
    let lost = text
        .char_indices()
        .filter(|(at, c)| !c.is_whitespace() && !covered(*at));
    lost.map(|(_, c)| c).collect()
}

proptest! {
    #[test]
    fn passages_cover_the_text_in_order_within_the_limit(
        markdown in "(#{1,3} [a-zé]{1,9}\n|[a-z]{1,40}[ .]|[。中文]{1,20}|\n\n|\n|\\| [a-z]{1,9} \\|\n|\\|---\\|\n|```\n){0,120}",
        tokens in 32_usize..90,
        overlap in 0_usize..=50,
    ) {
        let cut_once = cut(&markdown, tokens, overlap);
        prop_assert_eq!(lost(&markdown, &cut_once), "");
        prop_assert!(cut_once.iter().all(|c| count(&c.text) <= tokens));
        prop_assert!(cut_once.windows(2).all(|p| p[0].place.start < p[1].place.start && p[0].place.end < p[1].place.end));
        prop_assert_eq!(cut(&markdown, tokens, overlap), cut_once);
    }

    #[test]
    fn any_text_can_be_cut(markdown in any::<String>()) {
        prop_assert_eq!(lost(&markdown, &cut(&markdown, 32, 10)), "");
    }
}
