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
CREATE TRIGGER soil_item_no_delete BEFORE DELETE ON soil_item
BEGIN SELECT RAISE(ABORT, 'soil is immutable: an item cannot be deleted'); END;
-- REPLACE would delete without asking the trigger above. Two questions, because one with OR is
-- answered by reading the whole log.
CREATE TRIGGER soil_item_no_replace BEFORE INSERT ON soil_item
WHEN EXISTS (SELECT 1 FROM soil_item WHERE ws = NEW.ws AND seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM soil_item WHERE ws = NEW.ws AND uuid = NEW.uuid)
BEGIN SELECT RAISE(ABORT, 'soil is immutable: an item cannot be replaced'); END;
CREATE TRIGGER soil_workspace_no_update BEFORE UPDATE ON soil_workspace
BEGIN SELECT RAISE(ABORT, 'soil is immutable: a workspace cannot be changed'); END;
CREATE TRIGGER soil_workspace_no_delete BEFORE DELETE ON soil_workspace
BEGIN SELECT RAISE(ABORT, 'soil is immutable: a workspace cannot be deleted'); END;
CREATE TRIGGER soil_workspace_no_replace BEFORE INSERT ON soil_workspace
WHEN EXISTS (SELECT 1 FROM soil_workspace WHERE ws = NEW.ws OR name = NEW.name)
BEGIN SELECT RAISE(ABORT, 'soil is immutable: a workspace cannot be replaced'); END;
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
