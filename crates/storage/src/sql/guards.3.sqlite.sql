-- What version 3 of soil adds to version 2: an operator may erase any content, at any time.
DROP TRIGGER soil_erased_checked;
-- Either its own author took it back within five minutes, and it is no change of an entity, or an
-- item says that it was purged.
CREATE TRIGGER soil_erased_checked BEFORE INSERT ON soil_erased
WHEN NOT EXISTS (SELECT 1 FROM soil_item i, soil_item u
  WHERE i.ws = NEW.ws AND i.seq = NEW.seq AND u.ws = NEW.ws AND u.seq = NEW.by_seq
    AND ((u.type = 'Purged' AND u.seq > i.seq)
      OR (u.type = 'Undone' AND i.type <> 'EntityDelta' AND u.actor = i.actor
        AND u.realized_at - i.realized_at <= 300000000)))
  OR EXISTS (SELECT 1 FROM soil_erased e WHERE e.ws = NEW.ws AND e.seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'soil is immutable: this cannot be taken back'); END;
DROP TRIGGER soil_erased_no_update;
-- A later purge may erase more of what remains.
CREATE TRIGGER soil_erased_no_update BEFORE UPDATE ON soil_erased
WHEN NOT (NEW.ws = OLD.ws AND NEW.seq = OLD.seq AND NEW.by_seq > OLD.by_seq
  AND EXISTS (SELECT 1 FROM soil_item u
    WHERE u.ws = NEW.ws AND u.seq = NEW.by_seq AND u.type = 'Purged'))
BEGIN SELECT RAISE(ABORT, 'soil is immutable: what was taken back stays so'); END;
