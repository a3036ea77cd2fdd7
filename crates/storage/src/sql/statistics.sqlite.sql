-- What SQLite should think of our tables. Without a word it takes a workspace for ten rows, and walks
-- all of it rather than an index that leads to the few that are wanted. Each line says how many rows
-- there are, then how many have the same first column of the index, the same first two, and so on.
-- The first is the workspace; the numbers need not be right, only far apart.
ANALYZE core_meta;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('soil_item', 'soil_item', '1000000 1000000 1'),
  ('soil_item', 'soil_item_uuid', '1000000 1000000 1'),
  ('soil_item', 'soil_item_entity', '1000000 1000000 32 1'),
  ('soil_item', 'soil_item_type', '1000000 1000000 32 1'),
  ('soil_item', 'soil_item_actor', '1000000 1000000 32 1'),
  ('soil_item', 'soil_item_cause', '1000000 1000000 32 1'),
  ('soil_item', 'soil_item_canonical', '1000000 1000000 32 1'),
  ('core_entity', 'core_entity', '1000000 1000000 1'),
  ('core_entity', 'core_entity_handle', '1000000 1000000 1'),
  ('core_entity', 'core_entity_parent', '1000000 1000000 32 1'),
  ('core_entity', 'core_entity_kind', '1000 1000 32 1'),
  ('core_entity', 'core_entity_few', '1000 1000 1'),
  ('core_session', 'core_session', '1000000 1000000 1'),
  ('core_session', 'core_session_name', '1000000 1000000 32 1'),
  ('core_session', 'core_session_open', '1000000 1000000 100000 10 1'),
  ('core_message', 'core_message', '1000000 1000000 1000 1'),
  ('core_message', 'core_message_seq', '1000000 1000000 1'),
  ('core_message', 'core_message_sender', '1000000 1000000 1000 100 1'),
  ('core_message', 'core_message_commits', '1000000 1000000 100 1'),
  ('core_participant', 'core_participant', '1000000 1000000 100 1'),
  ('core_participant', 'core_participant_thread', '1000000 1000000 32 1'),
  ('core_frame', 'core_frame', '1000000 1000000 1000 1'),
  ('core_frame', 'core_frame_log', '1000000 1000000 32'),
  ('core_relation', 'core_relation', '1000000 1000000 10 1'),
  ('core_relation', 'core_relation_source', '1000000 1000000 100 32 6 1'),
  ('core_relation', 'core_relation_target', '1000000 1000000 100 32 6 1'),
  ('core_relation', 'core_relation_age', '1000000 1000000 500000 32 6 1');
ANALYZE sqlite_schema;
