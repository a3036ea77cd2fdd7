//! Every maximum that callers can meet, in one place, so that each can be tested. What merely tunes
//! a mechanism, such as the rows that it reads at a time, stands beside the mechanism.

/// Nodes, updates, edges or operations in one call.
pub const BATCH: usize = 5_000;
/// Nodes that one new node depends on, and dependencies in one call: each costs about as much as a
/// small node, and all of a call is one transaction, which the writers of others wait for.
pub const DEPENDENCIES: usize = 1_000;
pub const BATCH_DEPENDENCIES: usize = 10_000;
/// Levels of a graph tree, the root included.
pub const GRAPH_DEPTH: i64 = 256;
/// Records in one call: each is indexed by its words and its meaning, which takes longer than a
/// node.
pub const RECORDS: usize = 200;
/// Levels of a tree of records, the root included.
pub const RECORD_DEPTH: i64 = 64;
/// A record's body, as UTF-8.
pub const BODY_BYTES: usize = 1 << 20;
/// Of one text, what is indexed by all its words; of a longer one each word counts once.
pub const INDEXED_BYTES: usize = 200_000;
/// Of a node's evidence, what is searched in: PostgreSQL's text vectors hold a megabyte, and a word
/// can take several times its own length there.
pub const SEARCHED_EVIDENCE_BYTES: usize = 200_000;
/// A record's metadata, as JSON.
pub const METADATA_BYTES: usize = 64 << 10;
/// Conversations from a project's first to one that was forked from another again and again.
pub const LOG_DEPTH: usize = 1_024;
/// A scratchpad's text.
pub const SCRATCH_CHARS: usize = 100_000;
/// Numbers of a vector that an external model may give.
pub const EMBEDDING_DIMS: usize = 16_384;
/// Levels of children that one read returns.
pub const CONTEXT_DEPTH: i64 = 16;
/// A one-line text: a summary, a title, a goal.
pub const LINE_CHARS: usize = 2_000;
/// A longer text: a piece of evidence, a reason.
pub const TEXT_CHARS: usize = 100_000;
/// An identifier that a caller chooses: a project, a ref, a type of edge or evidence.
pub const NAME_CHARS: usize = 256;
/// One entity's value, as JSON.
pub const ENTITY_BYTES: usize = 4 << 20;
/// Context links or pieces of evidence on one node.
pub const LIST_LEN: usize = 10_000;
/// Entries of a list argument, unless its schema says otherwise: the words, types or names that a
/// read is narrowed to.
pub const LIST: usize = 200;
/// Names in one read of things by their names.
pub const IDS: usize = 1_000;
/// Properties that a filter names, and properties that it excludes. Each of them is looked up for
/// every candidate.
pub const FILTER_PROPERTIES: usize = 32;
/// Keys in one `properties` object.
pub const PROPERTIES: usize = 1_000;
/// The key of a node or edge in a graph document with its branch and document, as UTF-8: what
/// both databases can index.
pub const VERTEX_BYTES: usize = 2_600;
/// Rows of one page, unless a tool says less.
pub const PAGE: i64 = 200;
/// An idempotency key.
pub const KEY_CHARS: usize = 256;
/// An artifact's text, as UTF-8, and its lines.
pub const ARTIFACT_BYTES: usize = 4 << 20;
pub const ARTIFACT_LINES: usize = 100_000;
/// A message's body, as UTF-8.
pub const MESSAGE_BYTES: usize = 256 << 10;
/// Participants of one thread.
pub const PARTICIPANTS: usize = 256;
/// Threads that one call waits on.
pub const WAITED_THREADS: usize = 200;
/// Seconds that one call waits for messages: clients give up at 300. One that is told all the while
/// that its call goes on may wait longer.
pub const WAIT_SECONDS: u64 = 280;
pub const WAIT_SECONDS_TOLD: u64 = 3_600;
/// Calls that wait for messages at once, of one caller, of one workspace and in all.
pub const WAITS_PER_CALLER: usize = 32;
pub const WAITS_PER_WORKSPACE: usize = 2_048;
pub const WAITS: usize = 4_096;
/// Levels of arrays and objects in one call's arguments: what is kept and answered wraps them in
/// more, and JSON readers give up at 128.
pub const NESTING: usize = 64;
/// The arguments of one call, as JSON.
pub const ARGUMENT_BYTES: usize = 16 << 20;
/// The body of one HTTP request: the largest arguments, and room for what wraps them.
pub const HTTP_BODY_BYTES: usize = ARGUMENT_BYTES + (64 << 10);
/// The head of one HTTP request: its line and all its headers.
pub const HTTP_HEAD_BYTES: usize = 64 << 10;
/// Headers of one HTTP request.
pub const HTTP_HEADERS: usize = 64;
/// How long the head of an HTTP request may take to arrive, a connection be idle before it, and the
/// body take after it.
pub const HTTP_HEAD_SECONDS: u64 = 10;
pub const HTTP_BODY_SECONDS: u64 = 30;
/// How long a client may accept no byte of its answer, and a TLS handshake may take.
pub const HTTP_WRITE_SECONDS: u64 = 20;
pub const TLS_HANDSHAKE_SECONDS: u64 = 10;
/// HTTP connections at once: in total if the process may open as many files, of one address of
/// another machine, and of one agent that are never closed to make room for others.
pub const HTTP_CONNECTIONS: usize = 8_192;
pub const HTTP_CONNECTIONS_PER_ADDRESS: usize = 1_024;
pub const HTTP_CONNECTIONS_PER_AGENT: usize = 512;
/// What one JSON text may take in memory once it is parsed, as estimated before it is.
pub const PARSED_BYTES: usize = 64 << 20;
/// Bytes of bodies over HTTP, and of what they are parsed into, that are held for calls not yet
/// answered: of one agent, of one workspace and in all.
pub const HELD_BYTES_PER_AGENT: usize = 128 << 20;
pub const HELD_BYTES_PER_WORKSPACE: usize = 256 << 20;
pub const HELD_BYTES: usize = 512 << 20;
/// Calls that are at work at once, each in a thread; more of them wait for their turn. In all there
/// are as many threads as the process has for them.
pub const WORKING_PER_AGENT: usize = 64;
pub const WORKING_PER_WORKSPACE: usize = 128;
/// Resources that are watched: by one caller on all its connections together, in one workspace, and
/// in all.
pub const WATCHED_PER_CALLER: usize = 256;
pub const WATCHED_PER_WORKSPACE: usize = 4_096;
pub const WATCHED: usize = 16_384;
/// A token, as it is sent.
pub const TOKEN_BYTES: usize = 8 << 10;
/// How long a token may be good for.
pub const TOKEN_SECONDS: i64 = 30 * 24 * 3_600;
/// How far two machines' clocks may differ when a token is judged.
pub const TOKEN_LEEWAY_SECONDS: i64 = 5;
/// A public key set of another issuer, as JSON.
pub const KEY_SET_BYTES: usize = 256 << 10;
/// Streams that wait for news, of one caller, of one workspace and in all.
pub const STREAMS_PER_CALLER: usize = 32;
pub const STREAMS_PER_WORKSPACE: usize = 512;
pub const STREAMS: usize = 2_048;
/// MCP sessions over HTTP, of one caller, of one workspace and in all.
pub const MCP_SESSIONS_PER_CALLER: usize = 32;
pub const MCP_SESSIONS_PER_WORKSPACE: usize = 1_024;
pub const MCP_SESSIONS: usize = 4_096;
/// Calls of one agent that may come at once, as seconds of its rate.
pub const RATE_BURST_SECONDS: i64 = 4;
/// What a call takes out of the agent's bucket besides one: one more for each `RATE_BYTES` of its
/// body after the first `RATE_BYTES`, and for time at work as much as refills while
/// `RATE_CALLS_AT_ONCE` calls run side by side, after the first `RATE_FREE_MILLIS`.
pub const RATE_BYTES: usize = 64 << 10;
pub const RATE_CALLS_AT_ONCE: i64 = 4;
pub const RATE_FREE_MILLIS: u64 = 10;
/// Characters of the longest fragment of prose; a block of code may be longer.
pub const FRAGMENT_CHARS: usize = 480;
/// Fragments of one text; beyond that, neighbours are joined.
pub const FRAGMENTS: usize = 1_000;
/// A cursor: longer than any that we give out.
pub const CURSOR_CHARS: usize = 2_048;
/// Commits that one message can name, and the length of one.
pub const MESSAGE_COMMITS: usize = 20;
pub const COMMIT_CHARS: usize = 64;
/// A word in the text indexes, and the words of one query.
pub const WORD_CHARS: usize = 64;
pub const QUERY_WORDS: usize = 32;
/// Names that are compared for "did you mean", and the length of one: comparing two costs the
/// product of their lengths.
pub const COMPARED_NAMES: usize = 10_000;
pub const COMPARED_CHARS: usize = 256;
/// The name of a branch.
pub const BRANCH_CHARS: usize = 128;
/// The name of an item type.
pub const TYPE_CHARS: usize = 64;
/// The name of an agent, a session, a workspace or a project.
pub const IDENTITY_CHARS: usize = 64;
/// Tokens of a text that count for what it means.
pub const EMBEDDED_TOKENS: usize = 512;
/// Passages of one text that are indexed by meaning; what comes after them is found by its words.
/// Of a text of lines there may be more, and an external model is sent this many.
pub const PASSAGES: usize = 16;
pub const LINE_PASSAGES: usize = 8_192;
pub const EMBEDDED_PASSAGES: usize = 256;
/// Agents that are listed.
pub const AGENTS: i64 = 1_000;
/// Items that one purge may erase: the item that records it names each.
pub const PURGED_ITEMS: usize = 50_000;
/// Tasks that a picture of a plan draws, steps that it goes from its focus, and tasks of a step that it
/// draws rather than counts.
pub const PICTURE_TASKS: i64 = 200;
pub const PICTURE_STEPS: i64 = 12;
pub const PICTURE_STEP_TASKS: usize = 8;
/// Waiting tasks of a plan that are looked at to tell what unblocks the most.
pub const PICTURE_WAITING: i64 = 2_000;
/// Tasks of one list that a page shows at most.
pub const LISTED_TASKS: i64 = 1_000;
/// Children of one node, and links of one kind, in one answer.
pub const CONTEXT_ROWS: i64 = 1_000;
/// An answer to a call that names no budget.
pub const ANSWER_CHARS: usize = 100_000;
/// An overview of a project where the call names no budget: a chat begins with it, and about 2,000
/// tokens orient well. What is left out is counted in `totals`, and list_records pages through it.
pub const OVERVIEW_CHARS: i64 = 8_000;
/// What an agent is told when it arrives: six hundred tokens of four characters.
pub const ONBOARD_CHARS: usize = 2_400;
/// Records that one answer about a session names.
pub const SESSION_RECORDS: i64 = 10_000;
/// Steps and items of one trace of causes.
pub const TRACE_DEPTH: i64 = 1_000;
pub const TRACE_ITEMS: usize = 5_000;
/// References of one text that are looked up when it is written.
pub const MENTIONS: usize = 200;
/// References that one call resolves.
pub const REFERENCES: usize = 2_000;
/// Of the lines that a reference to a range stands for, how much is shown.
pub const RANGE_CHARS: usize = 2_000;
/// Fragments that one commit cites.
pub const COMMIT_REFERENCES: usize = 1_000;
/// Relations that one call makes fossils, or brings back.
pub const FOSSILS: usize = 500;
/// Last messages that a summary of a thread holds.
pub const SUMMARY_MESSAGES: i64 = 200;
/// Item types that one call of the timeline may ask for.
pub const TIMELINE_TYPES: usize = 32;
/// A file of a Git repository that is read, a settings file, and an entry of what a person allowed.
pub const GIT_FILE_BYTES: u64 = 1 << 20;
pub const SETTINGS_BYTES: u64 = 1 << 20;
pub const ALLOWED_BYTES: u64 = 64 << 10;
/// An answer of an external model: 32 vectors of 16,384 numbers.
pub const EMBEDDING_ANSWER_BYTES: u64 = 16 << 20;
/// Calls in progress at once over HTTP, most of them waiting for a commit, and over stdio; more of
/// them queue. Those that wait for messages over HTTP have no thread.
pub const HTTP_WORKING: usize = 256;
pub const STDIO_WORKING: usize = 32;
/// Logins at once; the oldest of more is dropped.
pub const LOGINS: usize = 16;
/// The password of a store's address, in a file.
pub const PASSWORD_BYTES: u64 = 4 << 10;
/// A chain of certificates.
pub const CERTIFICATE_BYTES: u64 = 1 << 20;
/// A token's `jti` and `kid`.
pub const TOKEN_ID_CHARS: usize = 256;
/// A key file, and the keys that are read of one set.
pub const KEY_FILE_BYTES: u64 = 16 << 10;
pub const KEY_SET_KEYS: usize = 64;
/// Settings: writes that a session may miss before it is out of touch, hours that a claim or a key
/// is kept, and calls a second of one agent.
pub const STALE_TICKS: i64 = 1_000_000;
pub const KEPT_HOURS: i64 = 366 * 24;
pub const RATE_PER_SECOND: i64 = 1_000_000;
/// Chats of one process that have a place of their own.
pub const CHATS: usize = 256;
/// The id of a JSON-RPC request.
pub const REQUEST_ID_CHARS: usize = 256;
/// Ranges of the log whose changed names are cached for slow watchers.
pub const NOTICES: usize = 64;
/// Wakes of one agent in an hour that a setting may allow.
pub const WAKES_PER_HOUR: i64 = 10_000;
/// Agents that one worker has resumed or begun and that are at work; further jobs wait.
pub const WAKES_AT_ONCE: usize = 8;

/// Seconds of a setting about when a terminal is typed into.
pub const WAKE_SECONDS: i64 = 3_600;
/// What a hook reads of its client, and what it tells: 2,500 tokens of four characters.
pub const HOOK_INPUT_BYTES: u64 = 4 << 20;
pub const HOOK_CHARS: usize = 10_000;
/// Threads that a hook tells of, messages of one of them, and how much of one message.
pub const HOOK_THREADS: i64 = 20;
pub const HOOK_MESSAGES: i64 = 20;
pub const HOOK_MESSAGE_CHARS: usize = 600;
