//! The texts in a node's parameters that are more than data, those of an agent's tools included.

use std::sync::Arc;

use easel_catalog::{Catalog, Component, Role, Site};
use easel_core::reference::Path;
use easel_core::{Object, Value};

/// Tools inside tools, at most; deeper ones are passed over.
const DEEPEST: u32 = 16;

/// A component whose parameters stand in a node, and where: the node's own at the empty path, then those of its tools.
pub(crate) fn each_table(
    catalog: &Catalog,
    table: &Arc<Component>,
    params: &Object,
    visit: &mut dyn FnMut(&Component, &Object, &str),
) {
    within(catalog, table, params, "", DEEPEST, visit);
}

fn within(
    catalog: &Catalog,
    table: &Arc<Component>,
    params: &Object,
    prefix: &str,
    depth: u32,
    visit: &mut dyn FnMut(&Component, &Object, &str),
) {
    visit(table, params, prefix);
    let inner = table
        .sites(params)
        .into_iter()
        .filter(|site| site.role == Role::Params);
    for Site { path, value, .. } in inner {
        if let (Some(tool), Some(members)) = (tool(catalog, params, &path), value.as_object())
            && depth > 0
        {
            within(
                catalog,
                &tool,
                members,
                &format!("{prefix}{path}."),
                depth - 1,
                visit,
            );
        }
    }
}

/// The component whose parameters stand at `path`: the member `component_name` beside them names it.
fn tool(catalog: &Catalog, params: &Object, path: &str) -> Option<Arc<Component>> {
    let (entry, _) = path.rsplit_once('.')?;
    let (first, rest) = entry.split_once('.').unwrap_or((entry, ""));
    let entry = Path::parse(rest).walk(params.get(first)?)?;
    let name = entry.get("component_name").and_then(Value::as_str)?;
    catalog.get(name).cloned()
}
