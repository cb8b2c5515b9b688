//! From text to [`Source`]: parse, collect what the module defines, then ask what the built-in interpreter lacks.

use std::sync::Arc;

use ruff_python_ast::{Expr, Mod, Parameters, Stmt};
use ruff_python_parser::{Mode, ParseErrorType, ParseOptions, parse};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{
    Assigned, Class, Function, Import, MAX_SOURCE, Parameter, ParameterKind, Place, Source,
    SourceError, chain, facts, guarded, monty,
};

/// Levels of statements and expressions that are read; the built-in interpreter and CPython stop at about as many.
const MOST_LEVELS: u16 = 200;

pub(super) fn read(file: &str, text: &str) -> Result<Source, SourceError> {
    let file: Arc<str> = file.into();
    if text.len() > MAX_SOURCE {
        return Err(SourceError::TooLarge {
            file,
            size: text.len(),
        });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::of(text);
    if chain::too_long(text) {
        let place = Place { line: 1, column: 1 };
        return Err(SourceError::TooDeep { file, place });
    }
    let options = ParseOptions::from(Mode::Module).with_max_recursion_depth(MOST_LEVELS);
    let module = match parse(text, options).map(|parsed| parsed.into_syntax()) {
        Ok(Mod::Module(module)) => module,
        Ok(Mod::Expression(_)) => {
            let problem = "expected statements".into();
            let place = Place { line: 1, column: 1 };
            return Err(SourceError::Syntax {
                file,
                place,
                problem,
            });
        }
        Err(error) => {
            let place = lines.place(error.location.start());
            return Err(match error.error {
                ParseErrorType::RecursionLimitExceeded => SourceError::TooDeep { file, place },
                problem => SourceError::Syntax {
                    file,
                    place,
                    problem: problem.to_string(),
                },
            });
        }
    };
    let mut reader = Reader {
        lines: &lines,
        source: Source {
            file,
            functions: Vec::new(),
            classes: Vec::new(),
            imports: Vec::new(),
            assigned: Vec::new(),
            needs: Vec::new(),
            runs_something: module.body.iter().any(|s| !is_docstring(s)),
            reads_result_by_attribute: false,
        },
    };
    reader.statements(&module.body, Scope::TOP);
    let mut source = reader.source;
    let facts = facts::collect(&module.body, &source.imports);
    source.needs = monty::needs(&module.body, &facts, &lines);
    source.reads_result_by_attribute = facts.result_by_attribute && !facts.result_by_key;
    Ok(source)
}

fn is_docstring(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(s) if s.value.is_string_literal_expr())
}

/// True for an expression whose value certainly cannot be called.
fn is_data(value: &Expr) -> bool {
    value.is_literal_expr()
        || value.is_f_string_expr()
        || value.is_list_expr()
        || value.is_tuple_expr()
        || value.is_set_expr()
        || value.is_dict_expr()
        || value.is_list_comp_expr()
        || value.is_set_comp_expr()
        || value.is_dict_comp_expr()
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Scope {
    at_top: bool,
    optional: bool,
}

impl Scope {
    const TOP: Scope = Scope {
        at_top: true,
        optional: false,
    };
}

struct Reader<'t> {
    lines: &'t Lines<'t>,
    source: Source,
}

impl Reader<'_> {
    fn statements(&mut self, statements: &[Stmt], scope: Scope) {
        for statement in statements {
            self.statement(statement, scope);
        }
    }

    fn statement(&mut self, statement: &Stmt, scope: Scope) {
        match statement {
            Stmt::FunctionDef(f) => {
                if scope.at_top {
                    let function = Function {
                        name: f.name.as_str().into(),
                        parameters: self.parameters(&f.parameters),
                        rest: f
                            .parameters
                            .vararg
                            .as_deref()
                            .map(|p| p.name.as_str().into()),
                        keywords: f
                            .parameters
                            .kwarg
                            .as_deref()
                            .map(|p| p.name.as_str().into()),
                        is_async: f.is_async,
                        decorated: !f.decorator_list.is_empty(),
                        place: self.lines.place(f.name.start()),
                    };
                    self.source.functions.push(function);
                }
                self.inner(&f.body, scope);
            }
            Stmt::ClassDef(c) => {
                if scope.at_top {
                    self.source.classes.push(Class {
                        name: c.name.as_str().into(),
                        place: self.lines.place(c.name.start()),
                    });
                }
                self.inner(&c.body, scope);
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let module = alias.name.as_str();
                    let first = module.split('.').next().unwrap_or(module);
                    let binds = alias.asname.as_ref().map_or(first, |name| name.as_str());
                    self.source.imports.push(Import {
                        module: module.into(),
                        name: None,
                        binds: Some(binds.into()),
                        level: 0,
                        optional: scope.optional,
                        at_top: scope.at_top,
                        place: self.lines.place(alias.range.start()),
                    });
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    let name = alias.name.as_str();
                    let binds = alias.asname.as_ref().map_or(name, |name| name.as_str());
                    self.source.imports.push(Import {
                        module: import.module.as_ref().map_or("", |m| m.as_str()).into(),
                        name: Some(name.into()),
                        binds: (name != "*").then(|| binds.into()),
                        level: import.level,
                        optional: scope.optional,
                        at_top: scope.at_top,
                        place: self.lines.place(import.range.start()),
                    });
                }
            }
            Stmt::Assign(assign) if scope.at_top => {
                let is_data = is_data(&assign.value);
                for target in &assign.targets {
                    self.assigned(target, is_data);
                }
            }
            Stmt::AnnAssign(assign) if scope.at_top => {
                if let Some(value) = &assign.value {
                    self.assigned(&assign.target, is_data(value));
                }
            }
            Stmt::Try(s) => {
                let optional = scope.optional || guarded::catches_import_errors(s);
                self.statements(&s.body, Scope { optional, ..scope });
                for body in guarded::bodies(statement) {
                    if !std::ptr::eq(body, &*s.body) {
                        self.statements(body, scope);
                    }
                }
            }
            Stmt::If(s) if guarded::is_for_type_checkers(s) => {
                let optional = true;
                self.statements(&s.body, Scope { optional, ..scope });
                for clause in &s.elif_else_clauses {
                    self.statements(&clause.body, scope);
                }
            }
            _ => {
                for body in guarded::bodies(statement) {
                    self.statements(body, scope);
                }
            }
        }
    }

    /// Statements of a function or class: their imports count, their names do not.
    fn inner(&mut self, statements: &[Stmt], scope: Scope) {
        let at_top = false;
        self.statements(statements, Scope { at_top, ..scope });
    }

    fn assigned(&mut self, target: &Expr, is_data: bool) {
        match target {
            Expr::Name(name) => {
                let mut known = self.source.assigned.iter_mut();
                match known.find(|a| &*a.name == name.id.as_str()) {
                    Some(known) => known.is_data &= is_data,
                    None => self.source.assigned.push(Assigned {
                        name: name.id.as_str().into(),
                        is_data,
                        place: self.lines.place(name.range.start()),
                    }),
                }
            }
            // Its parts get parts of the value.
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|p| self.assigned(p, false)),
            Expr::List(list) => list.elts.iter().for_each(|p| self.assigned(p, false)),
            Expr::Starred(starred) => self.assigned(&starred.value, false),
            _ => {}
        }
    }

    fn parameters(&self, parameters: &Parameters) -> Vec<Parameter> {
        let groups = [
            (&parameters.posonlyargs, ParameterKind::PositionalOnly),
            (&parameters.args, ParameterKind::Either),
            (&parameters.kwonlyargs, ParameterKind::KeywordOnly),
        ];
        let mut named = Vec::new();
        for (group, kind) in groups {
            named.extend(group.iter().map(|given| {
                Parameter {
                    name: given.parameter.name.as_str().into(),
                    default: given
                        .default
                        .as_deref()
                        .map(|default| self.lines.text(default.range()).into()),
                    kind,
                }
            }));
        }
        named
    }
}

/// The lines of a text, for turning offsets into places.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Lines<'t> {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_breaks).collect();
        Lines { text, starts }
    }

    pub(super) fn place(&self, offset: TextSize) -> Place {
        let offset = offset.to_usize().min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        Place {
            line,
            column: before.chars().count() + 1,
        }
    }

    fn text(&self, range: TextRange) -> &'t str {
        self.text
            .get(range.start().to_usize()..range.end().to_usize())
            .unwrap_or_default()
    }
}
