//! Names that are spelled alike: for "did you mean".

/// The most a name may be long to be compared, in characters: what is longer is no slip of the pen.
const LONGEST: usize = 64;

/// The name among those known that is spelled most like one, if any is close: at most a third of its letters differ.
pub(crate) fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    if letters.is_empty() || letters.len() > LONGEST {
        return None;
    }
    let nearest = known
        .into_iter()
        .filter(|other| *other != name)
        .map(|other| (distance(&letters, other), other))
        .min_by_key(|(distance, _)| *distance)?;
    (nearest.0 * 3 <= letters.len().max(2)).then_some(nearest.1)
}

/// How many letters must be put in, taken out, replaced or swapped with their neighbour.
fn distance(letters: &[char], other: &str) -> usize {
    let other: Vec<char> = other.chars().flat_map(char::to_lowercase).collect();
    if other.len() > LONGEST {
        return usize::MAX / 4;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in letters.iter().enumerate() {
        let mut here = vec![row + 1];
        for (column, theirs) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != theirs);
            let mut least = replaced.min(last[column + 1] + 1).min(here[column] + 1);
            let swapped = row > 0
                && column > 0
                && letters[row - 1] == *theirs
                && *letter == other[column - 1];
            if swapped {
                least = least.min(before[column - 1] + 1);
            }
            here.push(least);
        }
        before = std::mem::replace(&mut last, here);
    }
    last.last().copied().unwrap_or(usize::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_its_name() {
        let known = ["topic", "toppings", "n"];
        assert_eq!(similar("topik", known), Some("topic"));
        assert_eq!(similar("tpoic", known), Some("topic"));
        assert_eq!(similar("Topic", known), Some("topic"));
        assert_eq!(similar("cats", known), None);
        assert_eq!(similar("", known), None);
        assert_eq!(similar(&"x".repeat(500), known), None);
    }
}
