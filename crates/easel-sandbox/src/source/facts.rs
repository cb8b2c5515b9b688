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
    /// What names are given, for those that are given something by an assignment or a loop.
    given: HashMap<&'a str, Given>,
    /// Functions of the file.
    pub(super) functions: HashSet<&'a str>,
    /// Names of members that were imported from a module, with the module and the member's own name.
    pub(super) members: HashMap<&'a str, (&'a str, &'a str)>,
    /// True if anything comes from `pathlib`.
    pub(super) uses_pathlib: bool,
    /// True if some `result` is read as `x.result.name`.
    pub(super) result_by_attribute: bool,
    /// True if some `result` is read as `x.result["name"]` or with a method of a dictionary.
    pub(super) result_by_key: bool,
}

/// How often a name is given something, and how often something of a kind.
#[derive(Clone, Copy, Default)]
struct Given {
    times: usize,
    texts: usize,
    lists: usize,
}

impl Facts<'_> {
    /// True if the name only ever stands for texts.
    pub(super) fn is_text(&self, name: &str) -> bool {
        self.given
            .get(name)
            .is_some_and(|given| given.texts == given.times)
    }

    /// True if the name only ever stands for what CPython makes step by step and the built-in interpreter at once.
    pub(super) fn is_made_at_once(&self, name: &str) -> bool {
        self.given
            .get(name)
            .is_some_and(|given| given.lists == given.times)
    }

    /// The member of that module that the name stands for.
    pub(super) fn member_of(&self, name: &str, module: &str) -> Option<&str> {
        let (from, member) = self.members.get(name)?;
        (*from == module).then_some(*member)
    }
}

/// True for what CPython makes step by step and the built-in interpreter at once.
pub(super) fn is_made_at_once(value: &Expr) -> bool {
    const MAKERS: &[&str] = &["enumerate", "filter", "map", "reversed", "zip"];
    match value {
        Expr::Generator(_) => true,
        Expr::Call(call) => {
            matches!(&*call.func, Expr::Name(name) if MAKERS.contains(&name.id.as_str()))
        }
        _ => false,
    }
}

pub(super) fn collect<'a>(statements: &'a [Stmt], imports: &'a [Import]) -> Facts<'a> {
    let mut facts = Facts::default();
    for import in imports.iter().filter(|import| import.level == 0) {
        facts.uses_pathlib |= &*import.module == "pathlib";
        if let Some(binds) = import.binds.as_deref() {
            facts.bound.insert(binds);
            match import.name.as_deref() {
                None => facts.modules.insert(binds, &import.module).is_some(),
                Some(member) => {
                    let member = (&*import.module, member);
                    facts.members.insert(binds, member).is_some()
                }
            };
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
                self.functions.insert(&f.name);
            }
            Stmt::Assign(assign) => {
                if let [Expr::Name(name)] = &*assign.targets {
                    let given = self.given.entry(&name.id).or_default();
                    given.texts += usize::from(assign.value.is_string_literal_expr());
                    given.lists += usize::from(is_made_at_once(&assign.value));
                }
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
                self.given.entry(&name.id).or_default().times += 1;
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
        self.given.entry(&parameter.name).or_default().times += 1;
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
