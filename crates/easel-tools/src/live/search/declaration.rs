//! What a provider is, as data: the declaration that a TOML file holds. `docs/search.md` describes it for people.

use easel_core::Value;
use indexmap::IndexMap;
use serde::Deserialize;
use url::Url;

use super::lookup::is_lookup;
use super::template::{Shape, Template};

/// A provider: what it takes, the requests by which it is asked, how its answers are read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// Its name for people.
    pub title: String,
    /// Its address, without a path. Without one the node or the deployment names it.
    pub(super) url: Option<Template>,
    /// The parameter that may name another address.
    pub(super) url_parameter: Option<String>,
    /// Whether it wants a key.
    #[serde(default)]
    pub(super) key: KeyUse,
    /// What the main argument is.
    #[serde(default)]
    pub(super) subject: Subject,
    /// What else it takes.
    #[serde(default)]
    pub(super) parameters: IndexMap<String, Parameter>,
    /// The parameter that says how many results are given at most.
    pub(super) limit: Option<String>,
    /// Seconds that one request may take, where they are not those of all providers.
    pub(super) seconds: Option<f64>,
    /// How often a request that failed for the moment is made again.
    #[serde(default = "twice")]
    pub(super) retries: u8,
    /// Its requests, in the order in which they are made.
    pub(super) steps: Vec<Step>,
}

fn twice() -> u8 {
    2
}

/// Whether a provider wants a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyUse {
    #[default]
    None,
    Optional,
    Required,
}

/// What the main argument of a provider is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Subject {
    #[default]
    Text,
    /// A list of addresses, or a text of them with commas between.
    Addresses,
}

/// A parameter beside the main argument.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Parameter {
    pub kind: Kind,
    pub default: Option<Value>,
    /// The values it may have; any if there are none.
    pub allowed: Vec<String>,
    /// What the provider calls the values that it may have.
    pub names: IndexMap<String, String>,
    pub least: Option<i64>,
    pub most: Option<i64>,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    #[default]
    Text,
    /// Letters, digits and hyphens: what may stand in the name of a host.
    Label,
    Integer,
    Boolean,
    List,
}

/// One request, and what is done with its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// It is made if one of these holds, or if there is none.
    #[serde(default)]
    pub when: Vec<IndexMap<String, Value>>,
    #[serde(default)]
    pub method: Method,
    /// Another address than that of the provider.
    pub url: Option<Template>,
    pub path: Template,
    #[serde(default)]
    pub query: IndexMap<String, Shape>,
    #[serde(default)]
    pub headers: IndexMap<String, Template>,
    pub json: Option<Shape>,
    pub form: Option<Shape>,
    /// Whether an answer is read whatever its status.
    #[serde(default)]
    pub any_status: bool,
    #[serde(default)]
    pub format: Format,
    /// The redirects that are followed.
    #[serde(default)]
    pub redirects: u8,
    /// What is kept of the answer for later steps.
    #[serde(default)]
    pub keep: IndexMap<String, Template>,
    /// The header that is kept, up to its first semicolon.
    #[serde(default)]
    pub keep_header: IndexMap<String, String>,
    /// The place that says that the request failed, or what must stand in it.
    pub failure: Option<Template>,
    /// A part of what `failure` says when there are merely no results.
    pub no_results: Option<String>,
    /// What must stand at a place of the answer.
    #[serde(default)]
    pub expect: IndexMap<String, String>,
    /// Where the results are; a step without it gives none.
    pub items: Option<String>,
    /// Whether an answer without `items` is one without results.
    #[serde(default)]
    pub may_be_missing: bool,
    /// The member of results by whose number they are ordered.
    pub order: Option<String>,
    /// What results are given beside their own members.
    #[serde(default)]
    pub fields: IndexMap<String, Template>,
    /// The section of a report that the results become together.
    pub section: Option<Section>,
}

/// How a request is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Method {
    #[default]
    Get,
    Post,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Format {
    #[default]
    Json,
    /// JSON as the argument of a call: `name({…})`.
    Jsonp,
    Xml,
    Html,
    Text,
}

/// A section of a report.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    pub title: String,
    pub layout: Layout,
}

/// How results are laid out in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Layout {
    /// A table of names and values.
    Record,
    /// A table with a column for each result, under the date at which it ends.
    Periods,
    /// A table with a row for each time of a series of prices.
    Series,
    /// A line for each result: its field `line`.
    Lines,
}

/// Why a declaration cannot be used.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("the search provider {provider} cannot be used: {problem}")]
pub struct DeclarationError {
    /// The provider, by the name of its function.
    pub provider: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Declaration {
    /// Reads and checks a declaration. `provider` is the name of the function that it answers.
    ///
    /// Errors: the text is no TOML, holds a setting that there is not, or names something that it does not declare.
    pub fn from_toml(provider: &str, text: &str) -> Result<Declaration, DeclarationError> {
        let declared = toml::from_str::<Declaration>(text);
        let declared = declared.map_err(|error| fault(provider, error.to_string().trim_end()))?;
        declared.checked(provider)
    }

    /// The same declaration, if all that it names is there. Errors: as for [`Declaration::from_toml`].
    pub fn checked(self, provider: &str) -> Result<Declaration, DeclarationError> {
        match self.problem() {
            None => Ok(self),
            Some(problem) => Err(fault(provider, &problem)),
        }
    }

    fn problem(&self) -> Option<String> {
        if self.steps.iter().all(|step| step.items.is_none()) {
            return Some("no step has `items`, so there would never be a result".to_owned());
        }
        if self.seconds.is_some_and(|s| !(s > 0.0 && s <= 600.0)) {
            return Some("`seconds` must be more than 0 and at most 600".to_owned());
        }
        if self.retries > 5 {
            return Some("`retries` must be at most 5".to_owned());
        }
        if self.url.is_none() && self.url_parameter.is_none() {
            return Some("it has neither `url` nor `url_parameter`".to_owned());
        }
        for name in self.limit.iter().chain(&self.url_parameter) {
            if !self.parameters.contains_key(name) {
                return Some(format!("it declares no parameter `{name}`"));
            }
        }
        let parameters = self.parameters.iter();
        parameters
            .map(|(name, parameter)| parameter.problem(name))
            .chain(self.addresses().map(|url| self.address_problem(url)))
            .chain((0..self.steps.len()).map(|at| self.step_problem(at)))
            .find_map(|problem| problem)
    }

    fn addresses(&self) -> impl Iterator<Item = &Template> {
        let others = self.steps.iter().filter_map(|step| step.url.as_ref());
        self.url.iter().chain(others)
    }

    /// Whatever fills a place of an address must not be able to make another of it.
    fn address_problem(&self, url: &Template) -> Option<String> {
        for place in url.places() {
            let parameter = self.parameters.get(place);
            if !parameter.is_some_and(Parameter::is_tame) {
                return Some(format!(
                    "`{place}` stands in an address: declare it with `kind = \"label\"`, `allowed` or `names`"
                ));
            }
        }
        let example = url.render(|_| Some("x".to_owned())).unwrap_or_default();
        address_fault(&example)
    }

    fn step_problem(&self, at: usize) -> Option<String> {
        let step = self.steps.get(at)?;
        let before = self.steps.iter().take(at);
        let kept: Vec<&String> = before
            .flat_map(|step| step.keep.keys().chain(step.keep_header.keys()))
            .collect();
        let known = |name: &str| {
            matches!(name, "subject" | "now")
                || (name == "key" && self.key != KeyUse::None)
                || self.parameters.contains_key(name)
                || kept.iter().any(|kept| *kept == name)
        };
        let shapes = step.query.values().chain(&step.json).chain(&step.form);
        let mut named: Vec<&str> = shapes.flat_map(Shape::places).collect();
        named.extend(step.path.places());
        named.extend(step.headers.values().flat_map(Template::places));
        named.extend(step.when.iter().flat_map(|c| c.keys().map(String::as_str)));
        if let Some(name) = named.into_iter().find(|name| !known(name)) {
            return Some(format!(
                "step {} names `{name}`, which nothing gives",
                at + 1
            ));
        }
        let templates = step
            .keep
            .values()
            .chain(step.fields.values())
            .chain(&step.failure);
        let mut lookups = templates.flat_map(Template::places);
        if let Some(lookup) = lookups.find(|lookup| !is_lookup(lookup)) {
            return Some(format!(
                "step {} has a filter that is none: `{lookup}`",
                at + 1
            ));
        }
        if step.json.is_some() && step.form.is_some() {
            return Some(format!("step {} has both `json` and `form`", at + 1));
        }
        let path = step.path.render(|_| Some("x".to_owned()))?;
        if !path.starts_with('/') || path.contains(['?', '#', '\\']) {
            return Some(format!(
                "the `path` of step {} must begin with / and have no ? and no #",
                at + 1
            ));
        }
        None
    }
}

impl Parameter {
    /// Whether none of its values could be anything but a part of a host's name.
    fn is_tame(&self) -> bool {
        let tame = |text: &String| is_label(text);
        match (self.names.is_empty(), self.allowed.is_empty()) {
            (true, true) => self.kind == Kind::Label,
            (false, true) => self.names.values().all(tame),
            (true, false) => self.allowed.iter().all(tame),
            (false, false) => self.names.values().chain(&self.allowed).all(tame),
        }
    }

    fn problem(&self, name: &str) -> Option<String> {
        if matches!(name, "subject" | "key" | "now") {
            return Some(format!("no parameter can be called `{name}`"));
        }
        let default = self.default.as_ref()?;
        self.read(default)
            .err()
            .map(|problem| format!("the default of `{name}` does not fit: {problem}"))
    }
}

/// Whether a text may be a part of a host's name.
pub(super) fn is_label(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=63).contains(&text.len()) && text.chars().all(fits)
}

/// Why a text is no address of a provider.
pub(super) fn address_fault(url: &str) -> Option<String> {
    let parsed = match Url::parse(url) {
        Ok(parsed) => parsed,
        Err(error) => return Some(format!("the address \"{url}\" is none: {error}")),
    };
    let usable = matches!(parsed.scheme(), "http" | "https")
        && parsed.has_host()
        && parsed.query().is_none()
        && parsed.fragment().is_none()
        && parsed.username().is_empty()
        && parsed.password().is_none();
    (!usable).then(|| {
        "an address must begin with http:// or https:// and hold no name of a user, no ? and no #"
            .to_owned()
    })
}

fn fault(provider: &str, problem: &str) -> DeclarationError {
    DeclarationError {
        provider: provider.to_owned(),
        problem: problem.to_owned(),
    }
}
