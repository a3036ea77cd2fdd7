use proptest::prelude::*;

use super::super::stored;
use super::*;

/// A shop with one document.
struct Shop;

impl Linker for Shop {
    fn go(&self, name: &str) -> String {
        format!("/shop/go/{}", segment(name))
    }

    fn has_lines(&self, lines: &str) -> bool {
        lines.starts_with("goals_shop:")
    }
}

fn shown(text: &str) -> String {
    linked(&Shop, text).into_string()
}

#[test]
fn the_markdown_that_is_shown() {
    assert_eq!(
        shown("**Which?** It is *mine*, `a < b`.\nSecond line."),
        "<p dir=\"auto\"><strong>Which?</strong> It is <em>mine</em>, <code dir=\"auto\">a &lt; b</code>.<br>Second line.</p>"
    );
    assert_eq!(
        shown("> said\n> so\n\n- one\n- two\n  - inner\n\n1. first"),
        "<blockquote dir=\"auto\"><p dir=\"auto\">said<br>so</p></blockquote>\
         <ul><li dir=\"auto\">one</li><li dir=\"auto\">two<ul><li dir=\"auto\">inner</li></ul></li></ul>\
         <ol><li dir=\"auto\">first</li></ol>"
    );
    assert_eq!(
        shown("```rust\nlet a = *b;\n\n# c\n```\nafter"),
        "<pre dir=\"ltr\"><code>let a = *b;\n\n# c</code></pre><p dir=\"auto\">after</p>"
    );
}

#[test]
fn all_other_markdown_stays_text() {
    for text in [
        "# Title",
        "| a | b |",
        "![x](https://a.example/x.png)",
        "<b>x</b>",
        "snake_case_name",
        "2 * 3 * 4",
        "****",
        "[x](javascript:alert(1))",
        "[x](data:text/html,x)",
        "[x](//evil.example)",
    ] {
        let html = shown(text);
        for tag in ["<h", "<table", "<img", "<b>", "<em", "<strong"] {
            assert!(!html.contains(tag), "{text}: {html}");
        }
        assert!(
            !html.contains("href=\"javascript")
                && !html.contains("href=\"data")
                && !html.contains("href=\"//"),
            "{html}"
        );
    }
}

#[test]
fn links_go_to_the_web_and_to_our_own_things() {
    assert_eq!(
        shown(
            "See TASK-001 and goals_shop:3, not note:3 [here](th_003#2), https://a.example/?a=1&b=2."
        ),
        "<p dir=\"auto\">See <a class=\"handle\" href=\"/shop/go/TASK-001\" data-ref=\"TASK-001\">TASK-001</a> and \
         <a class=\"handle\" href=\"/shop/go/goals_shop%3A3\" data-ref=\"goals_shop:3\">goals_shop:3</a>, not note:3 \
         <a href=\"/shop/go/th_003%232\" data-ref=\"th_003#2\">here</a>, \
         <a href=\"https://a.example/?a=1&amp;b=2\" rel=\"noreferrer noopener\">https://a.example/?a=1&amp;b=2</a>.</p>"
    );
    assert!(shown("`TASK-001`").contains("<a class=\"handle\""));
    assert!(shown("4f2a91c rotates").contains("<span class=\"handle\">4f2a91c</span>"));
}

#[test]
fn credentials_are_shown_when_asked_for() {
    let key = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let html = shown(&format!("**use** {key} in TASK-001"));
    assert!(html.contains("ghp_••••••••8B4a"), "{html}");
    assert_eq!(html.matches(&key).count(), 1, "{html}");
    assert!(
        html.contains(&format!("<span class=\"whole\">{key}</span>")),
        "{html}"
    );
    assert!(!stored(&format!("use {key}")).into_string().contains(&key));
    let pem =
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----";
    let html = shown(&format!("key:\n{pem}\ndone"));
    assert_eq!(html.matches("class=\"whole\"").count(), 1, "{html}");
    assert!(html.contains("done"), "{html}");
}

#[test]
fn long_bodies_fold() {
    let html = shown(&"word ".repeat(2_000));
    assert!(html.starts_with("<details class=\"fold\">"), "{html}");
    assert!(html.contains("Show all 10,000 characters"), "{html}");
    assert!(!shown(&"word ".repeat(240)).contains("<details"));
    let key = format!(
        "{} ghp_{}",
        "x".repeat(590),
        "16C7e42F292c6912E7710c838347Ae178B4a"
    );
    let html = shown(&format!("{key} {}", "y ".repeat(600)));
    let summary = &html[..html.find("</summary>").unwrap()];
    assert!(!summary.contains("ghp_16C7"), "{summary}");
}

#[test]
fn no_text_takes_long() {
    let start = std::time::Instant::now();
    for unit in [
        "*a ", "[", "](", "`a``", "> ", "- a\n", "_", "**", "a:1 ", "ghp_", "> - ", "\n",
    ] {
        shown(&unit.repeat(100_000 / unit.len()));
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Every tag that a body may bring onto a page, as it stands in the answer.
fn is_ours(tag: &str) -> bool {
    const PLAIN: [&str; 33] = [
        "p dir=\"auto\"",
        "/p",
        "br",
        "ul",
        "/ul",
        "ol",
        "/ol",
        "li dir=\"auto\"",
        "/li",
        "pre dir=\"ltr\"",
        "/pre",
        "code",
        "code dir=\"auto\"",
        "/code",
        "blockquote dir=\"auto\"",
        "/blockquote",
        "strong",
        "/strong",
        "em",
        "/em",
        "/a",
        "span class=\"handle\"",
        "span class=\"sign\"",
        "span class=\"whole\"",
        "span class=\"button\"",
        "span class=\"shown\" dir=\"auto\"",
        "span",
        "/span",
        "details class=\"fold\"",
        "/details",
        "summary",
        "/summary",
        "/label",
    ];
    const SECRET: [&str; 2] = [
        "label class=\"secret\" title=\"Show the whole credential\"",
        "input type=\"checkbox\" aria-label=\"Show the whole credential\"",
    ];
    let link = |tag: &str| {
        let own = ["a href=\"/shop/go/", "a class=\"handle\" href=\"/shop/go/"];
        let web = ["a href=\"http://", "a href=\"https://"];
        own.iter().any(|own| tag.starts_with(own)) && tag.contains("\" data-ref=\"")
            || web.iter().any(|web| tag.starts_with(web))
                && tag.ends_with("\" rel=\"noreferrer noopener\"")
    };
    PLAIN.contains(&tag) || SECRET.contains(&tag) || link(tag)
}

fn check(text: &str) {
    let html = shown(text);
    let mut open: Vec<&str> = Vec::new();
    for tag in html.split('<').skip(1) {
        let (tag, _) = tag
            .split_once('>')
            .unwrap_or_else(|| panic!("{text:?}: {html}"));
        assert!(is_ours(tag), "<{tag}> of {text:?}: {html}");
        // A link has its own quotes and none of the text's.
        assert!(
            !tag.starts_with("a ") || tag.matches('"').count() % 2 == 0,
            "{html}"
        );
        let name = tag.split(' ').next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed), "{text:?}: {html}"),
            None if ["br", "input"].contains(&name) => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, [""; 0], "{text:?}: {html}");
    assert!(!html.contains('\u{202E}'), "{html:?}");
}

/// Pieces of which hostile texts are made.
fn piece() -> impl Strategy<Value = String> {
    let ours = [
        "*",
        "**",
        "_",
        "`",
        "```\n",
        "[",
        "](",
        ")",
        "> ",
        "- ",
        "1. ",
        "  ",
        "\n",
        "\n\n",
        "https://a",
        "th_001#2",
        "TASK-001",
        "^a7f",
        "@ada",
        "goals_shop:3",
        "javascript:",
        "\"",
        "'",
        "<",
        ">",
        "</p>",
        "<script>",
        "&lt;",
        "\u{202E}",
        "é",
        "אב",
        "😀",
        "password=",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----",
    ];
    prop_oneof![
        4 => prop::sample::select(ours.to_vec()).prop_map(str::to_owned),
        1 => any::<String>().prop_map(|text| text.chars().take(8).collect()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_becomes_markup(pieces in prop::collection::vec(piece(), 0..40)) {
        check(&pieces.concat());
    }

    #[test]
    fn no_title_becomes_markup(pieces in prop::collection::vec(piece(), 0..20)) {
        let html = stored(&pieces.concat()).into_string();
        let allowed = ["bdi", "/bdi", "span class=\"none\"", "span class=\"sign\"", "/span"];
        for tag in html.split('<').skip(1) {
            let tag = tag.split('>').next().unwrap_or_default();
            prop_assert!(allowed.contains(&tag), "{}", html);
        }
    }
}
