//! Parameters that had another name or type (spec/canvas-engine §1.5 N9, T5; spec/canvas-components §8).

use easel_core::{Object, Value};

use super::{Node, Rewrite, Rewriter};
use crate::component::{ids, text};
use crate::edit::{items, members};

/// Brings the parameters of every component to their present names and types.
pub(super) fn shapes(rewriter: &mut Rewriter) {
    rewriter.each_node(|node| {
        list_of_ids(node, "exception_goto");
        if node.is("Message") {
            message(node);
        } else if node.is("Categorize") {
            categorize(node);
        } else if node.is("Switch") {
            switch(node);
        } else if node.is("Begin") || node.is("UserFillUp") {
            fields(node);
        }
    });
}

/// A list of ids that was written as one text.
fn list_of_ids(node: &mut Node, name: &str) {
    if to_list(&mut node.params, name) {
        node.note_param(
            Rewrite::ParamReshaped,
            name,
            format!("`{name}` was one id and is a list of ids now"),
        );
    }
}

fn to_list(object: &mut Object, name: &str) -> bool {
    let Some(one @ Value::String(_)) = object.get(name) else {
        return false;
    };
    let list: Vec<Value> = ids(one).into_iter().map(Value::from).collect();
    object.insert(name.into(), list.into());
    true
}

/// `messages` is called `content`, and that is a list.
fn message(node: &mut Node) {
    let has_content = node.params.get("content").is_some_and(Value::is_truthy);
    if node.params.contains_key("messages") && !has_content {
        node.rename_param("messages", "content");
    }
    if let Some(one @ Value::String(_)) = node.params.get("content") {
        let list = vec![one.clone()];
        node.params.insert("content".into(), list.into());
        node.note_param(
            Rewrite::ParamReshaped,
            "content",
            "`content` was one text and is a list of texts now",
        );
    }
}

/// Each category leads to a list of ids and has its examples one by one.
fn categorize(node: &mut Node) {
    let (mut leading, mut exemplified) = (0, 0);
    let described = node
        .params
        .get_mut("category_description")
        .and_then(members);
    for (_, category) in described.into_iter().flatten() {
        let Some(category) = members(category) else {
            continue;
        };
        leading += usize::from(to_list(category, "to"));
        if let Some(Value::String(lines)) = category.get("examples") {
            let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
            let list: Vec<Value> = lines.map(Value::from).collect();
            category.insert("examples".into(), list.into());
            exemplified += 1;
        }
    }
    for (count, what) in [
        (
            leading,
            "`to` of {} categories was one id and is a list of ids now",
        ),
        (
            exemplified,
            "`examples` of {} categories was one text and is a list of its lines now",
        ),
    ] {
        if count > 0 {
            let what = what.replace("{}", &count.to_string());
            node.note_param(Rewrite::ParamReshaped, "category_description", what);
        }
    }
}

/// Each case leads to a list of ids, and so does what holds otherwise.
fn switch(node: &mut Node) {
    let mut changed = 0;
    let conditions = node.params.get_mut("conditions").and_then(items);
    for condition in conditions.into_iter().flatten().filter_map(members) {
        changed += usize::from(to_list(condition, "to"));
    }
    if changed > 0 {
        let what = format!("`to` of {changed} conditions was one id and is a list of ids now");
        node.note_param(Rewrite::ParamReshaped, "conditions", what);
    }
    if node.params.contains_key("end_cpn_id") && !node.params.contains_key("end_cpn_ids") {
        node.rename_param("end_cpn_id", "end_cpn_ids");
    }
    list_of_ids(node, "end_cpn_ids");
}

/// A list of fields becomes an object of fields by key.
fn fields(node: &mut Node) {
    let Some(list) = node.params.get("inputs").and_then(Value::as_array) else {
        return;
    };
    let keyed: Object = list
        .iter()
        .filter_map(|field| Some((text(field.get("key"))?, field.clone())))
        .collect();
    if !keyed.is_empty() {
        node.params.insert("inputs".into(), keyed.into());
        node.note_param(
            Rewrite::ParamReshaped,
            "inputs",
            "`inputs` was a list of fields and is an object by key now",
        );
    }
}
