//! The types of fields.

use ruff_python_ast::{Expr, Operator};
use ruff_text_size::Ranged;
use serde_json::{Value, json};

use super::{ClassError, MAX_DEPTH, MAX_TYPES, Reader, last_name, literal};

/// Whether a name belongs to the class and is no field.
pub(super) fn is_class_variable(annotation: &Expr) -> bool {
    last_name(annotation) == Some("ClassVar")
}

impl<'a> Reader<'a> {
    /// The schema of a type.
    pub(super) fn annotation(
        &mut self,
        annotation: &Expr,
        depth: usize,
    ) -> Result<Value, ClassError> {
        self.types += 1;
        if depth > MAX_DEPTH || self.types > MAX_TYPES {
            let what = "the types here are too many, or too deep in one another";
            return Err(self.unclear(annotation.range(), what, "make them fewer"));
        }
        match annotation {
            Expr::NoneLiteral(_) => Ok(json!({"type": "null"})),
            Expr::StringLiteral(text) => self.quoted(text.value.to_str(), annotation, depth),
            Expr::Name(name) => self.named(name.id.as_str(), annotation),
            Expr::Attribute(attribute) => self.named(attribute.attr.as_str(), annotation),
            Expr::BinOp(_) => {
                let mut choices = Vec::new();
                alternatives(annotation, &mut choices);
                let schemas = choices.into_iter().map(|choice| match choice {
                    Expr::BinOp(_) => Err(self.unknown(annotation)),
                    choice => self.annotation(choice, depth + 1),
                });
                Ok(any_of(schemas.collect::<Result<_, _>>()?))
            }
            Expr::Subscript(subscript) => {
                let arguments = match &*subscript.slice {
                    Expr::Tuple(tuple) => tuple.elts.as_slice(),
                    one => std::slice::from_ref(one),
                };
                self.generic(annotation, arguments, depth)
            }
            _ => Err(self.unknown(annotation)),
        }
    }

    fn unknown(&self, annotation: &Expr) -> ClassError {
        let written = self.source.get(annotation.range().to_std_range());
        let short: String = written.unwrap_or_default().chars().take(60).collect();
        let what = format!("the type `{short}` can't be told from the text");
        let fix = "use a type of Python's own or a class of this file, or write a JSON Schema";
        self.unclear(annotation.range(), what, fix)
    }

    /// A type in quotes, because it stands further down in the file.
    fn quoted(&mut self, text: &str, annotation: &Expr, depth: usize) -> Result<Value, ClassError> {
        if self.classes.contains_key(text.trim()) {
            return self.named(text, annotation);
        }
        let inner = ruff_python_parser::parse_expression(text.trim());
        let inner = inner.map_err(|_| self.unknown(annotation))?;
        // Its own places are places in the quotes.
        let schema = self.annotation(&inner.syntax().body, depth + 1);
        schema.map_err(|_| self.unknown(annotation))
    }

    /// A type that is one word.
    fn named(&mut self, name: &str, annotation: &Expr) -> Result<Value, ClassError> {
        if let Some(class) = self.classes.get(name.trim()).copied() {
            return self.class(class);
        }
        let kind = match name.trim() {
            "str" | "EmailStr" | "HttpUrl" | "AnyUrl" | "UUID" | "Path" | "SecretStr" => "string",
            "datetime" => return Ok(json!({"type": "string", "format": "date-time"})),
            "date" => return Ok(json!({"type": "string", "format": "date"})),
            "time" => return Ok(json!({"type": "string", "format": "time"})),
            "int" | "PositiveInt" | "NonNegativeInt" => "integer",
            "float" | "Decimal" | "PositiveFloat" | "NonNegativeFloat" => "number",
            "bool" => "boolean",
            "None" | "NoneType" => "null",
            "dict" | "Dict" | "Mapping" | "MutableMapping" => "object",
            "list" | "List" | "Sequence" | "Iterable" | "tuple" | "Tuple" | "set" | "Set"
            | "frozenset" | "FrozenSet" => "array",
            "Any" | "object" | "JsonValue" => return Ok(json!({})),
            _ => return Err(self.unknown(annotation)),
        };
        let mut schema = json!({"type": kind});
        match name.trim() {
            "PositiveInt" | "PositiveFloat" => {
                literal::add(&mut schema, [("exclusiveMinimum", json!(0))])
            }
            "NonNegativeInt" | "NonNegativeFloat" => {
                literal::add(&mut schema, [("minimum", json!(0))])
            }
            _ => {}
        }
        Ok(schema)
    }

    /// A type with others in brackets.
    fn generic(
        &mut self,
        annotation: &Expr,
        arguments: &[Expr],
        depth: usize,
    ) -> Result<Value, ClassError> {
        let (Some(name), Some(first)) = (last_name(annotation), arguments.first()) else {
            return Err(self.unknown(annotation));
        };
        match name {
            "Optional" => {
                let inner = self.annotation(first, depth + 1)?;
                Ok(any_of(vec![inner, json!({"type": "null"})]))
            }
            "Union" => {
                let choices = arguments.iter().map(|one| self.annotation(one, depth + 1));
                Ok(any_of(choices.collect::<Result<_, _>>()?))
            }
            "Literal" => {
                let values: Option<Vec<Value>> = arguments.iter().map(literal::value).collect();
                values
                    .map(|values| json!({"enum": values}))
                    .ok_or_else(|| self.unknown(annotation))
            }
            "list" | "List" | "Sequence" | "Iterable" => {
                let items = self.annotation(first, depth + 1)?;
                Ok(json!({"type": "array", "items": items}))
            }
            "set" | "Set" | "frozenset" | "FrozenSet" => {
                let items = self.annotation(first, depth + 1)?;
                Ok(json!({"type": "array", "items": items, "uniqueItems": true}))
            }
            "tuple" | "Tuple" => match arguments {
                [one, Expr::EllipsisLiteral(_)] => {
                    let items = self.annotation(one, depth + 1)?;
                    Ok(json!({"type": "array", "items": items}))
                }
                several => {
                    let items = several.iter().map(|one| self.annotation(one, depth + 1));
                    let items: Vec<Value> = items.collect::<Result<_, _>>()?;
                    let (count, rest) = (items.len(), false);
                    Ok(
                        json!({"type": "array", "prefixItems": items, "items": rest, "minItems": count}),
                    )
                }
            },
            "dict" | "Dict" | "Mapping" | "MutableMapping" => match arguments {
                [_, values] => {
                    let values = self.annotation(values, depth + 1)?;
                    Ok(json!({"type": "object", "additionalProperties": values}))
                }
                _ => Err(self.unknown(annotation)),
            },
            "Required" | "NotRequired" | "Final" | "ReadOnly" => self.annotation(first, depth + 1),
            "Annotated" => {
                let mut schema = self.annotation(first, depth + 1)?;
                for more in arguments.iter().skip(1) {
                    match more {
                        Expr::Call(call) if last_name(&call.func) == Some("Field") => {
                            literal::add(&mut schema, literal::field(&call.arguments).keywords);
                        }
                        Expr::StringLiteral(text) => {
                            literal::add(
                                &mut schema,
                                [("description", json!(text.value.to_str()))],
                            );
                        }
                        _ => {}
                    }
                }
                Ok(schema)
            }
            _ => Err(self.unknown(annotation)),
        }
    }
}

/// The parts of `A | B | C`, from left to right.
fn alternatives<'a>(expression: &'a Expr, parts: &mut Vec<&'a Expr>) {
    let mut rest = expression;
    while let Expr::BinOp(choice) = rest
        && choice.op == Operator::BitOr
    {
        parts.push(&choice.right);
        rest = &choice.left;
    }
    parts.push(rest);
    parts.reverse();
}

/// One of several schemas: a list of types where each is no more than a type.
fn any_of(schemas: Vec<Value>) -> Value {
    let mut kinds: Vec<Value> = Vec::new();
    for schema in &schemas {
        match schema.as_object() {
            Some(members)
                if members.len() == 1 && members.get("type").is_some_and(Value::is_string) =>
            {
                kinds.extend(members.get("type").cloned());
            }
            _ => return json!({"anyOf": schemas}),
        }
    }
    json!({"type": kinds})
}
