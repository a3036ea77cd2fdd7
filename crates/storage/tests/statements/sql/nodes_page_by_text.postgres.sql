SELECT COUNT(*)
FROM (
  SELECT id
  FROM core_grams
  WHERE ws = ?1
  AND grams @> CAST(?3 AS INTEGER[])) d
CROSS JOIN core_node n
WHERE n.ws = ?1
AND n.project = ?2
AND n.id = d.id
AND strpos(n.folded, ?4) > 0
AND (n.claimed_by = '' OR (n.resolved = 0
    AND n.claimed_at <= ?5));

WITH hits AS MATERIALIZED (
  SELECT n.depth, n.ws, n.updated, n.id
  FROM (
    SELECT id
    FROM core_grams
    WHERE ws = ?1
    AND grams @> CAST(?3 AS INTEGER[])) d
  CROSS JOIN core_node n
  WHERE n.ws = ?1
  AND n.project = ?2
  AND n.id = d.id
  AND strpos(n.folded, ?4) > 0
  AND (n.claimed_by = '' OR (n.resolved = 0
      AND n.claimed_at <= ?5)))
SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
    e.updated_at, e.created_by, e.gone, e.data, p.handle, (
  SELECT COUNT(*)
  FROM hits), g.depth, g.updated, g.id
FROM (
  SELECT n.depth, n.ws, n.updated, n.id
  FROM hits n
  WHERE 1 = 1
  AND (n.updated, n.id) < (?6, ?7)
  ORDER BY n.updated DESC, n.id DESC
  LIMIT ?8) g
JOIN core_entity e ON e.ws = g.ws
AND e.id = g.id
LEFT JOIN core_entity p ON p.ws = e.ws
AND p.id = e.parent
ORDER BY g.updated DESC, g.id DESC;
