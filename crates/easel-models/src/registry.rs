//! From the model ids in workflows to the models that are configured.

use std::fmt;
use std::sync::Arc;

use futures::{StreamExt, stream};
use indexmap::IndexMap;

use crate::chat::{ChatModel, ChatRequest, ChatStream, Credential, ModelInfo};
use crate::config::ModelsConfig;
use crate::error::ModelError;

/// All configured models behind one door. It finds the provider by the id in a request and passes the request on.
///
/// An id is looked up so:
/// 1. blank: the default model; then the alias table, once.
/// 2. `model@instance@provider`: a provider configured as `instance@provider`, else as `provider`.
/// 3. `model@provider`: that provider. Names are compared as written, then without regard to case.
/// 4. `model` alone: the first provider that lists it, else the only provider if it passes on any name.
/// 5. nothing found: the fallback, if one is set.
///
/// A suffix that begins with three underscores (`gpt-4o___OpenAI-API`), as some canvases carry, is not part of the name
/// unless the provider lists it so.
#[derive(Clone, Default)]
pub struct Registry {
    names: ModelsConfig,
    providers: IndexMap<Arc<str>, Provider>,
}

#[derive(Clone)]
struct Provider {
    model: Arc<dyn ChatModel>,
    /// The names it offers; empty: any.
    offers: Vec<String>,
}

/// Why a configuration of models cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A setting of a provider is wrong.
    #[error("[providers.{provider}] {setting}: {cause}")]
    Setting {
        /// The provider.
        provider: String,
        /// The setting.
        setting: &'static str,
        /// What is wrong, and what to write.
        cause: String,
    },
    /// Two providers differ in nothing but the case of their names.
    #[error("[providers.{0}] and [providers.{1}] differ only in case; rename one")]
    SameName(String, String),
    /// `default`, `fallback` or an alias leads nowhere.
    #[error("[models] {setting} leads nowhere: {cause}")]
    LeadsNowhere {
        /// `default`, `fallback` or `alias."id"`.
        setting: String,
        /// Why.
        cause: String,
    },
    /// This build has no HTTP client.
    #[error(
        "[providers.{0}]: this build of Easel has no HTTP client; build it with the feature `http`"
    )]
    NoHttp(String),
}

impl Registry {
    /// A registry with names and no providers yet; add them with [`Registry::with`], then [`Registry::check`].
    pub fn new(names: ModelsConfig) -> Registry {
        Registry {
            names,
            providers: IndexMap::new(),
        }
    }

    /// A registry of everything in a configuration. Keys are asked for when a request is made, not here.
    ///
    /// Errors: as [`ConfigError`] says; a default or alias that leads nowhere is one.
    pub fn from_config(
        names: ModelsConfig,
        providers: &IndexMap<String, crate::config::ProviderConfig>,
        secrets: &easel_secrets::Resolver,
    ) -> Result<Registry, ConfigError> {
        let mut registry = Registry::new(names);
        for (name, config) in providers {
            let offers = config.models.keys().cloned().collect();
            registry = registry.with(name, connect(name, config, secrets)?, offers);
        }
        registry.check()?;
        Ok(registry)
    }

    /// Adds a provider, or replaces the one of that name. It offers the given model names; none given: any.
    #[must_use]
    pub fn with(mut self, name: &str, model: Arc<dyn ChatModel>, offers: Vec<String>) -> Registry {
        self.providers
            .insert(name.into(), Provider { model, offers });
        self
    }

    /// Sees to it that names are distinct and that default, fallback and aliases lead somewhere.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut lower = IndexMap::new();
        for name in self.providers.keys() {
            if let Some(other) = lower.insert(name.to_lowercase(), name) {
                return Err(ConfigError::SameName(other.to_string(), name.to_string()));
            }
        }
        let aliases = self
            .names
            .alias
            .iter()
            .map(|(id, target)| (format!("alias.{id:?}"), target));
        let default = self
            .names
            .default
            .iter()
            .map(|target| ("default".to_owned(), target));
        let fallback = self
            .names
            .fallback
            .iter()
            .map(|target| ("fallback".to_owned(), target));
        for (setting, target) in default.chain(fallback).chain(aliases) {
            // The default may be an alias; an alias and the fallback may not, so that no circle can arise.
            let target = match setting.as_str() {
                "default" => self.names.alias.get(target).unwrap_or(target),
                _ => target,
            };
            self.find(target)
                .map_err(|cause| ConfigError::LeadsNowhere { setting, cause })?;
        }
        Ok(())
    }

    /// The id that stands in for a blank one.
    pub fn default_model(&self) -> Option<&str> {
        self.names.default.as_deref()
    }

    /// The ids that can be written: `model@provider` for each listed model, `*@provider` where any name goes.
    pub fn configured(&self) -> Vec<String> {
        let ids = self.providers.iter().flat_map(|(provider, entry)| {
            let any = entry.offers.is_empty().then(|| format!("*@{provider}"));
            entry
                .offers
                .iter()
                .map(move |model| format!("{model}@{provider}"))
                .chain(any)
        });
        ids.chain(self.names.alias.keys().cloned()).collect()
    }

    /// The provider of an id and the model's name there.
    fn resolve(&self, id: &str) -> Result<(&dyn ChatModel, Arc<str>), ModelError> {
        let blank = id.trim().is_empty();
        let wanted = match (&self.names.default, blank) {
            (_, false) => id,
            (Some(default), true) => default,
            (None, true) => {
                return Err(ModelError::NoDefaultModel {
                    configured: self.configured(),
                });
            }
        };
        let meant = self.names.alias.get(wanted).map_or(wanted, String::as_str);
        let found = self
            .find(meant)
            .or_else(|reason| match &self.names.fallback {
                Some(fallback) => self.find(fallback),
                None => Err(reason),
            });
        found.map_err(|reason| ModelError::UnknownModel {
            id: wanted.into(),
            reason,
            configured: self.configured(),
        })
    }

    /// As [`Registry::resolve`], without default, aliases and fallback. The error says why there is none.
    fn find(&self, id: &str) -> Result<(&dyn ChatModel, Arc<str>), String> {
        let Some((before, last)) = id.rsplit_once('@') else {
            return self.find_bare(id);
        };
        if let Some((model, instance)) = before.rsplit_once('@')
            && let Some((name, provider)) = self.provider(&format!("{instance}@{last}"))
        {
            return provider.offer(name, model);
        }
        let (name, provider) = self
            .provider(last)
            .ok_or_else(|| format!("there is no provider `{last}`"))?;
        if before.is_empty() {
            return self.find_of(name, provider);
        }
        // `model@instance` may also be the whole name of a model; then the provider lists it.
        match before.rsplit_once('@') {
            Some((model, _)) if !provider.lists(before) => provider.offer(name, model),
            _ => provider.offer(name, before),
        }
    }

    /// The model of a provider that is named alone: the default if that is one of its models, else the only one it lists.
    fn find_of<'a>(
        &'a self,
        name: &str,
        provider: &'a Provider,
    ) -> Result<(&'a dyn ChatModel, Arc<str>), String> {
        let default = self.names.default.as_ref();
        let default = default.map(|id| self.names.alias.get(id).unwrap_or(id));
        let of_this = default.and_then(|id| id.rsplit_once('@'));
        if let Some((model, _)) = of_this.filter(|(model, of)| *of == name && !model.is_empty()) {
            return provider.offer(name, model);
        }
        match provider.offers.as_slice() {
            [only] => provider.offer(name, only),
            offers => Err(format!(
                "no model is named, and the provider `{name}` offers {}",
                if offers.is_empty() { "any" } else { "several" }
            )),
        }
    }

    fn find_bare(&self, model: &str) -> Result<(&dyn ChatModel, Arc<str>), String> {
        let listing = self
            .providers
            .values()
            .find(|provider| provider.lists(model));
        if let Some(provider) = listing {
            return Ok((&*provider.model, model.into()));
        }
        match self.providers.first() {
            Some((name, provider)) if self.providers.len() == 1 => provider.offer(name, model),
            _ => Err("no provider lists it, and the id names none (`model@provider`)".to_owned()),
        }
    }

    fn provider(&self, name: &str) -> Option<(&str, &Provider)> {
        let exact = self.providers.get_key_value(name);
        let found = exact.or_else(|| {
            let lower = name.to_lowercase();
            self.providers
                .iter()
                .find(|(other, _)| other.to_lowercase() == lower)
        });
        found.map(|(name, provider)| (&**name, provider))
    }
}

impl Provider {
    fn lists(&self, model: &str) -> bool {
        self.offers.iter().any(|offered| offered == model)
    }

    /// The model of that name, if it is offered.
    fn offer(&self, provider: &str, model: &str) -> Result<(&dyn ChatModel, Arc<str>), String> {
        let plain = model.split_once("___").map_or(model, |(plain, _)| plain);
        let name = match self.lists(model) {
            true => model,
            false => plain,
        };
        match self.offers.is_empty() || self.lists(name) {
            true if !name.is_empty() => Ok((&*self.model, name.into())),
            _ => Err(format!("the provider `{provider}` does not offer `{name}`")),
        }
    }
}

impl ChatModel for Registry {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        let (provider, name) = self.resolve(model)?;
        provider.describe(&name)
    }

    fn credential(&self, model: &str) -> Option<Credential> {
        let (provider, name) = self.resolve(model).ok()?;
        provider.credential(&name)
    }

    fn provider(&self, model: &str) -> Option<Arc<str>> {
        let (found, _) = self.resolve(model).ok()?;
        let mut providers = self.providers.iter();
        let (name, _) =
            providers.find(|(_, of)| std::ptr::addr_eq(Arc::as_ptr(&of.model), found))?;
        Some(name.clone())
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        match self.resolve(&request.model) {
            Ok((provider, name)) => provider.chat(ChatRequest {
                model: name,
                ..request
            }),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("configured", &self.configured())
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "http")]
fn connect(
    name: &str,
    config: &crate::config::ProviderConfig,
    secrets: &easel_secrets::Resolver,
) -> Result<Arc<dyn ChatModel>, ConfigError> {
    Ok(Arc::new(crate::http::HttpModel::new(
        name,
        config.clone(),
        secrets.clone(),
    )?))
}

#[cfg(not(feature = "http"))]
fn connect(
    name: &str,
    _: &crate::config::ProviderConfig,
    _: &easel_secrets::Resolver,
) -> Result<Arc<dyn ChatModel>, ConfigError> {
    Err(ConfigError::NoHttp(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Caller, Message};
    use crate::reply::collect;
    use crate::scripted::Scripted;
    use proptest::prelude::*;
    use serde_json::json;

    /// A model that answers with its own name and the name it was asked for.
    fn echo(provider: &str, models: &[&str]) -> Arc<dyn ChatModel> {
        let rules = models.iter().map(
            |model| json!({"match": {"model": model}, "reply": format!("{provider}: {model}")}),
        );
        let script = json!({"rules": rules.collect::<Vec<_>>(), "default_reply": format!("{provider}: other")});
        Arc::new(Scripted::new(serde_json::from_value(script).unwrap()))
    }

    fn names(config: serde_json::Value) -> ModelsConfig {
        serde_json::from_value(config).unwrap()
    }

    fn registry(config: serde_json::Value) -> Registry {
        let owned = |models: &[&str]| models.iter().map(|&m| m.to_owned()).collect();
        let qwen = ["qwen-max", "qwen-plus"];
        let any = ["gpt-4o", "llama", "a@b", "qwen-max"];
        Registry::new(names(config))
            .with("Tongyi-Qianwen", echo("tongyi", &qwen), owned(&qwen))
            .with("eu@Tongyi-Qianwen", echo("tongyi eu", &qwen), owned(&qwen))
            .with("OpenAI", echo("openai", &any), Vec::new())
            .with("Odd", echo("odd", &["a@b"]), owned(&["a@b", "x___y"]))
    }

    async fn answer(registry: &Registry, id: &str) -> Result<String, ModelError> {
        let request = ChatRequest {
            model: id.into(),
            messages: vec![Message::user("hi")],
            caller: Caller::default(),
            ..ChatRequest::default()
        };
        Ok(collect(registry.chat(request)).await?.text)
    }

    #[tokio::test]
    async fn an_id_names_model_and_provider() {
        let registry = registry(json!({}));
        for (id, expected) in [
            ("qwen-max@Tongyi-Qianwen", "tongyi: qwen-max"),
            ("qwen-max@tongyi-qianwen", "tongyi: qwen-max"),
            ("qwen-max@eu@Tongyi-Qianwen", "tongyi eu: qwen-max"),
            ("qwen-max@default@Tongyi-Qianwen", "tongyi: qwen-max"),
            ("qwen-plus", "tongyi: qwen-plus"),
            ("llama@OpenAI", "openai: llama"),
            ("gpt-4o___OpenAI-API@OpenAI", "openai: gpt-4o"),
            ("a@b@Odd", "odd: a@b"),
            ("x___y@Odd", "odd: other"),
        ] {
            assert_eq!(answer(&registry, id).await.unwrap(), expected, "{id}");
        }
    }

    #[tokio::test]
    async fn a_blank_id_is_the_default_model() {
        let with = registry(json!({"default": "best", "alias": {"best": "llama@OpenAI"}}));
        assert_eq!(answer(&with, "").await.unwrap(), "openai: llama");
        assert_eq!(answer(&with, "  ").await.unwrap(), "openai: llama");
        with.check().unwrap();
        let without = answer(&registry(json!({})), "").await.unwrap_err();
        assert_eq!(
            without.to_string(),
            "the node names no model and no default is set; configured: qwen-max@Tongyi-Qianwen, \
             qwen-plus@Tongyi-Qianwen, qwen-max@eu@Tongyi-Qianwen, qwen-plus@eu@Tongyi-Qianwen, *@OpenAI, a@b@Odd, \
             x___y@Odd. Set `default` under [models] in easel.toml, or choose a model in the node"
        );
    }

    #[tokio::test]
    async fn an_alias_leads_elsewhere_once() {
        let registry = registry(json!({"alias": {
            "deepseek-chat@DeepSeek": "qwen-max@Tongyi-Qianwen",
            "llama@OpenAI": "llama@OpenAI"
        }}));
        assert_eq!(
            answer(&registry, "deepseek-chat@DeepSeek").await.unwrap(),
            "tongyi: qwen-max"
        );
        assert_eq!(
            answer(&registry, "llama@OpenAI").await.unwrap(),
            "openai: llama"
        );
    }

    #[tokio::test]
    async fn a_provider_alone_is_its_model_that_is_the_default_or_the_only_one() {
        let one = ["m1"].map(str::to_owned).to_vec();
        let only = Registry::new(names(json!({}))).with("Local", echo("local", &["m1"]), one);
        assert_eq!(answer(&only, "@Local").await.unwrap(), "local: m1");
        let default = registry(json!({"default": "llama@OpenAI"}));
        assert_eq!(answer(&default, "@OpenAI").await.unwrap(), "openai: llama");
        let alias = registry(json!({"alias": {"@OpenAI": "llama@OpenAI"}}));
        assert_eq!(answer(&alias, "@OpenAI").await.unwrap(), "openai: llama");
    }

    #[tokio::test]
    async fn an_unknown_id_says_why_and_what_there_is() {
        let registry = registry(json!({}));
        for (id, reason) in [
            ("m@Nobody", "there is no provider `Nobody`"),
            (
                "m@Tongyi-Qianwen",
                "the provider `Tongyi-Qianwen` does not offer `m`",
            ),
            (
                "@OpenAI",
                "no model is named, and the provider `OpenAI` offers any",
            ),
            (
                "m",
                "no provider lists it, and the id names none (`model@provider`)",
            ),
        ] {
            let error = answer(&registry, id).await.unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
            assert!(
                error.to_string().contains("qwen-max@Tongyi-Qianwen"),
                "{error}"
            );
            assert!(matches!(
                registry.describe(id),
                Err(ModelError::UnknownModel { .. })
            ));
        }
    }

    #[tokio::test]
    async fn the_fallback_answers_to_everything_else() {
        let registry = registry(json!({"fallback": "qwen-plus@Tongyi-Qianwen"}));
        assert_eq!(
            answer(&registry, "m@Nobody").await.unwrap(),
            "tongyi: qwen-plus"
        );
        assert_eq!(
            answer(&registry, "llama@OpenAI").await.unwrap(),
            "openai: llama"
        );
        assert!(matches!(
            answer(&registry, "").await,
            Err(ModelError::NoDefaultModel { .. })
        ));
    }

    #[tokio::test]
    async fn the_only_provider_answers_to_a_bare_name() {
        let registry =
            Registry::new(ModelsConfig::default()).with("Local", echo("local", &["m"]), Vec::new());
        assert_eq!(answer(&registry, "m").await.unwrap(), "local: m");
    }

    #[test]
    fn names_that_lead_nowhere_are_found_before_a_run() {
        let nowhere = |config| registry(config).check().unwrap_err().to_string();
        assert_eq!(
            nowhere(json!({"default": "m@Nobody"})),
            "[models] default leads nowhere: there is no provider `Nobody`"
        );
        assert_eq!(
            nowhere(json!({"alias": {"a": "b", "b": "llama@OpenAI"}})),
            "[models] alias.\"a\" leads nowhere: no provider lists it, and the id names none (`model@provider`)"
        );
        assert!(nowhere(json!({"fallback": "m"})).starts_with("[models] fallback"));
        let twice = registry(json!({})).with("openai", echo("x", &[]), Vec::new());
        assert_eq!(
            twice.check(),
            Err(ConfigError::SameName("OpenAI".into(), "openai".into()))
        );
    }

    proptest! {
        #[test]
        fn any_id_finds_a_model_or_says_why_not(id in "[a@_ ]{0,8}(@OpenAI|@Odd|@Tongyi-Qianwen)?|\\PC{0,10}") {
            let registry = registry(json!({}));
            if let Err(error) = registry.describe(&id) {
                let known = matches!(error, ModelError::UnknownModel { .. } | ModelError::NoDefaultModel { .. });
                prop_assert!(known, "{error}");
            }
        }
    }
}
