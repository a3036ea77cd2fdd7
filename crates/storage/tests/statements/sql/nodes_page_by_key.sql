SELECT COUNT(*)
FROM (
  SELECT 1
  FROM core_key
  WHERE ws = ?1
  AND name = ?2
  AND value = ?3
  LIMIT ?4) AS few;

SELECT COUNT(*)
FROM (
  SELECT id
  FROM core_key
  WHERE ws = ?1
  AND name = ?3
  AND value = ?4) d
CROSS JOIN core_node n
WHERE n.ws = ?1
AND n.project = ?2
AND n.id = d.id
AND EXISTS (
  SELECT 1
  FROM core_key k
  WHERE k.ws = ?1
  AND k.id = n.id
  AND (k.name, k.value) = (?5, ?6))
AND n.standing = 0;

WITH hits AS MATERIALIZED (
  SELECT n.depth, n.ws, n.rank_depth, n.id
  FROM (
    SELECT id
    FROM core_key
    WHERE ws = ?1
    AND name = ?3
    AND value = ?4) d
  CROSS JOIN core_node n
  WHERE n.ws = ?1
  AND n.project = ?2
  AND n.id = d.id
  AND EXISTS (
    SELECT 1
    FROM core_key k
    WHERE k.ws = ?1
    AND k.id = n.id
    AND (k.name, k.value) = (?5, ?6))
  AND n.standing = 0)
SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
    e.updated_at, e.created_by, e.gone, e.data, p.handle, (
  SELECT COUNT(*)
  FROM hits), g.depth, g.rank_depth, g.id
FROM (
  SELECT n.depth, n.ws, n.rank_depth, n.id
  FROM hits n
  WHERE 1 = 1
  AND (n.rank_depth, n.id) > (?7, ?8)
  ORDER BY n.rank_depth, n.id
  LIMIT ?9) g
JOIN core_entity e ON e.ws = g.ws
AND e.id = g.id
LEFT JOIN core_entity p ON p.ws = e.ws
AND p.id = e.parent
ORDER BY g.rank_depth, g.id;
