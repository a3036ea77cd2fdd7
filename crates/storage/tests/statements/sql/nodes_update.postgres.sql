UPDATE core_node
SET project = ?3, path = ?4, depth = ?5, resolved = ?6, open_children = ?7, open_deps = ?8,
    standing = ?9, rank_priority = ?10, updated = ?11, claimed_by = ?12, claimed_session = ?13,
    claimed_at = ?14, resolved_at = ?15, resolved_by = ?16, folded = ?17, rank_depth = ?18
WHERE ws = ?1
AND id = ?2;
