//! What a whole file says about its names, before single uses of them are judged.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameter, Stmt};

use super::Import;

/// Names of a file and what they stand for.
#[derive(Default)]
pub(super) struct Facts<'a> {
    /// Every name that the file binds in any scope: such a name may hide a builtin.
    pub(super) bound: HashSet<&'a str>,
    /// Methods and attributes that the file gives its own objects.
    pub(super) attributes: HashSet<&'a str>,
    /// Names under which modules were imported.
    pub(super) modules: HashMap<&'a str, &'a str>,
    /// True if anything comes from `pathlib`.
    pub(super) uses_pathlib: bool,
    /// True if some `result` is read as `x.result.name`.
    pub(super) result_by_attribute: bool,
    /// True if some `result` is read as `x.result["name"]` or with a method of a dictionary.
    pub(super) result_by_key: bool,
}

pub(super) fn collect<'a>(statements: &'a [Stmt], imports: &'a [Import]) -> Facts<'a> {
    let mut facts = Facts::default();
    for import in imports.iter().filter(|import| import.level == 0) {
        facts.uses_pathlib |= &*import.module == "pathlib";
        if let Some(binds) = import.binds.as_deref() {
            facts.bound.insert(binds);
            if import.name.is_none() {
                facts.modules.insert(binds, &import.module);
            }
        }
    }
    facts.visit_body(statements);
    facts
}

/// Methods of a dictionary; any other attribute of a `result` is one of its members.
const OF_A_DICTIONARY: &[&str] = &[
    "clear",
    "copy",
    "get",
    "items",
    "keys",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "values",
];

fn is_result(value: &Expr) -> bool {
    matches!(value, Expr::Attribute(a) if a.attr.as_str() == "result")
}

impl<'a> Visitor<'a> for Facts<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(f) => {
                self.bound.insert(&f.name);
            }
            Stmt::ClassDef(class) => {
                self.bound.insert(&class.name);
                for member in &class.body {
                    match member {
                        Stmt::FunctionDef(f) => {
                            self.attributes.insert(&f.name);
                        }
                        Stmt::AnnAssign(a) => {
                            if let Expr::Name(name) = &*a.target {
                                self.attributes.insert(&name.id);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if !matches!(name.ctx, ExprContext::Load) => {
                self.bound.insert(&name.id);
            }
            Expr::Attribute(a) if !matches!(a.ctx, ExprContext::Load) => {
                self.attributes.insert(&a.attr);
            }
            Expr::Attribute(a) if is_result(&a.value) => {
                let by_method = OF_A_DICTIONARY.contains(&a.attr.as_str());
                self.result_by_key |= by_method;
                self.result_by_attribute |= !by_method;
            }
            Expr::Subscript(s) if is_result(&s.value) => self.result_by_key = true,
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bound.insert(&parameter.name);
        visitor::walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bound.insert(name);
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        if let Some(name) = &alias.asname {
            self.bound.insert(name);
        }
    }
}
