//! Maximums that callers can meet, in one place, so that each can be tested. Those that concern a
//! single mechanism stand beside it.

/// Nodes, updates, edges or operations in one call.
pub const BATCH: usize = 5_000;
/// Nodes that one new node depends on, and dependencies in one call: each costs about as much as a
/// small node, and all of a call is one transaction, which the writers of others wait for.
pub const DEPENDENCIES: usize = 1_000;
pub const BATCH_DEPENDENCIES: usize = 10_000;
/// Levels of a graph tree, the root included.
pub const GRAPH_DEPTH: i64 = 256;
/// Records in one call: each is indexed by its words and its meaning, which takes longer than a node.
pub const RECORDS: usize = 200;
/// Levels of a tree of records, the root included.
pub const RECORD_DEPTH: i64 = 64;
/// A record's body, as UTF-8.
pub const BODY_BYTES: usize = 1 << 20;
/// Of one text, what is indexed by all its words; of a longer one each word counts once.
pub const INDEXED_BYTES: usize = 200_000;
/// A record's metadata, as JSON.
pub const METADATA_BYTES: usize = 64 << 10;
/// Conversations from a project's first to one that was forked from another again and again.
pub const LOG_DEPTH: usize = 1_024;
/// A scratchpad's text.
pub const SCRATCH_CHARS: usize = 100_000;
/// Numbers of a vector that a model outside may give.
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
/// HTTP connections at once: in all if the process may open so many files, of one address of
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
/// What a call takes out of the agent's bucket besides one: one more for each so many bytes of its
/// body after the first so many, and for time at work as much as refills while so many calls run
/// one beside the other, after the first milliseconds.
pub const RATE_BYTES: usize = 64 << 10;
pub const RATE_CALLS_AT_ONCE: i64 = 4;
pub const RATE_FREE_MILLIS: u64 = 10;
