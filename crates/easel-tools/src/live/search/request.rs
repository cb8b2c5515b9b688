//! The requests of a provider, put together.
//!
//! Nothing that a workflow or a model gives can change where a request goes or what it is: in a path a value is one
//! segment, or a part of one; in a query and a form it is one value; in a header it has no line break.

use std::time::Duration;

use easel_core::{Object, Value};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::declaration::{Method, Step};
use super::scope::Scope;
use super::template::Template;
use crate::error::ToolError;
use crate::http::{HttpBody, HttpRequest};

/// What a segment of a path may hold as it is.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The request of a step to the provider at `base`.
///
/// Errors: a value that its path or a header needs is missing, or cannot stand there.
pub(super) fn build(
    provider: &str,
    step: &Step,
    base: &str,
    scope: &Scope<'_>,
    timeout: Duration,
) -> Result<HttpRequest, ToolError> {
    let method = match step.method {
        Method::Get => "GET",
        Method::Post => "POST",
    };
    let path = path(provider, &step.path, scope)?;
    let mut request = HttpRequest::new(method, format!("{}{path}", base.trim_end_matches('/')));
    let fill = |name: &str| scope.value(name);
    let query = step.query.iter();
    let query: Object = query
        .filter_map(|(name, shape)| Some((name.as_str().into(), shape.render(&fill)?)))
        .collect();
    request.query = (!query.is_empty()).then_some(query);
    for (name, template) in &step.headers {
        if let Some(value) = template.render(|place| scope.text(place)) {
            if value.contains(|c: char| c.is_control() && c != '\t') {
                return Err(ToolError::InvalidRequest {
                    what: format!("header \"{name}\" of {provider}"),
                    problem: "it would hold a line break or another control character".to_owned(),
                });
            }
            request.headers.push((name.clone(), value));
        }
    }
    let rendered =
        |shape: &super::template::Shape| shape.render(&fill).unwrap_or(Value::empty_object());
    if let Some(json) = &step.json {
        request.body = HttpBody::Json(rendered(json));
    } else if let Some(form) = &step.form {
        request.body = HttpBody::Form(rendered(form).as_object().cloned().unwrap_or_default());
    }
    request.timeout = timeout;
    request.max_redirects = step.redirects;
    Ok(request)
}

fn path(provider: &str, path: &Template, scope: &Scope<'_>) -> Result<String, ToolError> {
    let filled = path.render(|place| {
        let text = scope.text(place)?;
        Some(utf8_percent_encode(&text, SEGMENT).to_string())
    });
    let unusable = |problem: &str| ToolError::InvalidRequest {
        what: provider.to_owned(),
        problem: problem.to_owned(),
    };
    let filled = filled.ok_or_else(|| unusable("a value that its address needs is missing"))?;
    // Such a segment means another place to whoever reads the address, also in its percent-encoded form.
    match filled
        .split('/')
        .any(|segment| matches!(segment, "." | ".."))
    {
        true => Err(unusable(
            "a value that stands in its address must not be . or ..",
        )),
        false => Ok(filled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::search::declaration::Declaration;
    use crate::search::SearchRequest;
    use proptest::prelude::*;
    use url::Url;

    const DECLARED: &str = r#"
        title = "Any"
        url = "https://{language}.a.example"
        key = "none"
        parameters.language = { kind = "label", default = "en" }
        parameters.free = {}
        [[steps]]
        path = "/v1/{subject}/x-{free}"
        query = { q = "{subject}", filter = { of = "{free}" } }
        headers = { "X-Of" = "{free}" }
        items = "."
    "#;

    fn built(subject: &str, free: &str, language: &str) -> Result<(HttpRequest, Url), ToolError> {
        let declared = Declaration::from_toml("any", DECLARED).unwrap();
        let parameters = [("free", free), ("language", language)];
        let request = SearchRequest {
            provider: "any".into(),
            subject: subject.into(),
            parameters: parameters
                .map(|(n, v)| (n.into(), v.into()))
                .into_iter()
                .collect(),
            api_key: None,
        };
        let scope = Scope::new(&declared, &request)?;
        let base = declared
            .url
            .as_ref()
            .unwrap()
            .render(|place| scope.text(place))
            .unwrap();
        let request = build(
            "any",
            &declared.steps[0],
            &base,
            &scope,
            Duration::from_secs(1),
        )?;
        let mut url = Url::parse(&request.url).unwrap();
        for (name, value) in request.query.iter().flatten() {
            url.query_pairs_mut().append_pair(name, &value.to_string());
        }
        Ok((request, url))
    }

    proptest! {
        #[test]
        fn no_parameter_breaks_out_of_its_place(
            subject in "[a./?#@:%\\\\\r\n{}&=; é\u{0}-]{0,8}|\\PC{0,8}",
            free in "[a./?#@:%\\\\\r\n{}&=; é\u{0}-]{0,8}|\\PC{0,8}",
            language in "[a-c./@:#?%-]{0,4}",
        ) {
            if let Ok((request, url)) = built(&subject, &free, &language) {
                let host = url.host_str().unwrap();
                prop_assert!(host.ends_with(".a.example") && host.matches('.').count() == 2, "{host}");
                prop_assert_eq!(url.port_or_known_default(), Some(443));
                prop_assert_eq!(url.username(), "");
                let segments: Vec<_> = url.path_segments().unwrap().collect();
                prop_assert_eq!(segments.len(), 3, "{}", url);
                prop_assert_eq!(segments[0], "v1");
                prop_assert!(segments[2].starts_with("x-"));
                let mut names: Vec<_> = url.query_pairs().map(|(name, _)| name.into_owned()).collect();
                names.sort_unstable();
                prop_assert_eq!(names, ["filter", "q"]);
                prop_assert_eq!(url.fragment(), None);
                prop_assert_eq!(request.headers.len(), 1);
                prop_assert!(!request.headers[0].1.contains(['\r', '\n', '\0']));
            }
        }
    }

    #[test]
    fn a_value_that_would_mean_another_place_is_refused() {
        for subject in [".", ".."] {
            assert!(built(subject, "x", "en").is_err(), "{subject}");
        }
        assert!(built("a", "x\r\nHost: b", "en").is_err());
        assert!(built("a", "x", "evil.example/").is_err());
        let (request, _) = built("../b?c#d", "x", "de").unwrap();
        assert_eq!(request.url, "https://de.a.example/v1/..%2Fb%3Fc%23d/x-x");
    }
}
