//! What the built-in interpreter, monty 0.0.23, does not have. The tables were made by asking it, and a test asks it
//! again.
//!
//! Some gaps cannot be seen in a text: whether `a % b` formats or divides depends on the values. What can be seen is
//! found; the rest fails where it runs, as an error of the user's code.

mod calls;
mod shapes;
mod tables;
#[cfg(test)]
#[cfg(feature = "worker")]
mod tests;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    self as ast, Comprehension, Expr, ExprCall, ExprContext, Keyword, Number, Operator, Stmt,
    StmtClassDef, StmtIf, StmtImport, StmtImportFrom, StmtTry,
};
use ruff_text_size::{Ranged, TextSize};

use super::facts::Facts;
use super::read::Lines;
use super::{Need, guarded};

/// Everything in the statements that the built-in interpreter lacks, in file order.
pub(super) fn needs(statements: &[Stmt], facts: &Facts<'_>, lines: &Lines<'_>) -> Vec<Need> {
    let mut finder = Finder {
        facts,
        lines,
        needs: Vec::new(),
        optional: false,
    };
    finder.visit_body(statements);
    finder.needs.sort_by_key(|need| need.place);
    finder.needs
}

struct Finder<'f> {
    facts: &'f Facts<'f>,
    lines: &'f Lines<'f>,
    needs: Vec<Need>,
    /// Inside a `try` that catches failing imports.
    optional: bool,
}

impl Finder<'_> {
    fn need(&mut self, at: TextSize, what: impl Into<String>) {
        self.needs.push(Need {
            place: self.lines.place(at),
            what: what.into(),
        });
    }

    fn class(&mut self, class: &StmtClassDef) {
        let arguments = class.arguments.as_deref();
        if arguments.is_some_and(|a| !a.args.is_empty() || !a.keywords.is_empty()) {
            self.need(class.name.start(), "a class that inherits");
        }
        for decorator in &class.decorator_list {
            if let Expr::Call(call) = &decorator.expression {
                self.dataclass(call);
            }
        }
        for member in &class.body {
            match member {
                Stmt::FunctionDef(method) => {
                    let name = method.name.as_str();
                    if !method.decorator_list.is_empty() {
                        self.need(method.name.start(), "a decorated method");
                    }
                    let special = name.starts_with("__") && name.ends_with("__");
                    if special && !tables::SPECIAL_METHODS.contains(&name) {
                        self.need(method.name.start(), format!("the special method {name}"));
                    }
                }
                Stmt::Pass(_) => {}
                Stmt::Expr(e) if e.value.is_string_literal_expr() => {}
                Stmt::Assign(a) if matches!(&*a.targets, [Expr::Name(_)]) => {}
                Stmt::AnnAssign(a) if a.target.is_name_expr() => {}
                other => self.need(
                    other.start(),
                    "a class body with more than methods and plain attributes",
                ),
            }
        }
    }

    fn dataclass(&mut self, call: &ExprCall) {
        let is_known = |k: &Keyword| k.arg.as_deref().is_some_and(|k| k == "frozen" || k == "eq");
        if shapes::last_name(&call.func) == Some("dataclass")
            && !call.arguments.keywords.iter().all(is_known)
        {
            self.need(call.start(), "dataclass() with more than frozen and eq");
        }
    }

    fn import(&mut self, import: &StmtImport) {
        for alias in &import.names {
            let module = alias.name.as_str();
            if !tables::has_module(module) && !self.optional {
                self.need(alias.range.start(), format!("the module \"{module}\""));
            }
        }
    }

    fn import_from(&mut self, import: &StmtImportFrom) {
        let at = import.range.start();
        let module = import.module.as_ref().map_or("", |m| m.as_str());
        if import.level > 0 {
            self.need(at, "an import of the package's own modules");
            return;
        }
        if module == "__future__" {
            return;
        }
        if import.names.iter().any(|alias| alias.name.as_str() == "*") {
            self.need(at, "an import of *");
            return;
        }
        if self.optional {
            return;
        }
        let Some(members) = tables::members(module) else {
            self.need(at, format!("the module \"{module}\""));
            return;
        };
        for alias in &import.names {
            let name = alias.name.as_str();
            if !members.contains(&name) {
                self.need(at, format!("\"{name}\" of the module \"{module}\""));
            }
        }
    }

    fn name(&mut self, name: &str, at: TextSize) {
        if self.facts.bound.contains(name) {
            return;
        }
        if name == "open" {
            self.need(at, "a file: open()");
        } else if tables::MISSING_BUILTINS.contains(&name) {
            self.need(at, format!("the builtin \"{name}\""));
        }
    }

    /// An attribute; `called` if it is what a call calls.
    fn attribute(&mut self, value: &Expr, attribute: &str, at: TextSize, called: bool) {
        if let Expr::Name(name) = value
            && let Some(module) = self.facts.modules.get(name.id.as_str())
            && let Some(members) = tables::members(module)
        {
            if !members.contains(&attribute) {
                self.need(at, format!("\"{attribute}\" of the module \"{module}\""));
            }
            return;
        }
        if self.facts.attributes.contains(attribute) {
            return;
        }
        if !self.has_class_member(value, attribute) {
            self.need(at, format!("\"{attribute}\" of a class itself"));
            return;
        }
        let of_a_type = attribute == "__name__" && shapes::is_call_of(value, "type");
        if tables::MISSING_ATTRIBUTES.contains(&attribute) && !of_a_type {
            self.need(at, format!("the attribute \"{attribute}\""));
        } else if called && tables::MISSING_METHODS.contains(&attribute) {
            self.need(at, format!("the method \"{attribute}\""));
        } else if called && self.facts.uses_pathlib && tables::FILE_METHODS.contains(&attribute) {
            self.need(at, format!("a file: {attribute}()"));
        } else if !called && tables::METHODS_ONLY_CALLED.contains(&attribute) {
            let what = format!("the method \"{attribute}\" as a value");
            self.need(at, what);
        }
    }

    /// False for what a builtin class, or one of `datetime`, lacks when it is asked itself: `str.lower`, `datetime.min`.
    fn has_class_member(&self, value: &Expr, attribute: &str) -> bool {
        match value {
            Expr::Name(name) if tables::CLASSES.contains(&name.id.as_str()) => {
                let special = attribute.starts_with("__");
                special
                    || self.facts.bound.contains(name.id.as_str())
                    || (name.id.as_str(), attribute) == ("dict", "fromkeys")
                    || (name.id.as_str(), attribute) == ("bytes", "fromhex")
            }
            Expr::Name(name) => match self.facts.member_of(&name.id, "datetime") {
                Some("date" | "datetime" | "time" | "timedelta") => {
                    matches!(attribute, "fromisoformat" | "now" | "today")
                }
                _ => true,
            },
            _ => true,
        }
    }

    fn is_text(&self, value: &Expr) -> bool {
        match value {
            Expr::Name(name) => self.facts.is_text(&name.id),
            other => other.is_string_literal_expr() || other.is_f_string_expr(),
        }
    }

    /// True for a class that stands in brackets only where types are meant.
    fn is_generic(&self, value: &Expr) -> bool {
        let Expr::Name(name) = value else {
            return false;
        };
        let name = name.id.as_str();
        let builtin = tables::CLASSES.contains(&name) && !self.facts.bound.contains(name);
        builtin || self.facts.member_of(name, "typing").is_some()
    }

    fn is_function(&self, value: &Expr) -> bool {
        matches!(value, Expr::Name(name) if self.facts.functions.contains(name.id.as_str()))
    }

    /// What a loop or `with` assigns to.
    fn target(&mut self, target: &Expr) {
        if shapes::is_part(target) {
            self.need(target.start(), "a loop or with over a member or item");
        }
    }

    fn binary(&mut self, left: &Expr, op: Operator, right: &Expr, at: TextSize) {
        match op {
            Operator::Mod if self.is_text(left) => self.need(at, "formatting a text with %"),
            Operator::BitOr if shapes::is_dictionary(left) || shapes::is_dictionary(right) => {
                self.need(at, "merging dictionaries with |");
            }
            Operator::BitOr if left.is_none_literal_expr() || right.is_none_literal_expr() => {
                self.need(at, "a type alias");
            }
            Operator::Add | Operator::Sub if shapes::is_truth(left) || shapes::is_truth(right) => {
                self.need(at, "counting with True and False");
            }
            Operator::MatMult => self.need(at, "the operator @"),
            _ => {}
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        let at = statement.start();
        match statement {
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Delete(_) => self.need(at, "del"),
            Stmt::TypeAlias(_) => self.need(at, "a type alias"),
            Stmt::Match(_) => self.need(at, "match"),
            Stmt::For(s) => {
                if s.is_async {
                    self.need(at, "async for");
                }
                self.target(&s.target);
            }
            Stmt::With(s) => {
                if s.is_async {
                    self.need(at, "async with");
                }
                for item in &s.items {
                    if let Some(target) = &item.optional_vars {
                        self.target(target);
                    }
                }
            }
            Stmt::Try(s) if s.is_star => self.need(at, "except*"),
            Stmt::Assign(a) => {
                let slice = |t: &&Expr| matches!(t, Expr::Subscript(s) if s.slice.is_slice_expr());
                if let Some(target) = a.targets.iter().find(slice) {
                    self.need(target.start(), "an assignment to a slice");
                }
            }
            Stmt::AugAssign(a) => self.binary(&a.target, a.op, &a.value, at),
            _ => {}
        }
    }

    fn try_statement(&mut self, statement: &StmtTry) {
        let outside = self.optional;
        self.optional |= guarded::catches_import_errors(statement);
        self.visit_body(&statement.body);
        self.optional = outside;
        for handler in &statement.handlers {
            self.visit_except_handler(handler);
        }
        self.visit_body(&statement.orelse);
        self.visit_body(&statement.finalbody);
    }

    /// `if TYPE_CHECKING`: what it guards never runs, what stands in `else` does.
    fn for_type_checkers(&mut self, statement: &StmtIf) {
        for clause in &statement.elif_else_clauses {
            self.visit_body(&clause.body);
        }
    }
}

impl<'a> Visitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.statement(statement);
        match statement {
            Stmt::Try(s) => self.try_statement(s),
            Stmt::If(s) if guarded::is_for_type_checkers(s) => self.for_type_checkers(s),
            _ => visitor::walk_stmt(self, statement),
        }
    }

    // Annotations are not evaluated.
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_expr(&mut self, expression: &'a Expr) {
        let at = expression.start();
        match expression {
            Expr::Yield(_) | Expr::YieldFrom(_) => self.need(at, "yield"),
            Expr::TString(_) => self.need(at, "a template string"),
            Expr::NumberLiteral(n) if matches!(n.value, Number::Complex { .. }) => {
                self.need(at, "a complex number");
            }
            Expr::BinOp(b) => self.binary(&b.left, b.op, &b.right, at),
            Expr::Tuple(ast::ExprTuple { elts, ctx, .. })
            | Expr::List(ast::ExprList { elts, ctx, .. })
                if matches!(ctx, ExprContext::Store) && elts.iter().any(shapes::is_part) =>
            {
                self.need(at, "an assignment to several members or items at once");
            }
            Expr::Attribute(a)
                if matches!(a.ctx, ExprContext::Store) && self.is_function(&a.value) =>
            {
                self.need(at, "an attribute of a function");
            }
            Expr::Subscript(s)
                if matches!(s.ctx, ExprContext::Load) && self.is_generic(&s.value) =>
            {
                self.need(at, "a type alias");
            }
            Expr::Compare(c)
                if c.ops.iter().any(shapes::is_order)
                    && (shapes::is_set(&c.left) || c.comparators.iter().any(shapes::is_set)) =>
            {
                self.need(at, "ordering sets with <, <=, > or >=");
            }
            Expr::Name(name) if matches!(name.ctx, ExprContext::Load) => {
                self.name(name.id.as_str(), at);
            }
            Expr::Call(call) => {
                self.call(call);
                if let Expr::Attribute(a) = &*call.func {
                    self.attribute(&a.value, a.attr.as_str(), a.attr.start(), true);
                    // Walked by hand: the attribute itself has been judged as a call.
                    self.visit_expr(&a.value);
                    self.visit_arguments(&call.arguments);
                    return;
                }
            }
            Expr::Attribute(a) if matches!(a.ctx, ExprContext::Load) => {
                self.attribute(&a.value, a.attr.as_str(), a.attr.start(), false);
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        if comprehension.is_async {
            self.need(comprehension.range.start(), "an async comprehension");
        }
        visitor::walk_comprehension(self, comprehension);
    }
}
