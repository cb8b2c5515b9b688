//! Comparisons: the operator in the first line, what is compared in the two after it.
#![no_main]

use easel_runtime::Value;
use easel_runtime::core::condition::{Operator, Table};
use libfuzzer_sys::fuzz_target;

/// Operators of which at most one holds.
const OPPOSED: [(Operator, Operator); 7] = [
    (Operator::Contains, Operator::NotContains),
    (Operator::Empty, Operator::NotEmpty),
    (Operator::Equal, Operator::NotEqual),
    (Operator::In, Operator::NotIn),
    (Operator::Is, Operator::IsNot),
    (Operator::Greater, Operator::LessOrEqual),
    (Operator::Less, Operator::GreaterOrEqual),
];

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let mut line = || lines.next().unwrap_or_default();
    if let Some(operator) = Operator::parse(line()) {
        assert_eq!(Operator::parse(operator.as_str()), Some(operator));
    }
    let (left, right) = (value(line()), value(line()));
    for table in [Table::Switch, Table::Loop] {
        for (one, other) in OPPOSED {
            let both = table.test(&left, one, &right) && table.test(&left, other, &right);
            assert!(
                !both,
                "{one:?} and {other:?} hold of {left:?} and {right:?}"
            );
        }
        for operator in Operator::ALL {
            table.test(&left, operator, &right);
        }
    }
    let turned = Table::Switch.test(&right, Operator::Less, &left);
    assert_eq!(Table::Switch.test(&left, Operator::Greater, &right), turned);
});

/// JSON, else the text.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
