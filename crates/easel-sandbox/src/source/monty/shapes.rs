//! What an expression is certain to be, by its shape.

use ruff_python_ast::{CmpOp, Expr, UnaryOp};

pub(super) fn is_call_of(value: &Expr, name: &str) -> bool {
    matches!(value, Expr::Call(c) if matches!(&*c.func, Expr::Name(n) if n.id.as_str() == name))
}

pub(super) fn is_dictionary(value: &Expr) -> bool {
    value.is_dict_expr() || value.is_dict_comp_expr() || is_call_of(value, "dict")
}

pub(super) fn is_set(value: &Expr) -> bool {
    value.is_set_expr() || value.is_set_comp_expr() || is_call_of(value, "set")
}

pub(super) fn is_order(operator: &CmpOp) -> bool {
    matches!(operator, CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE)
}

/// A literal that is certainly no text.
pub(super) fn is_plain_non_text(value: &Expr) -> bool {
    value.is_number_literal_expr()
        || value.is_dict_expr()
        || value.is_list_expr()
        || value.is_tuple_expr()
        || value.is_boolean_literal_expr()
        || value.is_starred_expr()
}

pub(super) fn is_exception(name: &str) -> bool {
    name.ends_with("Error") || name == "Exception"
}

/// The last name of a dotted one.
pub(super) fn last_name(value: &Expr) -> Option<&str> {
    match value {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

pub(super) fn is_list(value: &Expr) -> bool {
    value.is_list_expr() || value.is_list_comp_expr() || value.is_generator_expr()
}

/// True for what is `True` or `False` and nothing else.
pub(super) fn is_truth(value: &Expr) -> bool {
    match value {
        Expr::BooleanLiteral(_) | Expr::Compare(_) => true,
        Expr::UnaryOp(unary) => unary.op == UnaryOp::Not,
        Expr::Call(_) => ["all", "any", "bool", "isinstance"]
            .iter()
            .any(|name| is_call_of(value, name)),
        _ => false,
    }
}

/// True for a list or generator of truths.
pub(super) fn yields_truths(value: &Expr) -> bool {
    match value {
        Expr::Generator(generator) => is_truth(&generator.elt),
        Expr::ListComp(list) => is_truth(&list.elt),
        Expr::List(list) => list.elts.iter().any(is_truth),
        _ => false,
    }
}

/// True for a member or an item of something.
pub(super) fn is_part(value: &Expr) -> bool {
    value.is_attribute_expr() || value.is_subscript_expr()
}
