-- Neither fact nor derived: losing it loses nothing of record.
CREATE TABLE IF NOT EXISTS live_answer (
  ws {int} NOT NULL,
  agent TEXT NOT NULL,
  tool TEXT NOT NULL,
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  digest {bytes} NOT NULL,
  answer TEXT NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, agent, tool, scope, key)
){clustered};
CREATE INDEX IF NOT EXISTS live_answer_at ON live_answer (at);

-- The last sign of life of each agent's sessions.
CREATE TABLE IF NOT EXISTS live_session (
  ws {int} NOT NULL,
  agent {path} NOT NULL,
  session {path} NOT NULL,
  runtime TEXT NOT NULL,
  managed {int} NOT NULL,
  resumable {int} NOT NULL,
  status TEXT NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, agent, session)
){clustered};

-- Which agent each session is: a session that comes back gets its name back. `client` is what its
-- process calls itself, and `since` when it last arrived.
CREATE TABLE IF NOT EXISTS live_name (
  ws {int} NOT NULL,
  session {path} NOT NULL,
  agent {path} NOT NULL,
  client TEXT NOT NULL,
  project TEXT NOT NULL,
  since {int} NOT NULL,
  PRIMARY KEY (ws, session)
){clustered};
CREATE INDEX IF NOT EXISTS live_name_since ON live_name (ws, since, session);

-- Calls that wait for messages, until when they are believed to, and for what. Before it had another
-- name and said less.
DROP TABLE IF EXISTS live_wait;
CREATE TABLE IF NOT EXISTS live_waiting (
  ws {int} NOT NULL,
  agent {path} NOT NULL,
  token {bytes} NOT NULL,
  session TEXT NOT NULL,
  until {int} NOT NULL,
  -- Whether it waits for all threads of the agent, and JSON: after which message of which thread.
  every {int} NOT NULL,
  since TEXT NOT NULL,
  PRIMARY KEY (ws, agent, token)
){clustered};

-- How far each session was told of each thread, so that no message is told twice: up to which message
-- and which change.
CREATE TABLE IF NOT EXISTS live_told (
  ws {int} NOT NULL,
  agent {path} NOT NULL,
  session {path} NOT NULL,
  thread {int} NOT NULL,
  seq {int} NOT NULL,
  changes {int} NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, agent, session, thread)
){clustered};

-- How each session can be reached, as the hooks of its client and its supervisor report it. `process`
-- and `started` identify the client's process on `machine`; `client_session` is what the client calls
-- the chat now.
CREATE TABLE IF NOT EXISTS live_reach (
  ws {int} NOT NULL,
  session {path} NOT NULL,
  agent {path} NOT NULL,
  client TEXT NOT NULL,
  client_session TEXT NOT NULL,
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  machine TEXT NOT NULL,
  process {int} NOT NULL,
  started {int} NOT NULL,
  folder TEXT NOT NULL,
  activity TEXT NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, session)
){clustered};
CREATE INDEX IF NOT EXISTS live_reach_agent ON live_reach (ws, agent, at);

-- Which sessions run in a managed terminal, and what its supervisor sees in it.
CREATE TABLE IF NOT EXISTS live_terminal (
  ws {int} NOT NULL,
  session {path} NOT NULL,
  agent {path} NOT NULL,
  program TEXT NOT NULL,
  machine TEXT NOT NULL,
  folder TEXT NOT NULL,
  activity TEXT NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, session)
){clustered};
CREATE INDEX IF NOT EXISTS live_terminal_agent ON live_terminal (ws, agent, at);

-- Which sessions the children of a client's process serve over MCP. Process numbers are used again, so
-- the process is named with its start.
CREATE TABLE IF NOT EXISTS live_process (
  ws {int} NOT NULL,
  machine {path} NOT NULL,
  process {int} NOT NULL,
  started {int} NOT NULL,
  session {path} NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, machine, process, started, session)
){clustered};

-- What hooks told each session already, by event and turn: clients fire one event twice.
CREATE TABLE IF NOT EXISTS live_hook (
  ws {int} NOT NULL,
  session {path} NOT NULL,
  event TEXT NOT NULL,
  turn TEXT NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, session, event)
){clustered};

-- Jobs of waking that a worker has taken, until when no other may, when a job is due again, and how
-- often it was tried.
CREATE TABLE IF NOT EXISTS live_wake (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  holder TEXT NOT NULL,
  until {int} NOT NULL,
  due {int} NOT NULL,
  attempts {int} NOT NULL,
  PRIMARY KEY (ws, id)
){clustered};

-- Processes that were started to wake an agent, with the name of their worker's lease, until that worker
-- has reported: they may outlive it.
CREATE TABLE IF NOT EXISTS live_started (
  ws {int} NOT NULL,
  agent {path} NOT NULL,
  id {int} NOT NULL,
  lease TEXT NOT NULL,
  machine TEXT NOT NULL,
  process {int} NOT NULL,
  started {int} NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, agent, id)
){clustered};

-- The steps that were taken to wake each agent in the last hour.
CREATE TABLE IF NOT EXISTS live_woken (
  ws {int} NOT NULL,
  agent {path} NOT NULL,
  at {int} NOT NULL,
  id {int} NOT NULL,
  delivered {int} NOT NULL,
  PRIMARY KEY (ws, agent, at, id)
){clustered};

-- The working text that a task or a conversation shares while it is open.
CREATE TABLE IF NOT EXISTS live_scratch (
  ws {int} NOT NULL,
  thing {int} NOT NULL,
  content TEXT NOT NULL,
  rev {int} NOT NULL,
  author TEXT NOT NULL,
  at {int} NOT NULL,
  PRIMARY KEY (ws, thing)
){clustered};

-- Where each reader last looked in each artifact.
CREATE TABLE IF NOT EXISTS live_view (
  ws {int} NOT NULL,
  agent {path} NOT NULL,
  artifact {int} NOT NULL,
  first_line {int} NOT NULL,
  last_line {int} NOT NULL,
  PRIMARY KEY (ws, agent, artifact)
){clustered};

-- Which process has texts embedded by an external model, and until when no other does; `filled`
-- counts, and `strangers` is the baseline, vectors of unrelated texts.
CREATE TABLE IF NOT EXISTS live_embedder (
  ws {int} NOT NULL,
  model {path} NOT NULL,
  filled {int} NOT NULL,
  dims {int} NOT NULL,
  strangers {bytes} NOT NULL,
  holder TEXT NOT NULL,
  until {int} NOT NULL,
  PRIMARY KEY (ws, model)
){clustered};

-- Where texts point by an external model: `seq` names the text, as in core_vector, and `filled` tells
-- whoever keeps a copy what is new.
CREATE TABLE IF NOT EXISTS live_embedding (
  ws {int} NOT NULL,
  id {int} NOT NULL,
  model {path} NOT NULL,
  seq {int} NOT NULL,
  filled {int} NOT NULL,
  vectors {bytes} NOT NULL,
  PRIMARY KEY (ws, id, model)
){clustered};
CREATE INDEX IF NOT EXISTS live_embedding_filled ON live_embedding (ws, model, filled);

-- How many bytes the items of a workspace take, counted up to one of them; kept where there is a quota.
CREATE TABLE IF NOT EXISTS live_usage (
  ws {int} PRIMARY KEY,
  seq {int} NOT NULL,
  bytes {int} NOT NULL
);
