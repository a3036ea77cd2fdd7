-- What version 2 of soil adds to version 1: a new store is made in the same two steps.
DROP TRIGGER soil_item_no_update;
-- One change alone: the content of an item is taken back, once somebody said so in the log.
CREATE TRIGGER soil_item_no_update BEFORE UPDATE ON soil_item
WHEN NOT (NEW.content IS NULL AND OLD.content IS NOT NULL
  AND NEW.ws = OLD.ws AND NEW.seq = OLD.seq AND NEW.uuid = OLD.uuid AND NEW.type = OLD.type
  AND NEW.project IS OLD.project AND NEW.entity IS OLD.entity
  AND NEW.realized_at = OLD.realized_at AND NEW.canonical_at = OLD.canonical_at
  AND NEW.actor = OLD.actor AND NEW.session = OLD.session AND NEW.cause IS OLD.cause
  AND NEW.digest = OLD.digest AND NEW.chain = OLD.chain
  AND EXISTS (SELECT 1 FROM soil_erased e WHERE e.ws = OLD.ws AND e.seq = OLD.seq))
BEGIN SELECT RAISE(ABORT, 'soil is immutable: an item cannot be changed'); END;
-- It is said by the item's own author, within five minutes, and not of a change of an entity.
CREATE TRIGGER soil_erased_checked BEFORE INSERT ON soil_erased
WHEN NOT EXISTS (SELECT 1 FROM soil_item i, soil_item u
  WHERE i.ws = NEW.ws AND i.seq = NEW.seq AND i.type <> 'EntityDelta'
    AND u.ws = NEW.ws AND u.seq = NEW.by_seq AND u.type = 'Undone' AND u.actor = i.actor
    AND u.realized_at - i.realized_at <= 300000000)
  OR EXISTS (SELECT 1 FROM soil_erased e WHERE e.ws = NEW.ws AND e.seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'soil is immutable: this cannot be taken back'); END;
CREATE TRIGGER soil_erased_no_update BEFORE UPDATE ON soil_erased
BEGIN SELECT RAISE(ABORT, 'soil is immutable: what was taken back stays so'); END;
CREATE TRIGGER soil_erased_no_delete BEFORE DELETE ON soil_erased
BEGIN SELECT RAISE(ABORT, 'soil is immutable: what was taken back stays so'); END;
