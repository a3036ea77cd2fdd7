WITH RECURSIVE level (id, depth) AS (
  SELECT id, 1
  FROM core_entity
  WHERE ws = ?1
  AND parent = ?5
  UNION ALL
  SELECT e.id, level.depth + 1
  FROM level
  CROSS JOIN core_entity e
  WHERE e.ws = ?1
  AND e.parent = level.id
  AND level.depth < ?4)
SELECT COUNT(*)
FROM level
CROSS JOIN core_record r
WHERE r.ws = ?1
AND r.project = ?2
AND r.path > ?3
AND r.id = level.id
AND r.state IN (?6, ?7)
AND r.type IN (?8, ?9)
AND r.id IN (
  SELECT k.id
  FROM (
    VALUES (CAST(?10 AS TEXT), CAST(?11 AS TEXT)), (CAST(?12 AS TEXT), CAST(?13 AS TEXT))) w
  CROSS JOIN core_key k
  WHERE k.ws = ?1
  AND k.name = w.column1
  AND k.value = w.column2
  GROUP BY k.id
  HAVING COUNT(*) = 2);

WITH RECURSIVE level (id, depth) AS (
  SELECT id, 1
  FROM core_entity
  WHERE ws = ?1
  AND parent = ?5
  UNION ALL
  SELECT e.id, level.depth + 1
  FROM level
  CROSS JOIN core_entity e
  WHERE e.ws = ?1
  AND e.parent = level.id
  AND level.depth < ?4)
SELECT r.id, r.project, r.handle, r.parent, r.path, r.depth, r.type, r.state, r.brief, r.children,
    r.open_children, r.changed, r.state_changed
FROM level
CROSS JOIN core_record r
WHERE r.ws = ?1
AND r.project = ?2
AND r.path > ?3
AND r.id = level.id
AND r.state IN (?6, ?7)
AND r.type IN (?8, ?9)
AND r.id IN (
  SELECT k.id
  FROM (
    VALUES (CAST(?10 AS TEXT), CAST(?11 AS TEXT)), (CAST(?12 AS TEXT), CAST(?13 AS TEXT))) w
  CROSS JOIN core_key k
  WHERE k.ws = ?1
  AND k.name = w.column1
  AND k.value = w.column2
  GROUP BY k.id
  HAVING COUNT(*) = 2)
ORDER BY r.path
LIMIT ?14;
