//! Sections of reports: results as tables and lines of Markdown.

use easel_core::{Object, Value};

use super::declaration::{Layout, Section};

/// The section that results become: a `title` and its `content`. Without results there is none.
pub(super) fn of(section: &Section, results: &[Value]) -> Option<Value> {
    let content = match section.layout {
        Layout::Record => record(results),
        Layout::Periods => periods(results),
        Layout::Series => series(results.first()?),
        Layout::Lines => lines(results),
    };
    (!content.is_empty()).then(|| {
        let members = [
            ("title", Value::from(section.title.as_str())),
            ("content", Value::from(content)),
        ];
        let object: Object = members.into_iter().map(|(n, v)| (n.into(), v)).collect();
        object.into()
    })
}

fn lines(results: &[Value]) -> String {
    let lines = results
        .iter()
        .filter_map(|result| result.get("line")?.as_str());
    lines.collect::<Vec<_>>().join("\n")
}

fn record(results: &[Value]) -> String {
    let members = results.iter().filter_map(Value::as_object).flatten();
    let rows = members.filter_map(|(name, value)| Some(vec![name.to_string(), said(value)?]));
    table(&["".to_owned(), "value".to_owned()], rows.collect())
}

fn periods(results: &[Value]) -> String {
    let mut head = vec![String::new()];
    let dates = results
        .iter()
        .map(|result| result.get("endDate").and_then(said));
    head.extend(dates.map(Option::unwrap_or_default));
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in results.iter().filter_map(Value::as_object).flatten() {
        if !matches!(&**name, "endDate" | "maxAge") && !names.contains(&&**name) {
            names.push(name);
        }
    }
    let rows = names.into_iter().filter_map(|name| {
        let values: Vec<Option<String>> = results
            .iter()
            .map(|result| result.get(name).and_then(said))
            .collect();
        values.iter().any(Option::is_some).then(|| {
            let mut row = vec![name.to_owned()];
            row.extend(values.into_iter().map(Option::unwrap_or_default));
            row
        })
    });
    table(&head, rows.collect())
}

/// A chart: its times, and a list for each price.
fn series(chart: &Value) -> String {
    let times = chart
        .get("timestamp")
        .and_then(Value::as_array)
        .unwrap_or_default();
    let quote = chart
        .get("indicators")
        .and_then(|i| i.get("quote")?.as_array()?.first());
    let columns = ["open", "high", "low", "close", "volume"];
    let cell = |column: &&str, row: usize| {
        let found = quote.and_then(|quote| quote.get(column)?.as_array()?.get(row));
        found.and_then(said).unwrap_or_default()
    };
    let rows = times.iter().enumerate().filter_map(|(at, time)| {
        let mut row = vec![date(time.as_i64()?)];
        row.extend(columns.iter().map(|column| cell(column, at)));
        Some(row)
    });
    let head: Vec<String> = std::iter::once("date")
        .chain(columns)
        .map(str::to_owned)
        .collect();
    table(&head, rows.collect())
}

/// A value for a cell: what it is shown as, where the provider says that.
fn said(value: &Value) -> Option<String> {
    let shown = value
        .get("longFmt")
        .or(value.get("fmt"))
        .or(value.get("raw"));
    let text = match (shown, value) {
        (Some(shown), _) => shown.to_string(),
        (None, Value::Array(items)) => {
            let said = items.iter().filter_map(said);
            said.collect::<Vec<_>>().join(", ")
        }
        (None, Value::Object(_) | Value::Null) => return None,
        (None, value) => value.to_string(),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| text.replace('|', "\\|"))
}

fn table(head: &[String], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let rule = format!("|{}", ":---|".repeat(head.len()));
    let mut lines = vec![line(head), rule];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n")
}

/// The day of a time in seconds since 1970, in the proleptic Gregorian calendar.
fn date(seconds: i64) -> String {
    // Counted from the first of March of the year 0, so that a leap day is the last day of its year.
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!("{:04}-{month:02}-{of_month:02}", year + era * 400 + carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_the_names_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_735_689_599, "2024-12-31"),
            (-1, "1969-12-31"),
        ] {
            assert_eq!(date(seconds), day);
        }
    }
}
