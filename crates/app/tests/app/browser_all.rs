//! What holds for every page, in a real browser: it can be used by everybody, hostile text is inert in every
//! field, two windows agree, and a lost connection loses nothing. The pictures of the README are made here.

use std::fmt::Write as _;

use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

use crate::http_pages::Stage;
use crate::story;

#[on_both]
fn heavy_every_page_can_be_used_by_everybody(backend: Backend) {
    let stage = Stage::new(backend);
    story::tell(&stage);
    let places = json!(story::PLACES).to_string();
    stage.browse("all", &[("PLACES", &places)]);
}

/// Markup, schemes, templates, addresses and signs, as attackers write them.
fn payloads() -> Vec<String> {
    let acts = [
        "alert(1)",
        "fetch('//evil.example')",
        "location='//evil.example'",
        "document.title='owned'",
        "parent.postMessage(1,'*')",
    ];
    let shapes = [
        "<script>{}</script>",
        "<img src=x onerror=\"{}\">",
        "<svg onload=\"{}\">",
        "<svg><script>{}</script></svg>",
        "\"><script>{}</script>",
        "'><img src=x onerror={}>",
        "</title><script>{}</script>",
        "</textarea><script>{}</script>",
        "</style><script>{}</script>",
        "<!--><script>{}</script>-->",
        "<iframe srcdoc=\"<script>{}</script>\">",
        "<a href=\"javascript:{}\">here</a>",
        "[here](javascript:{})",
        "![x](x\" onerror=\"{})",
        "<math><mtext><style><img src=x onerror={}></style>",
        "<details open ontoggle=\"{}\">",
        "<form><button formaction=\"javascript:{}\">Accept",
        "<input autofocus onfocus=\"{}\">",
        "<meta http-equiv=refresh content=\"0;url=javascript:{}\">",
        "<base href=\"//evil.example\"><b onmouseover=\"{}\">",
        "{{constructor.constructor('{}')()}}",
        "${{{}}}",
        "`${{{}}}`",
        "&lt;script&gt;{}&lt;/script&gt;",
        "\u{202E}<script>{}</script>",
        "<scr\u{0}ipt>{}</scr\u{0}ipt>",
        "<ſcript>{}</ſcript>",
        "<style>@import 'javascript:{}';*{color:red}</style>",
        "<object data=\"data:text/html,<script>{}</script>\">",
        "<link rel=stylesheet href=\"data:text/css,*{display:none}\" onload=\"{}\">",
    ];
    let wraps = ["{}", "word {} word", "**{}**", "```\n{}\n```"];
    let mut all = Vec::new();
    for shape in shapes {
        for act in acts {
            for wrap in wraps {
                let text = wrap.replace("{}", &shape.replace("{}", act));
                // The store refuses these signs, with an error that is tested elsewhere.
                all.push(text.replace('\u{0}', ""));
            }
        }
    }
    all.truncate(500);
    all
}

/// Every field that callers fill, with every payload.
fn attack(stage: &Stage) {
    let all = payloads();
    assert_eq!(all.len(), 500);
    for some in all.chunks(100) {
        let nodes: Vec<Value> = some
            .iter()
            .enumerate()
            .map(|(at, text)| json!({"ref": format!("n{at}"), "summary": text, "properties": {"area": text}}))
            .collect();
        stage.as_agent("eve", "graph_plan", json!({"nodes": nodes}));
        let records: Vec<Value> = some
            .iter()
            .enumerate()
            .map(|(at, text)| {
                json!({"ref": format!("r{at}"), "title": text.replace('\n', " "), "summary": text.replace('\n', " "),
                    "body": text, "type": "question", "state": "OPEN", "parent_id": null})
            })
            .collect();
        stage.as_agent("eve", "create_records", json!({"records": records}));
    }
    let mut lines = String::new();
    for text in &all {
        let _ = writeln!(lines, "{}", text.replace('\n', " "));
    }
    let document = json!({"label": "hostile", "content": lines});
    stage.as_agent("eve", "garden_artifact_create", document);
    for some in all.chunks(50) {
        let text = some.join("\n\n");
        let title: String = some[0].replace('\n', " ").chars().take(150).collect();
        let said = json!({"to": ["ann"], "title": title, "body": text});
        stage.as_agent("eve", "post_message", said);
        let note = json!({"type": "Note", "description": text});
        stage.as_agent("eve", "garden_add", note);
        let change = json!({"artifact": "hostile", "start": 1, "end": 1, "content": some[1], "reasoning": text});
        stage.as_agent("eve", "reader_propose", change);
        let node = json!([{"op": "node_upsert", "id": format!("n{}", text.len()), "type": "hypothesis", "title": title, "text": text}]);
        let graph = json!({"workspace": "garden", "doc": "graph", "branch": "main", "ops": node});
        stage.as_agent("eve", "branchmind_graph_apply", graph);
    }
    let done = json!({"node_id": "TASK-001", "resolved": true, "reason": all[0], "add_evidence": [{"type": "note", "ref": all[1]}]});
    stage.as_agent("eve", "graph_update", json!({"updates": [done]}));
}

#[on_both]
fn heavy_hostile_text_is_inert_in_every_field(backend: Backend) {
    let stage = Stage::new(backend);
    attack(&stage);
    let places = [
        "now",
        "now?peek=th_001",
        "timeline",
        "work",
        "work?view=board",
        "work?view=list",
        "work/TASK-001",
        "records",
        "records/R001",
        "reasoning",
        "conversations",
        "threads",
        "threads/th_001",
        "artifacts/hostile",
        "why/hostile:1",
        "agents/eve",
        "agents/eve/retrace",
        "search?q=script",
        "search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "go/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "proof",
    ];
    let places = json!(places).to_string();
    stage.browse("hostile", &[("PLACES", &places)]);
}
