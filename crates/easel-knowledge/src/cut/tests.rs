use easel_tools::ingestion::{BlockKind, HeadingCut, SizeCut};
use proptest::prelude::*;

use super::*;
use crate::blocks::blocks;
use crate::text::Text;
use crate::tokens::count;

fn of(markdown: &str) -> Vec<Block> {
    blocks(&Text {
        markdown: markdown.into(),
        ..Text::default()
    })
}

fn size(tokens: usize) -> SizeCut {
    SizeCut {
        tokens,
        overlap_percent: 0,
        delimiters: Vec::new(),
        always: Vec::new(),
        table_context: 0,
    }
}

fn headings(depth: usize) -> HeadingCut {
    let patterns = ["^#[^#]", "^##[^#]", "^###[^#]"];
    HeadingCut {
        levels: vec![patterns.iter().map(|p| (*p).to_owned()).collect()],
        depth,
        grouped: false,
        own_text_apart: false,
        root_heads: false,
        tokens: 512,
    }
}

fn pieces(markdown: &str, how: Cut, children: &[&str]) -> Vec<DocumentPiece> {
    let request = CutRequest {
        blocks: of(markdown),
        cut: how,
        children: children.iter().map(|c| (*c).to_owned()).collect(),
    };
    cut(&request).unwrap()
}

fn texts(markdown: &str, how: Cut) -> Vec<String> {
    let pieces = pieces(markdown, how, &[]).into_iter();
    pieces.map(|piece| piece.text).collect()
}

const GUIDE: &str =
    "Before all.\n\n# Guide\n\nAbout it.\n\n## Install\n\nGet it.\n\n## Use\n\nRun it.\n\n# End";

#[test]
fn a_document_can_stay_whole() {
    assert_eq!(texts("# A\n\nb\n\nc", Cut::Whole), ["# A\n\nb\n\nc"]);
}

#[test]
fn parts_between_delimiters_are_put_together_up_to_the_size() {
    let cut = SizeCut {
        delimiters: vec![";".into()],
        ..size(4)
    };
    let text = "one two;three;four five six;seven";
    assert_eq!(
        texts(text, Cut::Size(cut.clone())),
        ["one two;", "three;", "four five six;", "seven"]
    );
    let cut = SizeCut { tokens: 6, ..cut };
    assert_eq!(
        texts(text, Cut::Size(cut)),
        ["one two;three;", "four five six;seven"]
    );
}

#[test]
fn a_part_that_is_repeated_leaves_room_for_the_next() {
    let cut = SizeCut {
        delimiters: vec![";".into()],
        overlap_percent: 50,
        ..size(6)
    };
    assert_eq!(
        texts("a b;c d;e f;g h;", Cut::Size(cut)),
        ["a b;c d;", "c d;e f;", "e f;g h;"]
    );
}

#[test]
fn a_delimiter_that_always_cuts_is_left_out() {
    let cut = SizeCut {
        always: vec!["==".into()],
        ..size(512)
    };
    let found = pieces("# Top\n\na == b\n\n== c", Cut::Size(cut), &[]);
    let told: Vec<_> = found
        .iter()
        .map(|piece| (&*piece.text, &*piece.heading))
        .collect();
    assert_eq!(told, [("# Top\n\na", ""), ("b", "Top"), ("c", "Top")]);
}

#[test]
fn a_table_takes_the_sentences_around_it_along() {
    let text = "Far away. The prices follow.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nThey are net. Ask us.";
    let cut = SizeCut {
        table_context: 5,
        ..size(512)
    };
    let found = pieces(text, Cut::Size(cut), &[]);
    assert_eq!(found.len(), 3);
    assert_eq!(found[1].kind, BlockKind::Table);
    assert_eq!(
        found[1].text,
        "The prices follow.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nThey are net."
    );
}

#[test]
fn parts_for_search_know_the_whole_piece() {
    let found = pieces("One. Two.", Cut::Size(size(512)), &["."]);
    let told: Vec<_> = found
        .iter()
        .map(|piece| (&*piece.text, piece.whole.as_deref()))
        .collect();
    assert_eq!(
        told,
        [("One", Some("One. Two.")), ("Two", Some("One. Two."))]
    );
}

#[test]
fn a_section_has_the_headings_above_it_and_what_stands_below_those() {
    assert_eq!(
        texts(GUIDE, Cut::Headings(headings(2))),
        [
            "Before all.",
            "# Guide\nAbout it.\n## Install\nGet it.",
            "# Guide\nAbout it.\n## Use\nRun it.",
            "# End",
        ]
    );
    assert_eq!(
        texts(GUIDE, Cut::Headings(headings(1))),
        [
            "Before all.",
            "# Guide\nAbout it.\n## Install\nGet it.\n## Use\nRun it.",
            "# End",
        ]
    );
}

#[test]
fn what_stands_below_a_heading_can_be_a_piece_of_its_own() {
    let cut = HeadingCut {
        own_text_apart: true,
        ..headings(2)
    };
    assert_eq!(
        texts(GUIDE, Cut::Headings(cut)),
        [
            "Before all.",
            "# Guide\nAbout it.",
            "# Guide\n## Install\nGet it.",
            "# Guide\n## Use\nRun it.",
            "# End",
        ]
    );
}

#[test]
fn what_stands_before_the_first_heading_can_head_all() {
    let cut = HeadingCut {
        root_heads: true,
        ..headings(1)
    };
    let found = texts(GUIDE, Cut::Headings(cut));
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|text| text.starts_with("Before all.\n# ")),
        "{found:?}"
    );
}

#[test]
fn small_sections_are_grouped() {
    let cut = HeadingCut {
        grouped: true,
        ..headings(2)
    };
    assert_eq!(texts(GUIDE, Cut::Headings(cut.clone())).len(), 1);
    let long = "word ".repeat(40);
    let text = format!("# A\n\n{long}\n\n# B\n\n{long}");
    assert_eq!(texts(&text, Cut::Headings(cut)).len(), 2);
}

#[test]
fn a_section_above_the_limit_becomes_several_that_know_their_headings() {
    let text = format!("# Guide\n\n## Install\n\n{}", "Do this now. ".repeat(100));
    let cut = HeadingCut {
        tokens: 128,
        ..headings(2)
    };
    let found = pieces(&text, Cut::Headings(cut), &[]);
    assert!(found.len() > 2 && found.iter().all(|piece| count(&piece.text) <= 128));
    assert!(
        found[1..]
            .iter()
            .all(|piece| piece.heading == "Guide > Install")
    );
}

#[test]
fn what_repeats_without_end_is_refused() {
    let request = CutRequest {
        blocks: of(&"word;".repeat(1 << 18)),
        cut: Cut::Whole,
        children: vec![";".into()],
    };
    let refused = cut(&request).unwrap_err().to_string();
    assert!(refused.contains("repeat less"), "{refused}");
}

#[test]
fn too_many_pieces_are_refused_before_they_are_made() {
    let words = "word ".repeat(PIECES + 1);
    for how in [
        Cut::Size(size(1)),
        Cut::Headings(HeadingCut {
            tokens: 1,
            ..headings(1)
        }),
    ] {
        let request = CutRequest {
            blocks: of(&words),
            cut: how,
            children: Vec::new(),
        };
        let refused = cut(&request).unwrap_err().to_string();
        assert!(refused.contains("more than 100000 pieces"), "{refused}");
    }
}

proptest! {
    #[test]
    fn no_word_is_lost(words in prop::collection::vec("[a-z]{1,8}|[.;]|\n|\n\n# [a-z]{1,5}\n|\n\n\\| a \\|\n\\|---\\|\n", 0..60), tokens in 1_usize..40) {
        let text = words.join(" ");
        let letters = |text: &str| text.split(|c: char| !c.is_ascii_lowercase()).filter(|w| !w.is_empty()).map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let all = letters(&text);
        let delimited = SizeCut { delimiters: vec![";".into()], ..size(tokens.max(8)) };
        let grouped = HeadingCut { grouped: true, tokens: tokens.max(8), ..headings(1) };
        for how in [Cut::Whole, Cut::Size(size(tokens.max(8))), Cut::Size(delimited), Cut::Headings(headings(2)), Cut::Headings(grouped)] {
            let found = texts(&text, how.clone()).join(" ");
            prop_assert_eq!(&letters(&found), &all, "{:?}", how);
        }
    }
}
