INSERT INTO core_project (ws, id, root, total, resolved, blocked, actionable, updated, tick,
      changes, records, open_records, later_records, root_records, open_sessions)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (ws, id) DO UPDATE SET root = excluded.root, total = excluded.total, resolved = excluded.resolved,
    blocked = excluded.blocked, actionable = excluded.actionable, updated = excluded.updated,
    tick = excluded.tick, changes = excluded.changes, records = excluded.records, open_records = excluded.open_records,
    later_records = excluded.later_records, root_records = excluded.root_records, open_sessions = excluded.open_sessions;
