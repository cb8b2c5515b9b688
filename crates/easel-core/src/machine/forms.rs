//! Forms: asking, waiting, and what an answer does.

use std::sync::Arc;

use super::Machine;
use super::frame::Site;
use super::node::NodeSignal;
use super::run::RunSignal;
use crate::bind::{Activation, Inputs};
use crate::draft::{FormField, Kind};
use crate::effect::Observation;
use crate::event::Answer;
use crate::template::Rendering;
use crate::workflow::NodeId;
use crate::{Object, Value};

impl Machine {
    /// A form is reached: it asks, unless it has nothing to ask.
    pub(super) fn ask(&mut self, site: Site) {
        let inputs = match self.bind(site) {
            Ok(inputs) => inputs,
            Err(fault) => {
                self.note_start(site, Inputs::default());
                return self.fail_for_good(site, fault);
            }
        };
        let (Some(id), Some(state)) = (self.node_id(site), self.frames.node_mut(site)) else {
            return;
        };
        let kind = &self.workflow.node(id).draft.kind;
        if let Kind::Form {
            tips: Some(tips), ..
        } = kind
        {
            let tips = tips.render(&inputs, Rendering::Joined);
            state.ports.set("tips", tips);
        }
        let fields = fields(kind);
        let keeps = |key: &str| fields.iter().any(|f| f.unasked && *f.key == *key);
        state.inputs = inputs;
        // Asked again in a loop, it asks afresh; what it does not ask for stays as it was.
        state.answers.retain(|key, _| keeps(key));
        for field in fields {
            let given = field
                .given
                .iter()
                .filter_map(|&read| state.inputs.get(read).value());
            if let Some(value) = given.into_iter().find(|value| !value.is_null()) {
                state.answers.insert(field.key.clone(), value.clone());
            }
        }
        // A field that takes what stands somewhere already is no reason to ask if it is optional.
        let asks = |field: &FormField| {
            is_open(field, &state.answers) && (field.given.is_empty() || !field.optional)
        };
        let activation = state.activation;
        if fields.iter().any(asks) {
            self.signal(site, NodeSignal::Ask);
            self.forms.insert(activation);
        } else {
            self.line_up_for_a_place(site);
        }
    }

    /// Nothing but open forms is left: the turn ends with one question.
    pub(super) fn wait(&mut self) {
        if !self.move_on(RunSignal::Wait) {
            return;
        }
        let mut open = Object::new();
        let mut tips: Arc<str> = "".into();
        let mut forms = Vec::new();
        for (site, id) in self.open_forms() {
            let Kind::Form { fields, tips: text } = &self.workflow.node(id).draft.kind else {
                continue;
            };
            let Some(state) = self.frames.node(site) else {
                continue;
            };
            for field in fields.iter().filter(|f| is_open(f, &state.answers)) {
                let mut declaration = field.declaration.clone();
                declaration.insert("value".into(), Value::Null);
                open.insert(field.key.clone(), Value::from(declaration));
            }
            if let (Some(_), Some(Value::String(text))) = (text, state.ports.get("tips")) {
                tips = text.clone();
            }
            forms.push(id);
        }
        let at = self.now;
        self.reaction.observations.push(Observation::Asked {
            fields: open,
            tips,
            forms,
            at,
        });
    }

    /// Takes in an answer. One that fits no open field leaves the run as it was.
    pub(super) fn answered(&mut self, answer: &Answer) {
        if self.life != super::RunLife::Waiting {
            return;
        }
        let given = self.fitting(answer);
        let forms = self.open_forms();
        let enough = |site: Site, id: NodeId| {
            let told = self.frames.node(site).map(|n| &n.answers);
            fields(&self.workflow.node(id).draft.kind)
                .iter()
                .all(|field| {
                    let told = told.and_then(|t| t.get(&field.key));
                    let value = given.get(&field.key).or(told);
                    field.optional || value.is_some_and(|v| !v.is_null())
                })
        };
        let touched = |id: NodeId| {
            let declared = fields(&self.workflow.node(id).draft.kind);
            declared.iter().any(|f| given.contains_key(&f.key))
        };
        let empty = answer.fields.is_empty() && answer.text.is_none();
        let moves_on: Vec<(Site, NodeId, bool)> = forms
            .into_iter()
            .filter(|&(site, id)| touched(id) || (empty && enough(site, id)))
            .map(|(site, id)| (site, id, enough(site, id)))
            .collect();
        if moves_on.is_empty() {
            let open = self.open_keys();
            let at = self.now;
            let unfit = Observation::AnswerUnfit { open, at };
            self.reaction.observations.push(unfit);
            return;
        }
        self.move_on(RunSignal::Answer);
        self.set_variables(&answer.variables);
        self.context = answer.context.clone();
        self.gathered = Arc::default();
        for (site, id, enough) in moves_on {
            let workflow = self.workflow.clone();
            let Some(state) = self.frames.node_mut(site) else {
                continue;
            };
            for field in fields(&workflow.node(id).draft.kind) {
                if let Some(value) = given.get(&field.key) {
                    state.answers.insert(field.key.clone(), value.clone());
                }
            }
            let activation = state.activation;
            if enough && self.signal(site, NodeSignal::Queue) {
                self.forms.remove(&activation);
                self.line_up_for_a_place(site);
            }
        }
    }

    /// The fields of an answer that some open form declares. Plain text stands for the only open field.
    fn fitting(&self, answer: &Answer) -> Object {
        let declared = |key: &str| {
            let forms = self.open_forms();
            let mut kinds = forms
                .iter()
                .map(|&(_, id)| &self.workflow.node(id).draft.kind);
            kinds.any(|kind| fields(kind).iter().any(|f| *f.key == *key))
        };
        let by_key = |fields: &Object| -> Object {
            let fitting = fields.iter().filter(|(key, _)| declared(key));
            fitting
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        };
        match &answer.text {
            _ if !answer.fields.is_empty() => by_key(&answer.fields),
            Some(Value::Object(fields)) => by_key(fields),
            Some(text) => match self.open_keys().as_slice() {
                [only] => Object::from_iter([(only.clone(), text.clone())]),
                _ => Object::new(),
            },
            None => Object::new(),
        }
    }

    /// Keys that a question lists now.
    fn open_keys(&self) -> Vec<Arc<str>> {
        let mut keys: Vec<Arc<str>> = Vec::new();
        for (site, id) in self.open_forms() {
            let Some(state) = self.frames.node(site) else {
                continue;
            };
            let declared = fields(&self.workflow.node(id).draft.kind);
            for field in declared.iter().filter(|f| is_open(f, &state.answers)) {
                if !keys.contains(&field.key) {
                    keys.push(field.key.clone());
                }
            }
        }
        keys
    }

    fn open_forms(&self) -> Vec<(Site, NodeId)> {
        let site = |form: &Activation| self.active.get(form).copied();
        let sites = self.forms.iter().filter_map(site);
        sites.filter_map(|s| Some((s, self.node_id(s)?))).collect()
    }
}

fn fields(kind: &Kind) -> &[FormField] {
    match kind {
        Kind::Form { fields, .. } => fields,
        _ => &[],
    }
}

/// True if a question lists the field: it is asked for and has no answer yet.
fn is_open(field: &FormField, answers: &Object) -> bool {
    !field.unasked && answers.get(&field.key).is_none_or(Value::is_null)
}
