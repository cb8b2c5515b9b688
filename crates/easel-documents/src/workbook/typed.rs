//! Text that is a number.

use easel_core::Value;

/// Digits that a spreadsheet keeps of a number.
const DIGITS: usize = 15;

/// The number that a text is: whole or decimal, with commas between thousands if those are allowed. A text with a zero in
/// front is a code (`007`), and one with more digits than a spreadsheet keeps is, too.
pub(crate) fn number_of(text: &str, thousands: bool) -> Option<Value> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let ungrouped = match thousands && whole.contains(',') {
        true => ungrouped(whole)?,
        false => whole.to_owned(),
    };
    let count = ungrouped.len() + fraction.map_or(0, str::len);
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let fits = all_digits(&ungrouped)
        && fraction.is_none_or(all_digits)
        && (ungrouped == "0" || !ungrouped.starts_with('0'))
        && count <= DIGITS;
    if !fits {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    match fraction {
        None => format!("{sign}{ungrouped}")
            .parse::<i64>()
            .ok()
            .map(Value::from),
        Some(fraction) => {
            let number = format!("{sign}{ungrouped}.{fraction}").parse::<f64>();
            number.ok().map(Value::from)
        }
    }
}

/// `1,234,567` without its commas, if they stand where they should.
fn ungrouped(whole: &str) -> Option<String> {
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let well_placed = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    well_placed.then(|| whole.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        number_of(text, true).map_or("text".to_owned(), |value| value.to_json_text())
    }

    #[test]
    fn numbers_are_numbers_and_codes_stay_text() {
        assert_eq!(read("12"), "12");
        assert_eq!(read(" -3.50 "), "-3.5");
        assert_eq!(read("1,234,567"), "1234567");
        assert_eq!(read("1,234.5"), "1234.5");
        assert_eq!(read("0"), "0");
        assert_eq!(read("0.5"), "0.5");
        for text in [
            "007",
            "1,23",
            ",123",
            "1.2.3",
            "12a",
            "",
            "-",
            ".5",
            "5.",
            "1e5",
            "1234567890123456",
            "١٢",
        ] {
            assert_eq!(read(text), "text", "{text}");
        }
        assert_eq!(number_of("1,234", false), None);
    }
}
