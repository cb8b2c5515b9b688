//! `easel.toml`: what it says of models, providers and HTTP.
#![no_main]

use easel_runtime::models::config::{ModelsConfig, ProviderConfig};
use easel_runtime::models::{ChatModel, Registry};
use easel_runtime::secrets::Resolver;
use easel_runtime::tools::guard::Allow;
use indexmap::IndexMap;
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;

/// The tables of the file.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Settings {
    models: ModelsConfig,
    providers: IndexMap<String, ProviderConfig>,
    http: Http,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Http {
    allow: Vec<String>,
    #[serde(rename = "proxy")]
    _proxy: Option<String>,
}

fuzz_target!(|text: &str| {
    let settings = match toml::from_str::<Settings>(text) {
        Ok(settings) => settings,
        Err(error) => {
            let span = error.span().unwrap_or_default();
            assert!(
                text.get(span).is_some(),
                "{error} stands outside of the file"
            );
            return;
        }
    };
    let _ = Allow::parse(settings.http.allow.iter().map(String::as_str));
    let secrets = Resolver::default();
    match Registry::from_config(settings.models, &settings.providers, &secrets) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(registry) => {
            if let Some(model) = registry.default_model() {
                assert!(
                    registry.describe(model).is_ok(),
                    "the default {model} leads somewhere"
                );
            }
            for id in registry.configured() {
                let _ = registry.describe(&id);
            }
        }
    }
});
