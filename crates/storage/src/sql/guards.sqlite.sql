CREATE TRIGGER soil_item_no_update BEFORE UPDATE ON soil_item
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
