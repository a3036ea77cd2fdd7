//! What the fake model does next: the texts that a client sends are its script.
//!
//! A script is written a step a line, and everything else in a text is ignored:
//!
//! ```text
//! CALL graph_next {"claim": true}      calls the tool, whatever prefix the client gives its name
//! SLEEP 3                              is silent for so many seconds
//! SAY words                            ends the turn
//! ON th_001: CALL read_messages {…}    a step of what to do when a later text matches the regex
//! ```
//!
//! `{{regex}}` in arguments and words becomes the last match in earlier tool results, or its first group
//! if it has one. A client sends the whole conversation every time, so there is no state to keep.

use std::time::Duration;

use regex_lite::Regex;

/// One part of a conversation, as any protocol tells it.
#[derive(Debug)]
pub enum Event {
    /// A text for the model: a prompt, the feedback of a hook, a reminder of the client's.
    Text(String),
    /// The model called tools.
    Called,
    /// What a tool answered.
    Result(String),
    /// The model ended its turn.
    Said,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Call { tool: String, arguments: String },
    Sleep(Duration),
    Say(String),
}

/// What the model does now, after a pause.
#[derive(Debug, PartialEq)]
pub struct Decision {
    pub pause: Duration,
    pub act: Act,
}

#[derive(Debug, PartialEq)]
pub enum Act {
    Call { tool: String, arguments: String },
    Say(String),
}

/// Steps that wait for a text.
struct Rule {
    pattern: Regex,
    source: String,
    steps: Vec<Step>,
}

/// Reads a conversation so far and decides.
pub fn decide(conversation: &[Event], first_rules: &str) -> Decision {
    let mut reader = Reader::default();
    reader.learn(first_rules);
    for event in conversation {
        reader.read(event);
    }
    reader.next()
}

#[derive(Default)]
struct Reader<'a> {
    rules: Vec<Rule>,
    steps: Vec<Step>,
    called: usize,
    results: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn read(&mut self, event: &'a Event) {
        match event {
            Event::Text(text) => self.hear(text),
            Event::Called => self.called += 1,
            Event::Result(result) => self.results.push(result),
            Event::Said => self.begin(Vec::new()),
        }
    }

    fn begin(&mut self, steps: Vec<Step>) {
        self.steps = steps;
        self.called = 0;
    }

    /// A text's own steps count first, then those that a rule has for it. A reminder with neither
    /// changes nothing: clients add such texts in the middle of a turn.
    fn hear(&mut self, text: &str) {
        let rest = self.learn(text);
        let steps: Vec<Step> = rest.lines().filter_map(step).collect();
        if !steps.is_empty() {
            return self.begin(steps);
        }
        let found = self.rules.iter().find(|rule| rule.pattern.is_match(&rest));
        let Some(steps) = found.map(|rule| rule.steps.clone()) else {
            return;
        };
        // What is under way is finished first, and the words at its end would end the turn.
        self.steps.retain(|step| !matches!(step, Step::Say(_)));
        self.steps.extend(steps);
    }

    /// Keeps the rules in a text and returns what else it says.
    fn learn(&mut self, text: &str) -> String {
        let mut rest = Vec::new();
        for line in text.lines() {
            match rule(line) {
                Some((source, step)) => self.add(source, step),
                None => rest.push(line),
            }
        }
        rest.join("\n")
    }

    fn add(&mut self, source: &str, step: Step) {
        match self.rules.iter_mut().find(|rule| rule.source == source) {
            Some(rule) => rule.steps.push(step),
            None => self.rules.push(Rule {
                pattern: Regex::new(source).unwrap_or_else(|e| panic!("ON {source}: {e}")),
                source: source.to_owned(),
                steps: vec![step],
            }),
        }
    }

    fn next(&self) -> Decision {
        let mut pause = Duration::ZERO;
        let mut passed = 0;
        for step in &self.steps {
            let act = match step {
                Step::Sleep(time) => {
                    if passed == self.called {
                        pause += *time;
                    }
                    continue;
                }
                Step::Call { .. } if passed < self.called => {
                    passed += 1;
                    continue;
                }
                Step::Say(_) if passed < self.called => continue,
                Step::Call { tool, arguments } => Act::Call {
                    tool: tool.clone(),
                    arguments: self.filled(arguments),
                },
                Step::Say(words) => Act::Say(self.filled(words)),
            };
            return Decision { pause, act };
        }
        let words = match self.results.last() {
            Some(last) if self.called > 0 => {
                format!("Done: {}", last.chars().take(300).collect::<String>())
            }
            _ => "Nothing to do.".to_owned(),
        };
        Decision {
            pause,
            act: Act::Say(words),
        }
    }

    fn filled(&self, template: &str) -> String {
        let (mut filled, mut rest) = (String::new(), template);
        while let Some((before, tail)) = rest.split_once("{{") {
            let Some((pattern, after)) = tail.split_once("}}") else {
                break;
            };
            filled.push_str(before);
            filled.push_str(&self.last_match(pattern));
            rest = after;
        }
        filled + rest
    }

    fn last_match(&self, pattern: &str) -> String {
        let regex = Regex::new(pattern).unwrap_or_else(|e| panic!("{{{{{pattern}}}}}: {e}"));
        let found = self.results.iter().rev().find_map(|result| {
            let groups = regex.captures_iter(result).last()?;
            let part = groups.get(1).or(groups.get(0))?;
            Some(part.as_str().to_owned())
        });
        found.unwrap_or_else(|| "NOT_FOUND".to_owned())
    }
}

fn rule(line: &str) -> Option<(&str, Step)> {
    let line = line.trim().strip_prefix("ON ")?;
    let starts = line.match_indices(": ").map(|(at, _)| at);
    starts
        .filter_map(|at| Some((&line[..at], step(&line[at + 2..])?)))
        .next()
}

fn step(line: &str) -> Option<Step> {
    let (word, rest) = line.trim().split_once(' ')?;
    let rest = rest.trim();
    match word {
        "CALL" => {
            let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
            Some(Step::Call {
                tool: tool.to_owned(),
                arguments: arguments.trim().to_owned(),
            })
        }
        "SLEEP" => rest
            .parse()
            .ok()
            .map(|seconds| Step::Sleep(Duration::from_secs_f64(seconds))),
        "SAY" => Some(Step::Say(rest.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    fn result(text: &str) -> Event {
        Event::Result(text.to_owned())
    }

    fn say(words: &str) -> Act {
        Act::Say(words.to_owned())
    }

    fn call(tool: &str, arguments: &str) -> Act {
        Act::Call {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn steps_follow_each_other_and_see_results() {
        let prompt = "Please:\nCALL next {\"a\": 1}\nSLEEP 0.5\nCALL show {\"id\": \"{{T-\\d+}}\"}\nSAY {{n=(\\d)}}";
        let mut told = vec![text(prompt)];
        assert_eq!(decide(&told, "").act, call("next", "{\"a\": 1}"));
        told.extend([
            Event::Called,
            result("T-1 T-2 n=7"),
            text("a reminder: be brief"),
        ]);
        let second = decide(&told, "");
        assert_eq!(second.act, call("show", "{\"id\": \"T-2\"}"));
        assert_eq!(second.pause, Duration::from_millis(500));
        told.extend([Event::Called, result("fine")]);
        assert_eq!(
            decide(&told, ""),
            Decision {
                pause: Duration::ZERO,
                act: say("7")
            }
        );
        told.extend([Event::Said, text("and now?")]);
        assert_eq!(decide(&told, "").act, say("Nothing to do."));
    }

    #[test]
    fn a_rule_waits_for_its_text() {
        let rules =
            "ON wrote in th_\\d+: CALL read {}\nON wrote in th_\\d+: SAY read: {{m\\d}}\nSAY ready";
        let mut told = vec![text(rules)];
        assert_eq!(decide(&told, "").act, say("ready"));
        told.extend([Event::Said, text("<note>ada wrote in th_001</note>")]);
        assert_eq!(decide(&told, "").act, call("read", "{}"));
        told.extend([Event::Called, result("m3")]);
        assert_eq!(decide(&told, "").act, say("read: m3"));
        let (_, given_at_start) = told.split_at(1);
        assert_eq!(decide(given_at_start, rules).act, say("read: m3"));
    }

    #[test]
    fn a_rule_in_the_middle_of_a_turn_comes_after_its_calls() {
        let mut told = vec![text("CALL a {}\nCALL b {}\nSAY over"), Event::Called];
        told.extend([result("x"), text("wake up")]);
        let rules = "ON wake: CALL c {}\nON wake: SAY awake";
        assert_eq!(decide(&told, rules).act, call("b", "{}"));
        told.extend([Event::Called, result("y")]);
        assert_eq!(decide(&told, rules).act, call("c", "{}"));
        told.extend([Event::Called, result("z")]);
        assert_eq!(decide(&told, rules).act, say("awake"));
    }
}
