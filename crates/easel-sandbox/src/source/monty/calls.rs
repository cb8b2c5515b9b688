//! Calls that are there in name and lack a part.

use ruff_python_ast::{Expr, ExprCall};

use super::super::facts;
use super::{Finder, shapes};

impl Finder<'_> {
    pub(super) fn call(&mut self, call: &ExprCall) {
        let missing = match &*call.func {
            Expr::Name(name) => self.call_by_name(name.id.as_str(), call),
            Expr::Attribute(attribute) => self.call_of_member(attribute.attr.as_str(), call),
            _ => None,
        };
        if let Some(what) = missing {
            self.need(call.range_start, what);
        }
    }

    /// What a call of a builtin lacks.
    fn call_by_name(&self, name: &str, call: &ExprCall) -> Option<&'static str> {
        let first_is = |shape: &dyn Fn(&Expr) -> bool| {
            let first = call.arguments.args.first();
            first.is_some_and(shape)
        };
        if self.facts.member_of(name, "typing").is_some() {
            return Some("a type variable");
        }
        if self.facts.bound.contains(name) {
            return None;
        }
        match name {
            "print" if has_keyword(call, "file") => Some("print() to a file"),
            "next" if first_is(&|arg| self.is_made_at_once(arg)) => {
                Some("next() of a generator, map, filter or zip")
            }
            "sum" if first_is(&shapes::yields_truths) => Some("a sum of True and False"),
            "bytes" if first_is(&shapes::is_list) => Some("bytes() of a list"),
            name if shapes::is_exception(name) && !is_one_text(call) => {
                Some("an exception made of more than one text")
            }
            _ => None,
        }
    }

    /// What a call of a method or of a module's function lacks.
    fn call_of_member(&self, name: &str, call: &ExprCall) -> Option<&'static str> {
        match name {
            "isoformat" if !call.arguments.keywords.is_empty() => Some("isoformat() with keywords"),
            // The replacement comes first or second, as the pattern is compiled or not.
            "sub"
                if call
                    .arguments
                    .args
                    .iter()
                    .take(2)
                    .any(|arg| self.is_callable(arg)) =>
            {
                Some("a function as the replacement of sub()")
            }
            "dumps" if has_keyword(call, "default") || has_keyword(call, "cls") => {
                Some("json.dumps() with an encoder")
            }
            _ => None,
        }
    }

    fn is_callable(&self, value: &Expr) -> bool {
        value.is_lambda_expr() || self.is_function(value)
    }

    fn is_made_at_once(&self, value: &Expr) -> bool {
        let by_name =
            matches!(value, Expr::Name(name) if self.facts.is_made_at_once(name.id.as_str()));
        by_name || facts::is_made_at_once(value)
    }
}

fn has_keyword(call: &ExprCall, keyword: &str) -> bool {
    let mut keywords = call.arguments.keywords.iter();
    keywords.any(|k| k.arg.as_ref().is_some_and(|arg| arg.as_str() == keyword))
}

/// True unless the arguments are certainly more, or other, than one text.
fn is_one_text(call: &ExprCall) -> bool {
    match &*call.arguments.args {
        [] => true,
        [one] => !shapes::is_plain_non_text(one),
        _ => false,
    }
}
