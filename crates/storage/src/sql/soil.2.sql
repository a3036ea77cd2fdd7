-- What version 2 of soil adds to version 1: a new store is made in the same two steps.
-- The timeline by type, without the many changes of entities, and by who did it.
CREATE INDEX soil_item_type ON soil_item (ws, type, seq) WHERE type <> 'EntityDelta';
CREATE INDEX soil_item_actor ON soil_item (ws, actor, seq);
-- What an item led to.
CREATE INDEX soil_item_cause ON soil_item (ws, cause, seq) WHERE cause IS NOT NULL;
-- What happened at another time than it was written down.
CREATE INDEX soil_item_canonical ON soil_item (ws, canonical_at, seq)
  WHERE canonical_at <> realized_at;

-- Items whose content was taken back: by which item, and what remains in its place.
CREATE TABLE soil_erased (
  ws {int} NOT NULL,
  seq {int} NOT NULL,
  by_seq {int} NOT NULL,
  remains TEXT NOT NULL,
  PRIMARY KEY (ws, seq)
){clustered};
