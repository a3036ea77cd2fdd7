//! Where texts are cut, and where they are not.

use super::*;

fn cut(text: &str) -> Vec<String> {
    let pieces: Vec<String> = super::cut(text, Cut::Joined)
        .into_iter()
        .map(|f| f.content)
        .collect();
    assert_eq!(pieces.concat(), text);
    pieces
}

fn trimmed(text: &str) -> Vec<String> {
    let pieces = fragments(text);
    let chars: Vec<char> = text.chars().collect();
    for piece in &pieces {
        let (start, end) = piece.span.unwrap();
        assert_eq!(chars[start..end].iter().collect::<String>(), piece.content);
    }
    pieces.into_iter().map(|f| f.content).collect()
}

/// Cuts where a bar stands, and nowhere else, in both ways.
#[track_caller]
fn at_bars(marked: &str) {
    let expected: Vec<&str> = marked.split('|').collect();
    assert_eq!(cut(&expected.concat()), expected);
    let bare: Vec<&str> = expected.iter().map(|piece| piece.trim()).collect();
    assert_eq!(trimmed(&expected.concat()), bare);
}

#[test]
fn one_sentence_has_one_id_wherever_it_stands() {
    let alone = fragments("We must ship on Friday.");
    let among = fragments("  We must ship on Friday. \n\nThen we rest for a while.\n");
    assert_eq!(alone[0].id, among[0].id);
    assert_eq!(among[0].span, Some((2, 25)));
    assert_eq!(fragments(" \n "), []);
    assert_eq!(Cut::of_number(Cut::Joined.number()), Cut::Joined);
    assert_eq!(Cut::of_number(Cut::Trimmed.number()), Cut::Trimmed);
    assert_eq!(
        Cut::of_number(0),
        Cut::Joined,
        "what says nothing was cut the first way"
    );
}

#[test]
fn quotations_stay_whole() {
    for text in [
        "He said \"Stop. Now.\" and left.",
        "He said “Stop, but do it gently. Now.” and left the room.",
        "Er sagte „Halt. Sofort.“ und ging.",
    ] {
        assert_eq!(trimmed(text), [text]);
    }
    assert_eq!(
        trimmed("She said \"It works. I tried.\" Then she left. A 5\" nail. It is long."),
        [
            "She said \"It works. I tried.\"",
            "Then she left.",
            "A 5\" nail.",
            "It is long."
        ]
    );
    let open = format!(
        "A \" that nobody closes. {}",
        "It goes on here. ".repeat(40)
    );
    assert!(trimmed(&open).len() > 30);
}

#[test]
fn the_example_of_the_contract() {
    at_bars(
        "I want the search bar at the top because mobile users need quick access, |but it should \
         collapse when scrolling to save space.",
    );
    at_bars(
        "I want the search bar at the top because mobile users need quick \naccess, |but it \
         should collapse when scrolling to save space.",
    );
}

#[test]
fn sentences() {
    at_bars("We use SQLite today. |It does not scale! |Does it? |Let us see.");
    at_bars("He said \"it is fine.\" |Then he left (for good.) |Nobody asked.");
    at_bars("Dr. Smith et al. wrote e.g. v1.2 of pi 3.14 for Inc. magazine. |Nobody read it.");
    at_bars("We have apples, pears etc. on the table. |We have plums etc. |Nobody eats them.");
    at_bars("See https://example.org/a.b?c=d,e;f!g for it. |It is long.");
    at_bars("Well... maybe not now. |Well then… |Perhaps tomorrow it is.");
    at_bars("It is at 10.0.0.1:8080. |Ask about No. 5 there. |He said no. |She said nothing.");
    at_bars("Really?! |That is odd. |J. R. Smith knows, and so do I. |Ask him.");
}

#[test]
fn clauses() {
    at_bars("We bought apples, pears, and plums at the market.");
    at_bars("The first store keeps everything, |and the second one loses everything it gets.");
    at_bars("Everything was tried before today; |nothing of it worked for us.");
    at_bars("On Monday, but not later.");
    at_bars("a, b, c; d");
}

#[test]
fn scripts() {
    at_bars("我想把搜索栏放在顶部，|因为移动用户需要快速访问。|但是滚动时应该折叠！");
    at_bars("我们买了苹果、梨、香蕉。|很好吃，对吧，是的？");
    at_bars("検索バーは上に置きたいです。|でもスクロールしたら畳んでください。");
    at_bars("هل تريد أن نبدأ اليوم؟ |نعم نريد أن نبدأ الآن، |ولكن العمل كثير جدا علينا.");
    at_bars("यह पहला वाक्य है। |यह दूसरा वाक्य है।");
    at_bars("Это первое предложение, |но оно довольно длинное. |См. стр. 5 там.");
    let thai = "ภาษาไทยไม่มีช่องว่าง".repeat(60);
    assert!(
        cut(&thai)
            .iter()
            .all(|piece| piece.chars().count() <= limits::FRAGMENT_CHARS)
    );
}

#[test]
fn lines_and_code() {
    at_bars("# A heading\n|- first item\n|- second item\n\n|A paragraph here.");
    at_bars("1. First of them.\n|2. Second of them.\n|a. third of them\n");
    at_bars(
        "Run this now:\n|```rust\nlet a = 1; // one. Two, but three.\n\nb();\n```\n|And then this.",
    );
    at_bars("Call `a.b(). C, but d; e` now. |It helps to ``x ` y. Z`` there.");
    at_bars("``` is not closed. |So it is text.\n|More of it. ");
    at_bars("apples\n|oranges\n|pears");
    at_bars("windows\r\n|lines here\r\n\r\n|three");
    assert_eq!(cut(""), Vec::<String>::new());
    assert_eq!(cut(" \n "), [" \n "]);
    assert_eq!(cut("\n\n first"), ["\n\n first"]);
}

#[test]
fn neither_tiny_nor_huge() {
    at_bars("Yes. I agree with that. |It is so. OK.");
    assert!(
        cut(&"word ".repeat(1_000))
            .iter()
            .all(|piece| piece.chars().count() <= limits::FRAGMENT_CHARS)
    );
    assert!(cut(&"x\n".repeat(50_000)).len() <= limits::FRAGMENTS);
    assert_eq!(cut(&"e\u{301}".repeat(1_000))[0].chars().count() % 2, 0);
}

#[test]
fn hostile_text_takes_one_pass() {
    for unit in [
        "`", "```a\n", "~~~~ \n", "`` ` ", ".", ". ", "a.", ", but ", "；", "\n", " ", "…", "\"",
        "(", "«", "«a. ", "a\u{301}", "\u{301}", "🏽", "a, ", "no. ",
    ] {
        cut(&unit.repeat(100_000));
        cut(&(" ".repeat(100_000) + &unit.repeat(50_000)));
        trimmed(&unit.repeat(100_000));
    }
    let fences: String = (3..600).rev().map(|n| "`".repeat(n) + "a\n").collect();
    cut(&fences);
}

#[test]
fn anchors() {
    let item = "item_0192c0de-0000-7000-8000-000000000001";
    let one = parse_anchor(&format!("{item}#^a7f")).unwrap();
    assert_eq!(
        (one.item.as_str(), one.first.id.as_str(), one.last),
        (item, "^a7f", None)
    );
    let second = parse_anchor(&format!("{item}#^a7f.2")).unwrap().first;
    assert_eq!(
        (second.nth, second.to_string()),
        (Some(2), "^a7f.2".to_string())
    );
    assert_eq!(second.position(["^a7f", "^b2e", "^a7f"]), Some(2));
    assert_eq!(second.position(["^a7f"]), None);
    assert!(parse_anchor("msg_12#^a7f").is_some());
    let range = parse_anchor(&format!("{item}#^a7f:^b2e9")).unwrap();
    assert_eq!(range.last.unwrap().id, "^b2e9");
    for bad in [
        "",
        "#",
        "#^a7f:",
        "#^a7",
        "#^A7F",
        "#^a7f:^b2e:^c3d",
        "#a7f",
        "#^a7f.",
        "#^a7f.0",
        "#^a7f.x",
    ] {
        assert_eq!(parse_anchor(&format!("{item}{bad}")), None, "{bad}");
    }
    assert_eq!(parse_anchor("item_x#^a7f"), None);
    assert_eq!(
        parse_anchor("entity_0192c0de-0000-7000-8000-000000000001#^a7f"),
        None
    );
}
