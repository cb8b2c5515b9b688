//! `easel explain`: what a code of the check means.

use easel_runtime::catalog::nearest;
use easel_runtime::check::{Code, Rule};

use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::wrap::wrapped;

/// Explains a code, or lists them all.
pub fn explain(code: Option<&str>) -> Result<Exit, Problem> {
    let Some(name) = code else {
        let names = Code::ALL.iter().map(|code| code.name().len());
        let width = names.max().unwrap_or(0);
        for code in Code::ALL {
            let Rule {
                name,
                severity,
                title,
                ..
            } = code.rule();
            out::line(&format!("{:<8} {name:<width$} {title}", severity.name()));
        }
        return Ok(Exit::Done);
    };
    let name = bare(name);
    let Some(code) = Code::find(name) else {
        let problem = Problem::usage(format!("There is no code `{name}`."));
        let like = nearest(name, Code::ALL.iter().map(|code| code.name()));
        return Err(match like {
            Some(like) => problem.fix(format!("Did you mean `{like}`? `easel explain` lists all.")),
            None => problem.fix("`easel explain` lists all; the check prints them in brackets."),
        });
    };
    let rule = code.rule();
    let mut text = format!(
        "{}[{}]: {}\n\n",
        rule.severity.name(),
        rule.name,
        rule.title
    );
    for paragraph in [rule.means, rule.matters] {
        wrapped(&mut text, paragraph, 0);
        text.push('\n');
    }
    text.push_str("Example:\n\n");
    for line in rule.example.lines() {
        text.push_str(&format!("    {line}\n"));
    }
    text.push('\n');
    wrapped(&mut text, &format!("What to do: {}", rule.fix), 0);
    out::print(&text);
    Ok(Exit::Done)
}

/// The code alone in what the check prints: `warning[no-model]`.
fn bare(printed: &str) -> &str {
    match printed.split_once('[') {
        Some((_, code)) => code.trim_end_matches([']', ':']),
        None => printed,
    }
}
