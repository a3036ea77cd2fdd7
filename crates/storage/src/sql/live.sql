-- Neither fact nor derived: losing it loses nothing of record.
CREATE TABLE live_answer (
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
CREATE INDEX live_answer_at ON live_answer (at);
