//! Constants, and what `Field(…)` says of a field.

use ruff_python_ast::{Arguments, Expr, Number, UnaryOp};
use serde_json::{Value, json};

/// The value of an expression that is a constant: the same to every reader of the file.
pub(super) fn value(expression: &Expr) -> Option<Value> {
    constant(expression, 0)
}

fn constant(expression: &Expr, depth: usize) -> Option<Value> {
    if depth > super::MAX_DEPTH {
        return None;
    }
    let all = |items: &[Expr]| -> Option<Value> {
        items.iter().map(|item| constant(item, depth + 1)).collect()
    };
    match expression {
        Expr::StringLiteral(text) => Some(json!(text.value.to_str())),
        Expr::BooleanLiteral(flag) => Some(json!(flag.value)),
        Expr::NoneLiteral(_) => Some(Value::Null),
        Expr::NumberLiteral(number) => number_of(&number.value, false),
        Expr::UnaryOp(negative) if negative.op == UnaryOp::USub => match &*negative.operand {
            Expr::NumberLiteral(number) => number_of(&number.value, true),
            _ => None,
        },
        Expr::List(list) => all(&list.elts),
        Expr::Tuple(tuple) => all(&tuple.elts),
        Expr::Dict(dict) => {
            let member = |item: &ruff_python_ast::DictItem| {
                let key = constant(item.key.as_ref()?, depth + 1)?;
                Some((key.as_str()?.to_owned(), constant(&item.value, depth + 1)?))
            };
            dict.items.iter().map(member).collect()
        }
        _ => None,
    }
}

fn number_of(number: &Number, negative: bool) -> Option<Value> {
    match number {
        Number::Int(n) => n.as_i64().map(|n| json!(if negative { -n } else { n })),
        Number::Float(n) => Some(json!(if negative { -n } else { *n })),
        Number::Complex { .. } => None,
    }
}

/// What `Field(…)` says.
#[derive(Default)]
pub(super) struct Field {
    pub(super) has_default: bool,
    /// The name in JSON, if it is another.
    pub(super) alias: Option<String>,
    /// Keywords for the schema.
    pub(super) keywords: Vec<(&'static str, Value)>,
}

/// The arguments of `Field`.
pub(super) fn field(arguments: &Arguments) -> Field {
    let mut field = Field::default();
    let default = |field: &mut Field, expression: &Expr| {
        if !expression.is_ellipsis_literal_expr() {
            field.has_default = true;
            field
                .keywords
                .extend(value(expression).map(|value| ("default", value)));
        }
    };
    if let Some(first) = arguments.args.first() {
        default(&mut field, first);
    }
    for keyword in &arguments.keywords {
        let Some(name) = &keyword.arg else {
            continue;
        };
        let to = match name.as_str() {
            "default" => {
                default(&mut field, &keyword.value);
                continue;
            }
            "default_factory" => {
                field.has_default = true;
                continue;
            }
            "alias" | "validation_alias" => {
                field.alias =
                    value(&keyword.value).and_then(|name| name.as_str().map(str::to_owned));
                continue;
            }
            "title" => "title",
            "description" => "description",
            "examples" => "examples",
            "ge" => "minimum",
            "gt" => "exclusiveMinimum",
            "le" => "maximum",
            "lt" => "exclusiveMaximum",
            "multiple_of" => "multipleOf",
            "pattern" | "regex" => "pattern",
            "min_length" => "minLength",
            "max_length" => "maxLength",
            _ => continue,
        };
        field
            .keywords
            .extend(value(&keyword.value).map(|value| (to, value)));
    }
    field
}

/// Adds keywords to a schema that is a mapping. Lengths are those of a list where it is one.
pub(super) fn add(schema: &mut Value, keywords: impl IntoIterator<Item = (&'static str, Value)>) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    let is_list = members.get("type") == Some(&json!("array"));
    for (keyword, value) in keywords {
        let keyword = match keyword {
            "minLength" if is_list => "minItems",
            "maxLength" if is_list => "maxItems",
            other => other,
        };
        members.insert(keyword.to_owned(), value);
    }
}
