//! Data of other nodes as tables.

use easel_core::{Object, Value};

use super::table::Table;

/// The tables in a value: rows that are objects or lists; several of those by name; text that is JSON, or has tables in Markdown;
/// anything else is a table of one cell.
pub(super) fn tables(value: &Value) -> Vec<Table> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => of_text(text),
        Value::Array(items) => of_list("data", items).into_iter().collect(),
        Value::Object(members) => of_object(members),
        other => vec![single(other.clone())],
    }
}

fn of_list(name: &str, items: &[Value]) -> Option<Table> {
    if items.is_empty() {
        return None;
    }
    let objects = items.iter().map(Value::as_object);
    if objects.clone().all(|object| object.is_some()) {
        return Some(Table::of_objects(name.to_owned(), objects.flatten()));
    }
    let lists: Option<Vec<&[Value]>> = items.iter().map(Value::as_array).collect();
    let rows = match lists {
        Some(rows) => rows.into_iter().map(<[Value]>::to_vec).collect(),
        None => {
            let head = vec![Value::from("value")];
            let cells = items.iter().map(|item| vec![item.clone()]);
            std::iter::once(head).chain(cells).collect()
        }
    };
    Some(Table::with_head(name.to_owned(), rows))
}

fn of_object(members: &Object) -> Vec<Table> {
    if members.is_empty() {
        return Vec::new();
    }
    let lists: Option<Vec<(&str, &[Value])>> = members
        .iter()
        .map(|(name, value)| Some((&**name, value.as_array()?)))
        .collect();
    let Some(lists) = lists else {
        return vec![Table::of_objects(
            "data".to_owned(),
            std::iter::once(members),
        )];
    };
    let rows = |items: &[Value]| {
        items
            .iter()
            .all(|item| item.as_object().is_some() || item.as_array().is_some())
    };
    if lists.iter().all(|(_, items)| rows(items)) {
        let tables = lists
            .into_iter()
            .filter_map(|(name, items)| of_list(name, items));
        return tables.collect();
    }
    // A list for each column.
    let height = lists
        .iter()
        .map(|(_, items)| items.len())
        .max()
        .unwrap_or(0);
    let head = lists.iter().map(|(name, _)| Value::from(*name)).collect();
    let row = |at: usize| {
        let cells = lists.iter().map(|(_, items)| items.get(at).cloned());
        cells.map(Option::unwrap_or_default).collect()
    };
    let rows = std::iter::once(head).chain((0..height).map(row));
    vec![Table::with_head("data".to_owned(), rows.collect())]
}

fn of_text(text: &str) -> Vec<Table> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    let fenced = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    let inner = fenced.map_or(text, |inner| inner.trim_start_matches("json").trim());
    if inner.starts_with(['[', '{'])
        && let Ok(value) = serde_json::from_str::<Value>(inner)
    {
        return tables(&value);
    }
    let found = of_markdown(text);
    match found.is_empty() {
        true => vec![single(Value::from(text))],
        false => found,
    }
}

fn single(cell: Value) -> Table {
    Table::with_head(
        "data".to_owned(),
        vec![vec![Value::from("value")], vec![cell]],
    )
}

/// The tables of a text in Markdown, each named after the heading before it.
fn of_markdown(text: &str) -> Vec<Table> {
    let mut found = Vec::new();
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut heading = None;
    for line in text.lines().map(str::trim).chain([""]) {
        if line.starts_with('|') {
            let cells = cells(line);
            let rule =
                |cell: &str| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':' | ' '));
            if !cells.iter().all(|cell| rule(cell)) {
                rows.push(cells.into_iter().map(typed).collect());
            }
            continue;
        }
        if rows.len() > 1 {
            let count = found.len() + 1;
            let name = heading.take().unwrap_or_else(|| format!("Table_{count}"));
            found.push(Table::with_head(name, std::mem::take(&mut rows)));
        }
        rows.clear();
        if let Some(title) = line.strip_prefix('#') {
            heading = Some(title.trim_start_matches('#').trim().to_owned());
        }
    }
    found
}

/// The cells of a line; `\|` is no border.
fn cells(line: &str) -> Vec<String> {
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'|') => {
                chars.next();
                cells
                    .iter_mut()
                    .next_back()
                    .into_iter()
                    .for_each(|cell| cell.push('|'));
            }
            '|' => cells.push(String::new()),
            c => cells
                .iter_mut()
                .next_back()
                .into_iter()
                .for_each(|cell| cell.push(c)),
        }
    }
    cells
        .into_iter()
        .map(|cell| cell.trim().to_owned())
        .collect()
}

/// A number where the text is one, without zeros in front.
fn typed(cell: String) -> Value {
    let digits = cell.trim_start_matches('-');
    let code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && digits.len() < 16;
    if cell.is_empty() {
        return Value::Null;
    }
    if code || !plain {
        return Value::from(cell);
    }
    if let Ok(whole) = cell.parse::<i64>() {
        return Value::from(whole);
    }
    cell.parse::<f64>().map_or(Value::from(cell), Value::from)
}
