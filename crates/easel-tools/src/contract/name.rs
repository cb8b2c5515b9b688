//! Names of tools as model providers take them.

/// Characters a provider takes in a tool's name at most.
const LONGEST: usize = 64;

/// The name under which a model is offered its tool number `index`: `<name>_<index>` in letters, digits, `_` and `-`,
/// starting with a letter or `_`, at most 64 characters (`spec/canvas-components §3.2`, D17).
///
/// Stored conversations quote these names, so they depend on nothing else. The number keeps two tools apart whatever
/// their names become.
pub fn offered_name(name: &str, index: usize) -> String {
    let suffix = format!("_{index}");
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let mut offered: String = name.chars().map(plain).collect();
    if !offered.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        offered.insert_str(0, "tool_");
    }
    offered.truncate(LONGEST - suffix.len());
    offered + &suffix
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_numbered_and_made_plain() {
        assert_eq!(offered_name("search_my_dateset", 1), "search_my_dateset_1");
        assert_eq!(
            offered_name("Web Search Specialist", 0),
            "Web_Search_Specialist_0"
        );
        assert_eq!(offered_name("天气.now", 3), "___now_3");
        assert_eq!(offered_name("", 0), "tool__0");
        assert_eq!(offered_name("3d-model", 12), "tool_3d-model_12");
    }

    proptest! {
        #[test]
        fn every_name_is_one_that_providers_take(name in any::<String>(), index in any::<usize>()) {
            let offered = offered_name(&name, index);
            prop_assert!((1..=64).contains(&offered.len()));
            prop_assert!(offered.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            prop_assert!(!offered.starts_with(|c: char| c.is_ascii_digit() || c == '-'));
        }
    }
}
