//! Imports that a file can do without.

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtIf, StmtTry};

/// True if a failing import in the body of this `try` is caught: `except`, `except Exception`, `except ImportError`.
pub(super) fn catches_import_errors(statement: &StmtTry) -> bool {
    statement.handlers.iter().any(|handler| {
        let ExceptHandler::ExceptHandler(handler) = handler;
        match handler.type_.as_deref() {
            None => true,
            Some(Expr::Tuple(types)) => types.elts.iter().any(is_import_error),
            Some(one) => is_import_error(one),
        }
    })
}

fn is_import_error(class: &Expr) -> bool {
    const CATCHING: &[&str] = &[
        "ImportError",
        "ModuleNotFoundError",
        "Exception",
        "BaseException",
    ];
    matches!(class, Expr::Name(name) if CATCHING.contains(&name.id.as_str()))
}

/// True for `if TYPE_CHECKING:`, whose body never runs.
pub(super) fn is_for_type_checkers(statement: &StmtIf) -> bool {
    match &*statement.test {
        Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}

/// The statements directly inside a compound statement that belong to the same scope.
pub(super) fn bodies(statement: &Stmt) -> Vec<&[Stmt]> {
    match statement {
        Stmt::If(s) => std::iter::once(&*s.body)
            .chain(s.elif_else_clauses.iter().map(|clause| &*clause.body))
            .collect(),
        Stmt::Try(s) => {
            let handlers = s.handlers.iter().map(|handler| {
                let ExceptHandler::ExceptHandler(handler) = handler;
                &*handler.body
            });
            [&*s.body, &*s.orelse, &*s.finalbody]
                .into_iter()
                .chain(handlers)
                .collect()
        }
        Stmt::For(s) => vec![&*s.body, &*s.orelse],
        Stmt::While(s) => vec![&*s.body, &*s.orelse],
        Stmt::With(s) => vec![&*s.body],
        Stmt::Match(s) => s.cases.iter().map(|case| &*case.body).collect(),
        _ => Vec::new(),
    }
}
