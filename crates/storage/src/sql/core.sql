-- Derived from soil; dropping all of it and replaying gives the same rows.
CREATE TABLE core_meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
){clustered};

-- The end of each log. Writers of a workspace are ordered by this row.
CREATE TABLE core_head (
  ws {int} PRIMARY KEY,
  seq {int} NOT NULL,
  chain {bytes} NOT NULL,
  at {int} NOT NULL
);

CREATE TABLE core_counter (
  ws {int} NOT NULL,
  name TEXT NOT NULL,
  last {int} NOT NULL,
  PRIMARY KEY (ws, name)
){clustered};

CREATE TABLE core_entity (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  kind TEXT NOT NULL,
  handle TEXT NOT NULL,
  project {int},
  parent {int},
  version {int} NOT NULL,
  hash TEXT NOT NULL,
  previous_hash TEXT,
  created_at {int} NOT NULL,
  updated_at {int} NOT NULL,
  created_by TEXT NOT NULL,
  gone {int} NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE UNIQUE INDEX core_entity_handle ON core_entity (ws, handle);
CREATE INDEX core_entity_parent ON core_entity (ws, parent, id) WHERE parent IS NOT NULL;
-- What has no list of its own is listed by its kind, and all of it in the order of its making.
CREATE INDEX core_entity_kind ON core_entity (ws, kind, id)
  WHERE kind <> 'node' AND kind <> 'record' AND kind <> 'session' AND kind <> 'relation';
CREATE INDEX core_entity_few ON core_entity (ws, id)
  WHERE kind <> 'node' AND kind <> 'record' AND kind <> 'session' AND kind <> 'relation';

CREATE TABLE core_link (
  ws {int} NOT NULL,
  relation TEXT NOT NULL,
  source {int} NOT NULL,
  target {int} NOT NULL,
  PRIMARY KEY (ws, source, relation, target)
){clustered};
CREATE INDEX core_link_target ON core_link (ws, target, relation, source);

-- Readiness, kept as it changes, so that what is next is one step into an index.
CREATE TABLE core_node (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  project {int} NOT NULL,
  path {path} NOT NULL,
  depth {int} NOT NULL,
  resolved {int} NOT NULL,
  open_children {int} NOT NULL,
  open_deps {int} NOT NULL,
  -- 0 when it can be worked on now, 1 when it is open and waits, 2 when it is resolved: every column
  -- of the rank ascends.
  standing {int} NOT NULL,
  rank_priority {real} NOT NULL,
  rank_depth {int} NOT NULL,
  updated {int} NOT NULL,
  claimed_by TEXT NOT NULL,
  claimed_at {int} NOT NULL,
  resolved_at {int} NOT NULL,
  resolved_by TEXT NOT NULL,
  folded TEXT NOT NULL,
  claimed_session TEXT NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE INDEX core_node_ready ON core_node
  (ws, project, claimed_by, claimed_session, rank_priority, rank_depth, updated, id)
  WHERE standing = 0;
CREATE INDEX core_node_held ON core_node (ws, project, claimed_by, claimed_session, claimed_at)
  WHERE claimed_at > 0 AND resolved = 0;
CREATE INDEX core_node_rank ON core_node
  (ws, project, standing, rank_priority, rank_depth, updated, id);
CREATE INDEX core_node_claimed ON core_node (ws, project, claimed_at)
  WHERE claimed_at > 0 AND resolved = 0;
CREATE INDEX core_node_done ON core_node (ws, project, resolved_at) WHERE resolved = 1;
CREATE INDEX core_node_path ON core_node (ws, path);
CREATE INDEX core_node_depth ON core_node (ws, project, rank_depth, id);
CREATE INDEX core_node_recent ON core_node (ws, project, updated, id);
CREATE INDEX core_node_created ON core_node (ws, project, id);

CREATE TABLE core_project (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  root {int},
  total {int} NOT NULL,
  resolved {int} NOT NULL,
  blocked {int} NOT NULL,
  actionable {int} NOT NULL,
  updated {int} NOT NULL,
  -- The logical clock of its records, and how often any of them changed.
  tick {int} NOT NULL,
  changes {int} NOT NULL,
  records {int} NOT NULL,
  open_records {int} NOT NULL,
  later_records {int} NOT NULL,
  root_records {int} NOT NULL,
  open_sessions {int} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};

-- What lists and references show of a record, so that no list reads a body.
CREATE TABLE core_record (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  project {int} NOT NULL,
  handle TEXT NOT NULL,
  parent TEXT,
  path {path} NOT NULL,
  depth {int} NOT NULL,
  type TEXT NOT NULL,
  state TEXT NOT NULL,
  -- JSON: title and summary.
  brief TEXT NOT NULL,
  children {int} NOT NULL,
  open_children {int} NOT NULL,
  -- The item of its last change, and the version in which its state last changed.
  changed {int} NOT NULL,
  state_changed {int} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE INDEX core_record_path ON core_record (ws, project, path);
CREATE INDEX core_record_root ON core_record (ws, project, depth, id) WHERE depth = 0;
CREATE INDEX core_record_state ON core_record (ws, project, state, changed);

-- A chat's work in one project: what it has read up to, and what it saved.
CREATE TABLE core_session (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  project {int} NOT NULL,
  name TEXT NOT NULL,
  -- Who began it.
  agent TEXT NOT NULL,
  -- The session it branched from.
  parent TEXT,
  open {int} NOT NULL,
  last_activity {int} NOT NULL,
  last_save {int} NOT NULL,
  saved {int} NOT NULL,
  sync_tick {int} NOT NULL,
  synced {int} NOT NULL,
  -- Changes in the project when it last synced, and its own since.
  sync_changes {int} NOT NULL,
  own_changes {int} NOT NULL,
  -- Ticks of the project since then that were its own.
  own_ticks {int} NOT NULL,
  created {int} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE INDEX core_session_name ON core_session (ws, name, id);
CREATE INDEX core_session_open ON core_session (ws, project, last_activity, id) WHERE open = 1;

-- Who is working on what: the item since which, its last activation or own change, the version of a
-- record that a session last saw whole (0: none), the item up to which a sync told it of the record's
-- changes, its last own change, and where it chose to go on in spite of others (0: nowhere).
CREATE TABLE core_lease (
  ws {int} NOT NULL,
  session {int} NOT NULL,
  target {int} NOT NULL,
  since {int} NOT NULL,
  used {int} NOT NULL,
  seen {int} NOT NULL,
  told {int} NOT NULL,
  wrote {int} NOT NULL,
  overrode {int} NOT NULL,
  PRIMARY KEY (ws, session, target)
){clustered};
CREATE INDEX core_lease_target ON core_lease (ws, target, session);

-- What happened to records and sessions, by kind: the items themselves say the rest.
CREATE TABLE core_activity (
  ws {int} NOT NULL,
  project {int} NOT NULL,
  seq {int} NOT NULL,
  type TEXT NOT NULL,
  target {int},
  PRIMARY KEY (ws, project, seq)
){clustered};
CREATE INDEX core_activity_type ON core_activity (ws, project, type, seq);
CREATE INDEX core_activity_target ON core_activity (ws, target, seq) WHERE target IS NOT NULL;

-- What a node can be filtered by: a property's value, a type of evidence.
CREATE TABLE core_key (
  ws {int} NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  id {int} NOT NULL,
  PRIMARY KEY (ws, name, value, id)
){clustered};

-- Branches of thought: each a parent and a cutoff.
CREATE TABLE core_branch (
  ws {int} NOT NULL,
  name {path} NOT NULL,
  id {int} NOT NULL,
  base {path} NOT NULL,
  base_seq {int} NOT NULL,
  -- Where its line begins: main, or the branch of a graph node, whose documents are its own.
  root {path} NOT NULL,
  PRIMARY KEY (ws, name)
){clustered};
CREATE INDEX core_branch_base ON core_branch (ws, base, base_seq);

-- Which items stand in which document of which branch. `origin` is the entry that a copy is of.
CREATE TABLE core_entry (
  ws {int} NOT NULL,
  branch {path} NOT NULL,
  doc {path} NOT NULL,
  seq {int} NOT NULL,
  kind TEXT NOT NULL,
  origin {int} NOT NULL,
  source TEXT,
  PRIMARY KEY (ws, branch, doc, seq)
){clustered};
CREATE INDEX core_entry_origin ON core_entry (ws, origin);
CREATE INDEX core_entry_source ON core_entry (ws, doc, source) WHERE source IS NOT NULL;

-- Versions of nodes and edges in graph documents; a newer one of a key hides those before it.
CREATE TABLE core_vertex (
  ws {int} NOT NULL,
  branch {path} NOT NULL,
  doc {path} NOT NULL,
  key {path} NOT NULL,
  seq {int} NOT NULL,
  kind TEXT NOT NULL,
  target {path},
  deleted {int} NOT NULL,
  -- The branch that it was merged from.
  giver {path},
  data TEXT NOT NULL,
  PRIMARY KEY (ws, branch, doc, key, seq)
){clustered};
-- A branch gives to the one it was made from and to no other.
CREATE INDEX core_vertex_giver ON core_vertex (ws, giver, key, seq) WHERE giver IS NOT NULL;

-- What a branch itself says last about a key, and since when it says anything: lists read this, so
-- that versions which nobody sees any more are never stepped over.
CREATE TABLE core_tip (
  ws {int} NOT NULL,
  branch {path} NOT NULL,
  doc {path} NOT NULL,
  key {path} NOT NULL,
  kind TEXT NOT NULL,
  target {path},
  first {int} NOT NULL,
  seq {int} NOT NULL,
  deleted {int} NOT NULL,
  PRIMARY KEY (ws, branch, doc, key)
){clustered};
CREATE INDEX core_tip_list ON core_tip (ws, branch, doc, kind, deleted, seq);
CREATE INDEX core_tip_target ON core_tip (ws, branch, doc, target, first)
  WHERE target IS NOT NULL;

-- What it said before that and a branch made from it still sees; the last such cutoff is `until`.
CREATE TABLE core_kept (
  ws {int} NOT NULL,
  branch {path} NOT NULL,
  doc {path} NOT NULL,
  kind TEXT NOT NULL,
  deleted {int} NOT NULL,
  seq {int} NOT NULL,
  until {int} NOT NULL,
  key {path} NOT NULL,
  PRIMARY KEY (ws, branch, doc, kind, deleted, seq)
){clustered};

CREATE TABLE core_conflict (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  from_branch {path} NOT NULL,
  into_branch {path} NOT NULL,
  doc {path} NOT NULL,
  key {path} NOT NULL,
  theirs {int} NOT NULL,
  open {int} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE INDEX core_conflict_key ON core_conflict (ws, from_branch, key);
CREATE INDEX core_conflict_into ON core_conflict (ws, into_branch, open, doc, id);

-- Threads between agents; what is counted of each as its messages come.
CREATE TABLE core_thread (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  status TEXT NOT NULL,
  -- The number of its last message; 0 before the first.
  last {int} NOT NULL,
  updated {int} NOT NULL,
  findings {int} NOT NULL,
  open_findings {int} NOT NULL,
  -- What was asked in it and is not answered.
  open_asks {int} NOT NULL,
  -- How often its status or its participants were changed.
  changes {int} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE INDEX core_thread_recent ON core_thread (ws, updated, id);

-- Which items are messages of which thread, by their numbers in it.
CREATE TABLE core_message (
  ws {int} NOT NULL,
  thread {int} NOT NULL,
  n {int} NOT NULL,
  seq {int} NOT NULL,
  sender {path} NOT NULL,
  -- The message that reported the finding that this one is about.
  finding {int},
  -- JSON: the commits that it names.
  commits TEXT,
  -- What kind of event it is, if one of those that the server understands.
  event TEXT,
  PRIMARY KEY (ws, thread, n)
){clustered};
CREATE INDEX core_message_by ON core_message (ws, sender, seq);
CREATE INDEX core_message_event ON core_message (ws, thread, event, sender) WHERE event IS NOT NULL;
CREATE INDEX core_message_seq ON core_message (ws, seq);
CREATE INDEX core_message_sender ON core_message (ws, thread, sender, n);
CREATE INDEX core_message_commits ON core_message (ws, thread, n) WHERE commits IS NOT NULL;

CREATE TABLE core_finding (
  ws {int} NOT NULL,
  thread {int} NOT NULL,
  -- The message that reported it.
  n {int} NOT NULL,
  name TEXT,
  state TEXT NOT NULL,
  open {int} NOT NULL,
  -- The item that made it what it is.
  changed {int} NOT NULL,
  PRIMARY KEY (ws, thread, n)
){clustered};
CREATE INDEX core_finding_name ON core_finding (ws, thread, name) WHERE name IS NOT NULL;
CREATE INDEX core_finding_open ON core_finding (ws, thread, n) WHERE open = 1;

-- Who takes part in a thread, and how far each has read.
CREATE TABLE core_participant (
  ws {int} NOT NULL,
  agent {path} NOT NULL,
  thread {int} NOT NULL,
  -- 0 for somebody who reads along without taking part.
  member {int} NOT NULL,
  last_read {int} NOT NULL,
  -- Its own messages after that: nobody has to read those.
  own {int} NOT NULL,
  -- Up to which change of the thread it was told of.
  seen {int} NOT NULL,
  updated {int} NOT NULL,
  PRIMARY KEY (ws, agent, thread)
){clustered};
CREATE INDEX core_participant_thread ON core_participant (ws, thread, agent);

-- What was asked in a thread: an escalation, a review once more.
CREATE TABLE core_ask (
  ws {int} NOT NULL,
  thread {int} NOT NULL,
  -- The message that asks.
  n {int} NOT NULL,
  ask TEXT NOT NULL,
  sender TEXT NOT NULL,
  -- The finding that it is about, and who reported that.
  finding {int},
  reviewer TEXT,
  open {int} NOT NULL,
  PRIMARY KEY (ws, thread, n)
){clustered};
CREATE INDEX core_ask_open ON core_ask (ws, thread, n) WHERE open = 1;

-- Changes of a thread's status and participants, numbered in it.
CREATE TABLE core_thread_change (
  ws {int} NOT NULL,
  thread {int} NOT NULL,
  n {int} NOT NULL,
  seq {int} NOT NULL,
  -- The number of the thread's last message before it.
  after {int} NOT NULL,
  actor TEXT NOT NULL,
  PRIMARY KEY (ws, thread, n)
){clustered};
CREATE INDEX core_thread_change_seq ON core_thread_change (ws, seq);

-- Who is to be woken for which thread.
CREATE TABLE core_wake (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  thread {int} NOT NULL,
  target {path} NOT NULL,
  result TEXT NOT NULL,
  -- Whether something may still become of it.
  open {int} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE INDEX core_wake_open ON core_wake (ws, thread, target) WHERE open = 1;
CREATE INDEX core_wake_thread ON core_wake (ws, thread, id);
CREATE INDEX core_wake_target ON core_wake (ws, target, id);
CREATE INDEX core_wake_due ON core_wake (ws, id) WHERE open = 1;

-- Where the texts of things point, for search by meaning: 256 bytes a passage. What is gone stays as
-- an empty row, so that whoever keeps a copy learns of it by `seq`, the item of the last change.
CREATE TABLE core_vector (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  seq {int} NOT NULL,
  kind TEXT NOT NULL,
  vectors {bytes} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE INDEX core_vector_seq ON core_vector (ws, seq);

-- What no longer identifies anybody: a token by its id, or a session's tokens up to a moment.
CREATE TABLE core_revoked (
  ws {int} NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, kind, name)
){clustered};

-- Conversations: the one that each was forked from, and whether it is still open.
CREATE TABLE core_log (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  project {int} NOT NULL,
  parent {int},
  open {int} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE INDEX core_log_project ON core_log (ws, project, id);
CREATE INDEX core_log_parent ON core_log (ws, parent, open, id);

-- Which items stand in which conversation, in order.
CREATE TABLE core_log_item (
  ws {int} NOT NULL,
  log {int} NOT NULL,
  seq {int} NOT NULL,
  PRIMARY KEY (ws, log, seq)
){clustered};

-- Where each participant of a project stands: in which conversation, and at which of its items.
CREATE TABLE core_frame (
  ws {int} NOT NULL,
  project {int} NOT NULL,
  participant {path} NOT NULL,
  log {int} NOT NULL,
  head {int},
  PRIMARY KEY (ws, project, participant)
){clustered};
CREATE INDEX core_frame_log ON core_frame (ws, log);

-- Where the parts of messages are, by the short id that their text gives.
CREATE TABLE core_fragment (
  ws {int} NOT NULL,
  fragment {path} NOT NULL,
  seq {int} NOT NULL,
  position {int} NOT NULL,
  -- The project of its item; 0 for none.
  project {int} NOT NULL,
  PRIMARY KEY (ws, fragment, seq, position)
){clustered};
CREATE INDEX core_fragment_seq ON core_fragment (ws, seq);

-- Relations between things. One that somebody made is named by its own item and n = 0; one that was
-- found in a text by the item that says it, and its number there.
CREATE TABLE core_relation (
  ws {int} NOT NULL,
  made {int} NOT NULL,
  n {int} NOT NULL,
  kind TEXT NOT NULL,
  source {int} NOT NULL,
  source_type TEXT NOT NULL,
  target {int} NOT NULL,
  target_type TEXT NOT NULL,
  -- The part of the target that is meant.
  fragment TEXT,
  inferred {int} NOT NULL,
  -- How the mention was found: 0 it is kept in the item, 1 in a text by a full name, 2 in a text by
  -- the id of a part alone.
  found {int} NOT NULL,
  -- Where the text says it: in which field, in characters from and up to, and in an artifact on
  -- which line of the version that the commit made.
  field TEXT,
  span_start {int},
  span_end {int},
  line {int},
  fossil {int} NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, made, n)
){clustered};
CREATE INDEX core_relation_source ON core_relation (ws, source, kind, made, n);
CREATE INDEX core_relation_target ON core_relation (ws, target, kind, made, n);
CREATE INDEX core_relation_age ON core_relation (ws, fossil, at, made, n);

-- How much a thing was cited and related lately; it fades from then on.
CREATE TABLE core_touch (
  ws {int} NOT NULL,
  thing {int} NOT NULL,
  -- Millionths.
  strength {int} NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, thing)
){clustered};

-- How far an agent has dealt with a stream of news.
CREATE TABLE core_cursor (
  ws {int} NOT NULL,
  agent {path} NOT NULL,
  stream TEXT NOT NULL,
  seq {int} NOT NULL,
  PRIMARY KEY (ws, agent, stream)
){clustered};

-- Documents that change by lines; where each stands now.
CREATE TABLE core_artifact (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  project {int} NOT NULL,
  label {path} NOT NULL,
  -- The item of its commit; 0 before the first.
  head {int} NOT NULL,
  commits {int} NOT NULL,
  lines {int} NOT NULL,
  updated {int} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};
CREATE UNIQUE INDEX core_artifact_label ON core_artifact (ws, project, label);

-- Who bears a label in a project, or bore it last.
CREATE TABLE core_label (
  ws {int} NOT NULL,
  label {path} NOT NULL,
  project {int} NOT NULL,
  artifact {int} NOT NULL,
  current {int} NOT NULL,
  PRIMARY KEY (ws, label, project)
){clustered};

-- Lines that were made of parts of messages, by the commit that wrote them.
CREATE TABLE core_source (
  ws {int} NOT NULL,
  artifact {int} NOT NULL,
  seq {int} NOT NULL,
  line {int} NOT NULL,
  part TEXT NOT NULL,
  PRIMARY KEY (ws, artifact, seq, line)
){clustered};

CREATE TABLE core_commit (
  ws {int} NOT NULL,
  artifact {int} NOT NULL,
  seq {int} NOT NULL,
  hash {path} NOT NULL,
  parent {int},
  -- The other side of a merge.
  other {int},
  -- Changes and their bytes since the last version kept whole, along the first parents.
  steps {int} NOT NULL,
  cost {int} NOT NULL,
  lines {int} NOT NULL,
  -- The proof of its item, which names the version and no other.
  chain {bytes} NOT NULL,
  PRIMARY KEY (ws, artifact, seq)
){clustered};
CREATE INDEX core_commit_hash ON core_commit (ws, artifact, hash);

-- What a commit did to its first parent, where its version is not kept whole.
CREATE TABLE core_change (
  ws {int} NOT NULL,
  artifact {int} NOT NULL,
  seq {int} NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (ws, artifact, seq)
){clustered};

-- Versions kept whole, so that any other is few changes away.
CREATE TABLE core_snapshot (
  ws {int} NOT NULL,
  artifact {int} NOT NULL,
  seq {int} NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (ws, artifact, seq)
){clustered};

-- Items that hold what looks like a credential, and of which kind; never where, nor what.
CREATE TABLE core_credential (
  ws {int} NOT NULL,
  seq {int} NOT NULL,
  kind TEXT NOT NULL,
  PRIMARY KEY (ws, seq, kind)
){clustered};

-- How many items each agent wrote in each stretch of time: `grain` is its length in microseconds and
-- `at` its beginning. A timeline of any length reads a bounded number of these, however long the log.
CREATE TABLE core_tally (
  ws {int} NOT NULL,
  grain {int} NOT NULL,
  at {int} NOT NULL,
  actor {path} NOT NULL,
  surface TEXT NOT NULL,
  -- 0 for items of no project.
  project {int} NOT NULL,
  n {int} NOT NULL,
  PRIMARY KEY (ws, grain, at, actor, surface, project)
){clustered};

-- Items that a timeline shows from afar: what failed or cannot both be (red), and what waited for
-- somebody (amber).
CREATE TABLE core_signal (
  ws {int} NOT NULL,
  sign TEXT NOT NULL,
  seq {int} NOT NULL,
  surface TEXT NOT NULL,
  PRIMARY KEY (ws, sign, seq)
){clustered};

-- Who held which node from when until when; `until` of a claim that is still held is the largest
-- number. `seq` is the item that claimed it.
CREATE TABLE core_span (
  ws {int} NOT NULL,
  node {int} NOT NULL,
  seq {int} NOT NULL,
  project {int} NOT NULL,
  agent {path} NOT NULL,
  session TEXT NOT NULL,
  since {int} NOT NULL,
  until {int} NOT NULL,
  -- How it ended; empty while it is held.
  ended TEXT NOT NULL,
  PRIMARY KEY (ws, node, seq)
){clustered};
CREATE INDEX core_span_until ON core_span (ws, until, since);
