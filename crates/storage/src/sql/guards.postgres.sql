CREATE OR REPLACE FUNCTION understory_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'soil is immutable: % of % is refused', TG_OP, TG_TABLE_NAME; END $$;
CREATE TRIGGER soil_item_refuse BEFORE UPDATE OR DELETE ON soil_item
FOR EACH ROW EXECUTE FUNCTION understory_refuse();
CREATE TRIGGER soil_item_refuse_truncate BEFORE TRUNCATE ON soil_item
FOR EACH STATEMENT EXECUTE FUNCTION understory_refuse();
CREATE TRIGGER soil_workspace_refuse BEFORE UPDATE OR DELETE ON soil_workspace
FOR EACH ROW EXECUTE FUNCTION understory_refuse();
CREATE TRIGGER soil_workspace_refuse_truncate BEFORE TRUNCATE ON soil_workspace
FOR EACH STATEMENT EXECUTE FUNCTION understory_refuse();
