UPDATE core_node
SET open_children = ?7, open_deps = ?8
WHERE ws = ?1
AND id = ?2
AND project = ?3
AND path = ?4
AND depth = ?5
AND resolved = ?6
AND standing = ?9
AND rank_priority = ?10
AND updated = ?11
AND claimed_by = ?12
AND claimed_session = ?13
AND claimed_at = ?14
AND resolved_at = ?15
AND resolved_by = ?16
AND folded = ?17
AND rank_depth = ?18;

UPDATE core_node
SET project = ?3, path = ?4, depth = ?5, resolved = ?6, open_children = ?7, open_deps = ?8,
    standing = ?9, rank_priority = ?10, updated = ?11, claimed_by = ?12, claimed_session = ?13,
    claimed_at = ?14, resolved_at = ?15, resolved_by = ?16, folded = ?17, rank_depth = ?18
WHERE ws = ?1
AND id = ?2;
