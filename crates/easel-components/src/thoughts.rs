//! Thoughts in the text of a model: what stands between `<think>` and `</think>` (spec/canvas-components §3.1).

/// How thoughts begin and end.
pub(crate) const THINK_START: &str = "<think>";
pub(crate) const THINK_END: &str = "</think>";

/// A text as a document has it: without thoughts, also those that do not end, and with one empty line where there were several.
pub(crate) fn without_thoughts(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, thoughts)) = rest.split_once(THINK_START) {
        said.push_str(before);
        rest = thoughts
            .split_once(THINK_END)
            .map_or("", |(_, behind)| behind);
    }
    said.push_str(rest);
    let mut lines = String::with_capacity(said.len());
    let mut breaks = 0;
    for c in said.trim().chars() {
        breaks = if c == '\n' { breaks + 1 } else { 0 };
        if breaks <= 2 {
            lines.push(c);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_no_part_of_a_document() {
        assert_eq!(
            without_thoughts("<think>hm</think>\n\n# T\n\n\n\n\nx"),
            "# T\n\nx"
        );
        assert_eq!(without_thoughts("a <think>b</think> c <think>d"), "a  c");
        assert_eq!(without_thoughts("no thoughts"), "no thoughts");
    }
}
