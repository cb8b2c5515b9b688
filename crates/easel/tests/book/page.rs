//! A page of the book as sections of blocks.

/// What stands under one `##`.
#[derive(Debug, Default)]
pub struct Section {
    /// The words behind `##`; none before the first.
    pub heading: String,
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
}

/// A block of code.
#[derive(Debug)]
pub struct Block {
    /// The first word behind the fence.
    pub language: String,
    /// The other words behind the fence.
    attributes: Vec<String>,
    /// The text inside.
    pub text: String,
    /// Whether nothing but blank lines stands between it and the block before.
    pub follows: bool,
}

impl Block {
    /// The value of `name=value` behind the fence.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut all = self
            .attributes
            .iter()
            .filter_map(|word| word.split_once('='));
        all.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Whether a word stands behind the fence.
    pub fn is(&self, word: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute == word)
    }
}

/// The sections of a page.
pub fn sections(text: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut lines = text.lines();
    let mut follows = false;
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push(Section {
                heading: heading.to_owned(),
                blocks: Vec::new(),
            });
        }
        let Some(info) = line.strip_prefix("```") else {
            follows &= line.trim().is_empty();
            continue;
        };
        let mut words = info.split_whitespace().map(str::to_owned);
        let language = words.next().unwrap_or_default();
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some(section) = sections.last_mut() {
            section.blocks.push(Block {
                language,
                attributes: words.collect(),
                text: text.join("\n"),
                follows,
            });
        }
        follows = true;
    }
    sections
}
