//! Models that nothing answers for.

use easel_catalog::{Family, Type};
use easel_core::Value;

use crate::canvas::Surroundings;
use crate::code::Code;
use crate::diagnostic::sentence;
use crate::findings::{Findings, Found};
use crate::sites;

/// Reports blank model names where no default is set, and names that nothing answers to.
pub(crate) fn report(findings: &mut Findings<'_>, surroundings: &Surroundings<'_>) {
    let canvas = findings.canvas;
    for node in &canvas.workflow.nodes {
        let (Some(table), Some(params)) = (
            canvas.catalog.get(&node.draft.component),
            node.draft.params.as_object(),
        ) else {
            continue;
        };
        let id = &node.draft.id;
        let mut asked: Vec<(String, String)> = Vec::new();
        sites::each_table(canvas.catalog, table, params, &mut |table, params, at| {
            for param in table.all_params().filter(|param| param.kind == Type::Model) {
                let model = params
                    .get(&param.name)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .trim();
                // Where a model is no more than an option, blank means none.
                let needed = matches!(table.family, Family::Model | Family::Control)
                    && *param.name == *"llm_id";
                if needed || !model.is_empty() {
                    asked.push((format!("{at}{}", param.name), model.to_owned()));
                }
            }
        });
        for (path, model) in asked {
            let Some(reason) = (surroundings.model)(&model) else {
                continue;
            };
            let found = match model.as_str() {
                "" => Found::new(
                    Code::NoModel,
                    format!("`{id}` names no model, and no default model is set."),
                ),
                model => {
                    let message = format!(
                        "`{id}` asks for the model `{model}`, which nothing configured answers to."
                    );
                    Found::new(Code::UnknownModel, message).detail(sentence(&reason))
                }
            };
            let spot = findings.spots.param(id, &path);
            findings.add(found.node(id).at(spot));
        }
    }
}
