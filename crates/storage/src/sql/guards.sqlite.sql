CREATE TRIGGER soil_item_no_update BEFORE UPDATE ON soil_item
BEGIN SELECT RAISE(ABORT, 'soil is immutable: an item cannot be changed'); END;
CREATE TRIGGER soil_item_no_delete BEFORE DELETE ON soil_item
BEGIN SELECT RAISE(ABORT, 'soil is immutable: an item cannot be deleted'); END;
-- REPLACE would delete without asking the trigger above.
CREATE TRIGGER soil_item_no_replace BEFORE INSERT ON soil_item
WHEN EXISTS (SELECT 1 FROM soil_item WHERE ws = NEW.ws AND (seq = NEW.seq OR uuid = NEW.uuid))
BEGIN SELECT RAISE(ABORT, 'soil is immutable: an item cannot be replaced'); END;
CREATE TRIGGER soil_workspace_no_update BEFORE UPDATE ON soil_workspace
BEGIN SELECT RAISE(ABORT, 'soil is immutable: a workspace cannot be changed'); END;
CREATE TRIGGER soil_workspace_no_delete BEFORE DELETE ON soil_workspace
BEGIN SELECT RAISE(ABORT, 'soil is immutable: a workspace cannot be deleted'); END;
