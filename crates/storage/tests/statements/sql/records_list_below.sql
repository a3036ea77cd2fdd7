SELECT COUNT(*)
FROM core_record r
WHERE r.ws = ?1
AND r.project = ?2
AND r.path > ?3
AND r.path > ?4
AND r.path < ?5
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

SELECT r.id, r.project, r.handle, r.parent, r.path, r.depth, r.type, r.state, r.brief, r.children,
    r.open_children, r.changed, r.state_changed
FROM core_record r
WHERE r.ws = ?1
AND r.project = ?2
AND r.path > ?3
AND r.path > ?4
AND r.path < ?5
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
