SELECT COUNT(*)
FROM (
  SELECT 1
  FROM (
    SELECT key & 1099511627775 AS id
    FROM (
      SELECT rowid AS key
      FROM core_grams
      WHERE core_grams MATCH ?2
      AND rowid >> 40 = ?1
      UNION
      SELECT key
      FROM core_fresh
      WHERE key >= ?1 << 40
      AND key < (?1 + 1) << 40
      AND instr(grams, ?3) > 0
      ORDER BY 1)) AS d
  LIMIT 200) AS few;

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
  SELECT key & 1099511627775 AS id
  FROM (
    SELECT rowid AS key
    FROM core_grams
    WHERE core_grams MATCH ?5
    AND rowid >> 40 = ?1
    UNION
    SELECT key
    FROM core_fresh
    WHERE key >= ?1 << 40
    AND key < (?1 + 1) << 40
    AND instr(grams, ?6) > 0
    INTERSECT
    SELECT (ws << 40) | id
    FROM core_key
    WHERE ws = ?1
    AND name = ?3
    AND value = ?4
    ORDER BY 1)) d
CROSS JOIN core_node n
WHERE n.ws = ?1
AND n.project = ?2
AND n.id = d.id
AND instr(n.folded, ?7) > 0;

WITH hits AS MATERIALIZED (
  SELECT n.depth, n.ws, n.id
  FROM (
    SELECT key & 1099511627775 AS id
    FROM (
      SELECT rowid AS key
      FROM core_grams
      WHERE core_grams MATCH ?5
      AND rowid >> 40 = ?1
      UNION
      SELECT key
      FROM core_fresh
      WHERE key >= ?1 << 40
      AND key < (?1 + 1) << 40
      AND instr(grams, ?6) > 0
      INTERSECT
      SELECT (ws << 40) | id
      FROM core_key
      WHERE ws = ?1
      AND name = ?3
      AND value = ?4
      ORDER BY 1)) d
  CROSS JOIN core_node n
  WHERE n.ws = ?1
  AND n.project = ?2
  AND n.id = d.id
  AND instr(n.folded, ?7) > 0)
SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
    e.updated_at, e.created_by, e.gone, e.data, p.handle, (
  SELECT COUNT(*)
  FROM hits), g.depth, g.id
FROM (
  SELECT n.depth, n.ws, n.id
  FROM hits n
  WHERE 1 = 1
  AND (n.id) > (?8)
  ORDER BY n.id
  LIMIT ?9) g
JOIN core_entity e ON e.ws = g.ws
AND e.id = g.id
LEFT JOIN core_entity p ON p.ws = e.ws
AND p.id = e.parent
ORDER BY g.id;
