-- What is never derived: who shares the store, and everything that happened.
CREATE TABLE soil_meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
){clustered};

CREATE TABLE soil_workspace (
  ws {int} PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- Lines that identify the repository it belongs to, where it was named after one.
  origin TEXT,
  created_at {int} NOT NULL
);

CREATE TABLE soil_item (
  ws {int} NOT NULL,
  seq {int} NOT NULL,
  uuid {bytes} NOT NULL,
  type TEXT NOT NULL,
  project {int},
  entity {int},
  realized_at {int} NOT NULL,
  canonical_at {int} NOT NULL,
  actor TEXT NOT NULL,
  session TEXT NOT NULL,
  cause {int},
  digest {bytes} NOT NULL,
  chain {bytes} NOT NULL,
  content TEXT,
  PRIMARY KEY (ws, seq)
){clustered};
CREATE UNIQUE INDEX soil_item_uuid ON soil_item (ws, uuid);
CREATE INDEX soil_item_entity ON soil_item (ws, entity, seq);
