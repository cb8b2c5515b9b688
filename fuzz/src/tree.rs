//! Changes to JSON that leave it JSON: byte by byte, hardly any change of a canvas can still be read.

use serde_json::{Map, Value as Json, json};

/// Texts that mean something in a canvas.
const TEXTS: [&str; 24] = [
    "",
    "sys.query",
    "{sys.query}",
    "{sys.files}",
    "env.x",
    "item",
    "{begin@a}",
    "{Agent:A@content.0}",
    "{{ sys.query | upper }}",
    "{% for x in sys.history %}{{ x }}{% endfor %}",
    "Begin",
    "Message",
    "Switch",
    "Categorize",
    "Iteration",
    "IterationItem",
    "Loop",
    "LoopItem",
    "ExitLoop",
    "UserFillUp",
    "Answer",
    "goto",
    "comment",
    "${KEY}",
];

/// Changes JSON text in `data` and gives its new length; `None` if it is none, or would no longer fit.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> Option<usize> {
    let mut tree: Json = serde_json::from_slice(data.get(..size)?).ok()?;
    let mut dice = Dice(u64::from(seed) << 1 | 1);
    for _ in 0..=dice.below(3) {
        let donor = dice.place(&tree).clone();
        change(dice.place_mut(&mut tree), donor, &mut dice);
    }
    let text = serde_json::to_vec(&tree).ok()?;
    let most = most.min(data.len());
    data.get_mut(..text.len())
        .filter(|room| room.len() <= most)?
        .copy_from_slice(&text);
    Some(text.len())
}

/// Changes one value. `donor` is another of the same tree.
fn change(value: &mut Json, donor: Json, dice: &mut Dice) {
    match (dice.below(8), value) {
        (0..=2, Json::Object(members)) => change_members(members, donor, dice),
        (0..=2, Json::Array(items)) => change_items(items, donor, dice),
        (0, Json::String(text)) => text.push_str(TEXTS[dice.below(TEXTS.len())]),
        (1 | 2, value @ Json::String(_)) => *value = TEXTS[dice.below(TEXTS.len())].into(),
        (0..=5, value) => *value = donor,
        (_, value) => *value = scalar(dice),
    }
}

fn change_members(members: &mut Map<String, Json>, donor: Json, dice: &mut Dice) {
    let at = dice.below(members.len().max(1));
    let Some(name) = members.keys().nth(at).cloned() else {
        return;
    };
    match (dice.below(4), donor) {
        (0, _) => drop(members.shift_remove(&name)),
        // A name becomes another: an id, a parameter.
        (1, Json::String(other)) => {
            let value = members.shift_remove(&name).unwrap_or_default();
            members.insert(other, value);
        }
        (2, donor) => drop(members.insert(TEXTS[dice.below(TEXTS.len())].to_owned(), donor)),
        (_, donor) => drop(members.insert(name, donor)),
    }
}

fn change_items(items: &mut Vec<Json>, donor: Json, dice: &mut Dice) {
    let at = dice.below(items.len() + 1);
    match dice.below(3) {
        0 if at < items.len() => drop(items.remove(at)),
        1 if at < items.len() => items.insert(at, items[at].clone()),
        _ => items.insert(at, donor),
    }
}

fn scalar(dice: &mut Dice) -> Json {
    let numbers = [0, 1, -1, 2, 100, i64::MAX, i64::MIN];
    match dice.below(8) {
        0 => Json::Null,
        1 => true.into(),
        2 => 0.5.into(),
        3 => json!([]),
        4 => json!({}),
        _ => numbers[dice.below(numbers.len())].into(),
    }
}

/// Choices that follow from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    /// Some value of a tree.
    fn place<'t>(&mut self, tree: &'t Json) -> &'t Json {
        let inside = match tree {
            Json::Object(members) => members.values().nth(self.below(members.len())),
            Json::Array(items) => items.get(self.below(items.len())),
            _ => None,
        };
        match inside {
            Some(inside) if self.below(6) > 0 => self.place(inside),
            _ => tree,
        }
    }

    fn place_mut<'t>(&mut self, tree: &'t mut Json) -> &'t mut Json {
        let count = match tree {
            Json::Object(members) => members.len(),
            Json::Array(items) => items.len(),
            _ => 0,
        };
        if count == 0 || self.below(6) == 0 {
            return tree;
        }
        let at = self.below(count);
        let inside = match tree {
            Json::Object(members) => members.values_mut().nth(at),
            Json::Array(items) => items.get_mut(at),
            _ => None,
        };
        match inside {
            Some(inside) => self.place_mut(inside),
            None => unreachable!("it was counted"),
        }
    }
}
