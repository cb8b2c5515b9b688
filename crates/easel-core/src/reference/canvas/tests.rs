use proptest::prelude::*;

use super::*;

/// A document with one node whose id needs asking for, and two such variables.
fn known(name: &str) -> bool {
    matches!(
        name,
        "my agent" | "Größe:1" | "a-b" | "env.my-var" | "env.变量"
    )
}

fn grammar() -> Grammar<'static> {
    Grammar {
        known: &known,
        in_iteration: false,
        jinja: true,
    }
}

/// The text with each reference replaced by `‹key›` in running text, `«key»` in a Jinja block.
fn marked_by(grammar: Grammar<'_>, text: &str) -> String {
    let mut keys: Vec<Arc<str>> = Vec::new();
    let template = grammar.template(text, |reference| {
        keys.push(reference.text);
        ReadId(keys.len() as u32 - 1)
    });
    let key = |read: &ReadId| &keys[read.0 as usize];
    let pieces = template.pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.to_string(),
        Piece::Read(read) => format!("‹{}›", key(read)),
        Piece::Name(read) => format!("«{}»", key(read)),
    });
    pieces.collect()
}

fn marked(text: &str) -> String {
    marked_by(grammar(), text)
}

fn is_jinja(text: &str) -> bool {
    grammar().scan(text).jinja
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(marked(text), *expected, "{text:?}");
    }
}

/// Texts that hold no reference at all.
#[track_caller]
fn check_literal(texts: &[&str]) {
    for text in texts {
        let plain = Grammar {
            jinja: false,
            ..grammar()
        };
        assert_eq!(marked_by(plain, text), *text);
        assert!(plain.scan(text).tokens.is_empty(), "{text:?}");
    }
}

#[test]
fn a_key_in_braces_is_a_reference() {
    check(&[
        ("{sys.query}", "‹sys.query›"),
        ("{A:B@c.d.-1}", "‹A:B@c.d.-1›"),
        ("{userfillup_abc@line}", "‹userfillup_abc@line›"),
        ("mail a@b.c{env.s}", "mail a@b.c‹env.s›"),
        ("{sys.a}{sys.b}", "‹sys.a›‹sys.b›"),
        ("{env.s}，你好", "‹env.s›，你好"),
        ("{zz@x}", "‹zz@x›"),
    ]);
}

#[test]
fn blanks_beside_a_reference_stay() {
    check(&[
        ("Hello {sys.query} world", "Hello ‹sys.query› world"),
        ("a\n{env.t}\nb", "a\n‹env.t›\nb"),
    ]);
}

#[test]
fn blanks_inside_the_innermost_braces_go() {
    check(&[
        ("a { env.t } b", "a ‹env.t› b"),
        ("{{ sys.query }}", "‹sys.query›"),
        ("{a@b\n}", "‹a@b›"),
        ("{\t\r\n a@b}", "‹a@b›"),
    ]);
}

#[test]
fn braces_that_wrap_the_key_go_with_it() {
    check(&[
        ("x {{env.s}} y", "x ‹env.s› y"),
        ("{{{a@b}}}", "‹a@b›"),
        ("{ {sys.query} }", "‹sys.query›"),
        ("{{ {a@b} }}", "‹a@b›"),
    ]);
}

#[test]
fn braces_that_wrap_more_than_the_key_stay() {
    check(&[
        (r#"{"k": {env.x}}"#, r#"{"k": ‹env.x›}"#),
        (r#"{"a": {"k": {env.x}}}"#, r#"{"a": {"k": ‹env.x›}}"#),
        (r#"{"a": {{env.x}}}"#, r#"{"a": ‹env.x›}"#),
        ("{{env.x}", "{‹env.x›"),
        ("{env.x}}", "‹env.x›}"),
        ("{ {env.x}", "{ ‹env.x›"),
        ("{\n  {env.pairs}\n}", "{\n  ‹env.pairs›\n}"),
        ("{a {env.x}}", "{a ‹env.x›}"),
        ("{a@b {env.x}}", "{a@b ‹env.x›}"),
        (r"\frac{{env.x}}{2}", r"\frac‹env.x›{2}"),
    ]);
}

#[test]
fn everything_else_in_braces_is_text() {
    check_literal(&[
        "{} { } {foo}",
        "{line}",
        "{a@b c}",
        "{a@b@c}",
        "{a@b[0]}",
        "{a@é}",
        "{a@x:y}",
        "{begin@}",
        "{@x}",
        "{sys.}",
        "{sys..}",
        "{sys}",
        "{iteration:0@generate:1}",
        "{SYS.query} {ENV.s}",
        "{sys.query",
        "sys.query}",
        "sys.query",
        "An address@in.text is none, {nor is this@one either}",
        "x {\"a\": {\"b\": 1}} y",
        "}{",
        "{{{",
        "",
    ]);
}

#[test]
fn a_key_outside_the_plain_alphabet_counts_if_the_document_knows_it() {
    check(&[
        ("{my agent@content}", "‹my agent@content›"),
        ("{{ Größe:1@x.y }}", "‹Größe:1@x.y›"),
        ("{a-b@c}", "‹a-b@c›"),
        ("{env.my-var}", "‹env.my-var›"),
        ("{env.my-var.items.0}", "‹env.my-var.items.0›"),
        ("{env.变量}", "‹env.变量›"),
    ]);
    check_literal(&[
        "{x-y@c}",
        "{your agent@content}",
        "{env.no-var}",
        "{env.变}",
        "{my agent@b c}",
    ]);
}

#[test]
fn values_of_the_pass_count_inside_an_iteration_only() {
    let text = "x={item} y={{ index }} z={result} {Item} {items}";
    let inside = Grammar {
        in_iteration: true,
        jinja: false,
        ..grammar()
    };
    assert_eq!(
        marked_by(inside, text),
        "x=‹item› y=‹index› z=‹result› {Item} {items}"
    );
    check_literal(&["x={item} y={index} z={result}"]);
}

#[test]
fn a_token_knows_its_place_in_the_text() {
    let text = "é {{ a@b.0 }} {env.x}";
    let scan = grammar().scan(text);
    let found: Vec<_> = scan
        .tokens
        .iter()
        .map(|token| &text[token.range.clone()])
        .collect();
    assert_eq!(found, ["{{ a@b.0 }}", "{env.x}"]);
    assert_eq!(scan.tokens[0].reference, bare("a@b.0").unwrap());
    assert_eq!(
        scan.tokens[0].reference.root,
        Root::Output {
            node: "a".into(),
            port: "b".into()
        }
    );
    assert_eq!(scan.tokens[0].reference.path, Path::parse("0"));
}

#[test]
fn bare_keys_take_braces_and_blanks_or_leave_them() {
    for text in [
        "sys.query",
        "{sys.query}",
        " {{ sys.query }} ",
        "sys.query\n",
    ] {
        let reference = bare(text).unwrap();
        assert_eq!(&*reference.text, "sys.query");
        assert_eq!(reference.root, Root::Variable("sys.query".into()));
    }
    assert_eq!(bare("{item}").unwrap().root, Root::Pass("item".into()));
}

#[test]
fn a_bare_id_may_hold_any_character_but_the_at_sign() {
    let output = |text| match bare(text) {
        Some(Reference {
            root: Root::Output { node, port },
            path,
            ..
        }) => {
            format!("{node}|{port}|{path}")
        }
        other => format!("{other:?}"),
    };
    assert_eq!(
        output("my-node.1@content.items.0"),
        "my-node.1|content|items.0"
    );
    assert_eq!(output("代理 @内容"), "代理 |内容|");
    assert_eq!(output("cpn@foo@bar"), "cpn|foo@bar|");
    assert_eq!(output("begin@"), "begin||");
    assert_eq!(output("env.x@y"), "env.x|y|");
}

#[test]
fn a_bare_text_that_is_no_key_names_nothing() {
    for text in [
        "",
        " ",
        "{}",
        "hello",
        "n",
        "@x",
        "sys.",
        "sys",
        "system.x",
        "plain text",
    ] {
        assert_eq!(bare(text), None, "{text:?}");
    }
}

#[test]
fn jinja_is_what_is_more_than_references_in_braces() {
    for text in [
        "{% if true %}yes{% endif %}",
        "{# note #}",
        "{{ 1 + 1 }}",
        "{{ a@b | upper }}",
        "{{ {a@b} | upper }}",
        "{{ x }}",
        "{{- a@b -}}",
    ] {
        assert!(is_jinja(text), "{text}");
        assert!(
            !Grammar {
                jinja: false,
                ..grammar()
            }
            .scan(text)
            .jinja,
            "{text}"
        );
    }
    for text in [
        "",
        "{{sys.query}}",
        "{{ {a@b} }} and {{{a@b}}}",
        "x {\"a\": {\"b\": 1}} {env.s}",
        r#"{"a": {"b": {env.s}}}"#,
        "{{ unfinished",
        "100 {% of it, }}",
        "{#heading",
        "{{env.s}",
    ] {
        assert!(!is_jinja(text), "{text}");
    }
}

#[test]
fn references_in_jinja_blocks_are_names_and_those_beside_are_inserted() {
    check(&[
        (
            "{% if {sys.query} %}Y {sys.query}{% endif %}",
            "{% if «sys.query» %}Y ‹sys.query›{% endif %}",
        ),
        (
            "{% for x in A:b@c.items.0 %}<{{ x }}>{% endfor %}",
            "{% for x in «A:b@c.items.0» %}<{{ x }}>{% endfor %}",
        ),
        ("{{ {a@b} | length }}", "{{ «a@b» | length }}"),
        ("{{ a@b|upper }} {{a@b}}", "{{ «a@b»|upper }} ‹a@b›"),
        ("{{- env.x -}}", "{{- «env.x» -}}"),
        ("{{ x ~ a@b-}}!", "{{ x ~ «a@b»-}}!"),
        ("{{ {a@b} ~ {c@d} }}", "{{ «a@b» ~ «c@d» }}"),
        (r#"{{ {"k": {a@b}} }}"#, r#"{{ {"k": «a@b»} }}"#),
        ("{{ a@b[0].c }}", "{{ «a@b»[0].c }}"),
        ("{{ xs[0:env.n] }}", "{{ xs[0:«env.n»] }}"),
        ("{{ sys.query.upper() }}", "{{ «sys.query».upper() }}"),
        ("{{ a@b.x.strip() }}", "{{ «a@b.x».strip() }}"),
        ("{{ my.env.x + sys.y }}", "{{ my.env.x + «sys.y» }}"),
        (
            "{% if {my agent@content} == 1 %}{% endif %}",
            "{% if «my agent@content» == 1 %}{% endif %}",
        ),
    ]);
}

#[test]
fn literals_and_comments_in_jinja_refer_to_nothing() {
    check(&[
        (
            r#"{{ "{env.x} a@b \" }}" ~ env.y }}{env.z}"#,
            r#"{{ "{env.x} a@b \" }}" ~ «env.y» }}‹env.z›"#,
        ),
        ("{# {env.x} a@b #}{env.y}", "{# {env.x} a@b #}‹env.y›"),
        (
            "{{ 'it''s {a@b}' }} isn't {a@b}",
            "{{ 'it''s {a@b}' }} isn't ‹a@b›",
        ),
    ]);
}

#[test]
fn raw_regions_take_insertions_and_no_names() {
    let raw = "{% raw %}{{ x }} ";
    let after = " {% x %}{%- endraw -%} {{ a@b|upper }}";
    assert_eq!(
        marked(&format!("{raw}{{env.s}}{after}")),
        format!(
            "{raw}{{% endraw %}}‹env.s›{{% raw %}} {{% x %}}{{%- endraw -%}} {{{{ «a@b»|upper }}}}"
        )
    );
    assert_eq!(
        marked("{% raw %}{{ never ended é {"),
        "{% raw %}{{ never ended é {"
    );
}

#[test]
fn a_name_that_the_jinja_binds_itself_is_no_value_of_the_pass() {
    let inside = Grammar {
        in_iteration: true,
        ..grammar()
    };
    assert_eq!(
        marked_by(
            inside,
            "{{ item }}{% for item in {A@list} %}{{ item }} {index}{% endfor %}"
        ),
        "‹item›{% for item in «A@list» %}{{ item }} ‹index›{% endfor %}"
    );
    assert_eq!(
        marked_by(inside, "{% set item = 1 %}{{item}}{{ index }}"),
        "{% set item = 1 %}{{item}}‹index›"
    );
}

#[test]
fn broken_jinja_is_text_and_its_references_still_count() {
    check(&[
        (
            "{% if {env.x} and {{ 'open {env.y}",
            "{% if ‹env.x› and {{ 'open ‹env.y›",
        ),
        ("{{ ( {env.x} }} {% y %}", "{{ ( ‹env.x› }} {% y %}"),
    ]);
    assert!(!is_jinja("{{ (((( "));
}

#[test]
fn a_text_full_of_openers_is_read_in_reasonable_time() {
    let text = "{{ ( {% [ {# {env.x} ".repeat(20_000);
    assert_eq!(grammar().scan(&text).tokens.len(), 20_000);
    let raw = format!("{{% raw %}}{}", "{% ".repeat(50_000));
    assert!(grammar().scan(&raw).tokens.is_empty());
}

#[test]
fn an_expression_over_a_known_name_is_no_key() {
    check(&[
        ("{env.my-var.größe}", "‹env.my-var.größe›"),
        ("{{ env.变量.k == 1 }}", "{{ env.变量.k == 1 }}"),
        ("{env.my-var + 1}", "{env.my-var + 1}"),
    ]);
}

proptest! {
    #[test]
    fn tokens_are_balanced_pieces_of_the_text_in_order(text in "([ab@.x \n{}%#'\"]|env\\.|\\{env\\.x\\}|é){0,40}", jinja: bool) {
        let grammar = Grammar { jinja, in_iteration: true, ..grammar() };
        let mut end = 0;
        for token in grammar.scan(&text).tokens {
            prop_assert!(token.range.start >= end && token.range.end > token.range.start);
            end = token.range.end;
            let found = text.get(token.range.clone()).unwrap();
            prop_assert_eq!(found.matches('{').count(), found.matches('}').count());
            let key = found.trim_matches(|c: char| "{}".contains(c) || c.is_whitespace());
            prop_assert_eq!(key, &*token.reference.text);
            prop_assert_eq!(bare(key), Some(token.reference));
        }
        prop_assert!(end <= text.len());
    }

    #[test]
    fn a_text_without_braces_is_one_piece(text in "[^{}]{1,40}") {
        let template = grammar().template(&text, |_| ReadId(0));
        prop_assert_eq!(template, Template::literal(&text));
    }

    #[test]
    fn any_text_is_read(text in ".*", jinja: bool) {
        let _ = Grammar { jinja, ..grammar() }.scan(&text);
        let _ = bare(&text);
    }
}
