//! Hints for people at a shell. The rules of the product speak to agents and name tools; here each
//! name becomes the command that does the same.

use understory_tools::registry;

/// Tools that have a command of their own; any other is called by its name.
const COMMANDS: [(&str, &str); 25] = [
    ("branchmind_branch_create", "branch"),
    ("branchmind_branch_list", "branches"),
    ("branchmind_checkout", "checkout"),
    ("branchmind_diff", "diff"),
    ("branchmind_graph_diff", "diff"),
    ("branchmind_graph_merge", "merge"),
    ("branchmind_merge", "merge"),
    ("branchmind_notes_commit", "note"),
    ("garden_artifact_list", "artifacts"),
    ("garden_artifact_show", "artifact"),
    ("garden_stack", "conversations"),
    ("get_active_sessions", "who"),
    ("get_project_overview", "records"),
    ("get_thread", "thread"),
    ("graph_next", "next"),
    ("list_records", "records"),
    ("list_threads", "threads"),
    ("post_message", "post"),
    ("read_messages", "thread"),
    ("reader_proposals", "proposals"),
    ("search", "search"),
    ("search_records", "search"),
    ("toolset", "tools"),
    ("trigger_participant", "wake"),
    ("why", "why"),
];

/// The hint with commands in the place of tools. A tool whose name is a common word is one only in
/// backquotes; a suggestion of another spelling stays as it is.
pub fn for_shell(hint: &str) -> String {
    if hint.starts_with("Did you mean ") || hint.starts_with("For example: ") {
        return hint.to_owned();
    }
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut told = String::with_capacity(hint.len());
    let mut rest = hint;
    while let Some(start) = rest.find(is_word) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|letter| !is_word(letter)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        let quoted = before.ends_with('`') && after.starts_with('`');
        // What is a command already stays one, so that a hint may come through here twice.
        let told_already = before == " " && told.ends_with("understory call");
        match command(word).filter(|_| (quoted || word.contains('_')) && !told_already) {
            Some(command) => {
                let command = format!("`{command}`");
                told.push_str(
                    before
                        .strip_suffix('`')
                        .filter(|_| quoted)
                        .unwrap_or(before),
                );
                told.push_str(&command);
                rest = if quoted { &after[1..] } else { after };
            }
            None => {
                told.push_str(before);
                told.push_str(word);
                rest = after;
            }
        }
    }
    told + rest
}

fn command(tool: &str) -> Option<String> {
    let own = COMMANDS.iter().find(|(name, _)| *name == tool);
    match own {
        Some((_, command)) => Some(format!("understory {command}")),
        None => registry::find(tool).map(|tool| format!("understory call {}", tool.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_become_commands() {
        for (said, told) in [
            (
                "list_records lists records; search_records finds them by words.",
                "`understory records` lists records; `understory search` finds them by words.",
            ),
            (
                "graph_query lists nodes.",
                "`understory call graph_query` lists nodes.",
            ),
            (
                "`search` finds things.",
                "`understory search` finds things.",
            ),
            (
                "Why search? `x_y` and `no` stay.",
                "Why search? `x_y` and `no` stay.",
            ),
            (
                "`understory call garden_add --help` shows the arguments.",
                "`understory call garden_add --help` shows the arguments.",
            ),
            ("Did you mean graph_plan?", "Did you mean graph_plan?"),
            (
                "Run `understory rebuild`. Grüße 日本",
                "Run `understory rebuild`. Grüße 日本",
            ),
            ("", ""),
        ] {
            assert_eq!(for_shell(said), told);
            assert_eq!(for_shell(told), told, "a hint is told once");
        }
    }

    #[test]
    fn every_tool_named_here_exists() {
        for (tool, command) in COMMANDS {
            assert!(registry::find(tool).is_some(), "{tool}");
            let known = crate::cli::command();
            assert!(known.find_subcommand(command).is_some(), "{command}");
        }
    }
}
