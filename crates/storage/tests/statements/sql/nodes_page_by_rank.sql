SELECT COUNT(*)
FROM core_node n
WHERE n.ws = ?1
AND n.project = ?2
AND n.id NOT IN (
  SELECT k.id
  FROM core_key k
  WHERE k.ws = ?1
  AND k.name IN (?3))
AND n.path > ?4
AND n.path < ?5
AND n.resolved = 0
AND n.open_children = 0
AND (n.resolved = 1 OR n.open_deps = 0)
AND (n.claimed_by = ?6
  AND (n.resolved = 1 OR n.claimed_at > ?7));

SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
    e.updated_at, e.created_by, e.gone, e.data, p.handle, NULL, g.depth, g.standing, g.rank_priority,
    g.rank_depth, g.updated, g.id
FROM (
  SELECT n.depth, n.ws, n.standing, n.rank_priority, n.rank_depth, n.updated, n.id
  FROM core_node n
  WHERE n.ws = ?1
  AND n.project = ?2
  AND n.id NOT IN (
    SELECT k.id
    FROM core_key k
    WHERE k.ws = ?1
    AND k.name IN (?3))
  AND n.path > ?4
  AND n.path < ?5
  AND n.resolved = 0
  AND n.open_children = 0
  AND (n.resolved = 1 OR n.open_deps = 0)
  AND (n.claimed_by = ?6
    AND (n.resolved = 1 OR n.claimed_at > ?7))
  AND (n.standing, n.rank_priority, n.rank_depth, n.updated, n.id) > (?8, ?9, ?10, ?11, ?12)
  ORDER BY n.standing, n.rank_priority, n.rank_depth, n.updated, n.id
  LIMIT ?13) g
JOIN core_entity e ON e.ws = g.ws
AND e.id = g.id
LEFT JOIN core_entity p ON p.ws = e.ws
AND p.id = e.parent
ORDER BY g.standing, g.rank_priority, g.rank_depth, g.updated, g.id;
