-- What version 2 of soil adds to version 1: a new store is made in the same two steps.
DROP TRIGGER soil_item_refuse ON soil_item;
CREATE TRIGGER soil_item_refuse BEFORE DELETE ON soil_item
FOR EACH ROW EXECUTE FUNCTION understory_refuse();
-- One change alone: the content of an item is taken back, once somebody said so in the log.
CREATE OR REPLACE FUNCTION understory_erase() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  IF NEW.content IS NULL AND OLD.content IS NOT NULL
    AND (NEW.ws, NEW.seq, NEW.uuid, NEW.type, NEW.realized_at, NEW.canonical_at, NEW.actor,
         NEW.session, NEW.digest, NEW.chain)
      = (OLD.ws, OLD.seq, OLD.uuid, OLD.type, OLD.realized_at, OLD.canonical_at, OLD.actor,
         OLD.session, OLD.digest, OLD.chain)
    AND NEW.project IS NOT DISTINCT FROM OLD.project
    AND NEW.entity IS NOT DISTINCT FROM OLD.entity
    AND NEW.cause IS NOT DISTINCT FROM OLD.cause
    AND EXISTS (SELECT 1 FROM soil_erased e WHERE e.ws = OLD.ws AND e.seq = OLD.seq)
  THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'soil is immutable: % of % is refused', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER soil_item_erase BEFORE UPDATE ON soil_item
FOR EACH ROW EXECUTE FUNCTION understory_erase();
-- It is said by the item's own author, within five minutes, and not of a change of an entity.
CREATE OR REPLACE FUNCTION understory_erasable() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  IF EXISTS (SELECT 1 FROM soil_item i, soil_item u
    WHERE i.ws = NEW.ws AND i.seq = NEW.seq AND i.type <> 'EntityDelta'
      AND u.ws = NEW.ws AND u.seq = NEW.by_seq AND u.type = 'Undone' AND u.actor = i.actor
      AND u.realized_at - i.realized_at <= 300000000)
  THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'soil is immutable: this cannot be taken back';
END $$;
CREATE TRIGGER soil_erased_checked BEFORE INSERT ON soil_erased
FOR EACH ROW EXECUTE FUNCTION understory_erasable();
CREATE TRIGGER soil_erased_refuse BEFORE UPDATE OR DELETE ON soil_erased
FOR EACH ROW EXECUTE FUNCTION understory_refuse();
CREATE TRIGGER soil_erased_refuse_truncate BEFORE TRUNCATE ON soil_erased
FOR EACH STATEMENT EXECUTE FUNCTION understory_refuse();
