SELECT key, title, summary, body
FROM core_fresh
WHERE key >= ?1 << 40
AND key < (?1 + 1) << 40
AND gone = 0
ORDER BY key;

WITH hit AS MATERIALIZED (
  SELECT rowid & 1099511627775 AS id, -bm25(core_words, 1e6, 1e3, 1.0) AS score
  FROM core_words
  WHERE core_words MATCH ?2
  AND rowid >> 40 = ?1
  AND rowid NOT IN (
    SELECT key
    FROM core_fresh)), fit AS MATERIALIZED (
  SELECT hit.id, hit.score
  FROM hit
  JOIN core_record r ON r.ws = ?1
  AND r.id = hit.id
  WHERE r.project = ?4
  AND r.path > ?5
  AND r.path < ?6
  AND r.state IN (?7, ?8)
  AND r.id IN (
    SELECT k.id
    FROM (
      VALUES (CAST(?9 AS TEXT), CAST(?10 AS TEXT)), (CAST(?11 AS TEXT), CAST(?12 AS TEXT))) w
    CROSS JOIN core_key k
    WHERE k.ws = ?1
    AND k.name = w.column1
    AND k.value = w.column2
    GROUP BY k.id
    HAVING COUNT(*) = 2))
SELECT r.id, r.project, r.handle, r.parent, r.path, r.depth, r.type, r.state, r.brief, r.children,
    r.open_children, r.changed, r.state_changed, top.score, (
  SELECT COUNT(*)
  FROM fit)
FROM (
  SELECT id, score
  FROM fit
  ORDER BY score DESC, id
  LIMIT ?3) top
JOIN core_record r ON r.ws = ?1
AND r.id = top.id
ORDER BY top.score DESC, r.id;
