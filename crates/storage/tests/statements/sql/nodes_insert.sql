INSERT INTO core_node (ws, id, project, path, depth, resolved, open_children, open_deps, standing,
      rank_priority, updated, claimed_by, claimed_session, claimed_at, resolved_at, resolved_by,
      folded, rank_depth)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18);
