-- What version 3 of soil adds to version 2: an operator may erase any content, at any time.
-- Either its own author took it back within five minutes, and it is no change of an entity, or an
-- item says that it was purged.
CREATE OR REPLACE FUNCTION understory_erasable() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  IF EXISTS (SELECT 1 FROM soil_item i, soil_item u
    WHERE i.ws = NEW.ws AND i.seq = NEW.seq AND u.ws = NEW.ws AND u.seq = NEW.by_seq
      AND ((u.type = 'Purged' AND u.seq > i.seq)
        OR (u.type = 'Undone' AND i.type <> 'EntityDelta' AND u.actor = i.actor
          AND u.realized_at - i.realized_at <= 300000000)))
  THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'soil is immutable: this cannot be taken back';
END $$;
DROP TRIGGER soil_erased_refuse ON soil_erased;
CREATE TRIGGER soil_erased_refuse BEFORE DELETE ON soil_erased
FOR EACH ROW EXECUTE FUNCTION understory_refuse();
-- A later purge may erase more of what remains.
CREATE OR REPLACE FUNCTION understory_erase_more() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  IF NEW.ws = OLD.ws AND NEW.seq = OLD.seq AND NEW.by_seq > OLD.by_seq
    AND EXISTS (SELECT 1 FROM soil_item u
      WHERE u.ws = NEW.ws AND u.seq = NEW.by_seq AND u.type = 'Purged')
  THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'soil is immutable: % of % is refused', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER soil_erased_more BEFORE UPDATE ON soil_erased
FOR EACH ROW EXECUTE FUNCTION understory_erase_more();
