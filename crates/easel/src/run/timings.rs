//! Where the time went, for people.

use std::time::Duration;

use easel_runtime::Timings;

/// The shares of a run's time, a line each.
pub fn table(spent: &Timings) -> String {
    let total = spent.total();
    let rows = [
        ("waiting", spent.waiting, "for models, tools and pauses"),
        (
            "components",
            spent.components,
            "templates, texts, requests and answers",
        ),
        (
            "references",
            spent.references,
            "finding the values they name",
        ),
        ("engine", spent.engine, "deciding what runs next"),
        ("showing", spent.watching, "writing what you see"),
    ];
    let mut text = format!("{:<12}{:>10}\n", "time", short(total));
    for (name, time, what) in rows {
        let share = match total.is_zero() {
            true => 0.0,
            false => 100.0 * time.as_secs_f64() / total.as_secs_f64(),
        };
        text.push_str(&format!(
            "  {name:<10}{:>10}{share:>7.1} %  {what}\n",
            short(time)
        ));
    }
    text
}

/// A time with as many digits as matter.
fn short(time: Duration) -> String {
    let micros = time.as_micros();
    match micros {
        ..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1_000.0),
        _ => format!("{:.2} s", time.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_nothing_is_divided_by_nothing() {
        let spent = Timings {
            waiting: Duration::from_millis(1500),
            engine: Duration::from_micros(500),
            components: Duration::from_millis(498),
            references: Duration::from_micros(1500),
            watching: Duration::ZERO,
        };
        let text = table(&spent);
        assert!(
            text.contains("2.00 s") && text.contains("75.0 %") && text.contains("500 µs"),
            "{text}"
        );
        assert!(table(&Timings::default()).contains("0.0 %"));
    }
}
