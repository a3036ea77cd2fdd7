WITH hit AS MATERIALIZED (
  SELECT id, CAST(ts_rank('{0.01, 0.03, 0.1, 1.0}', tsv, q, 1) AS DOUBLE PRECISION) AS score
  FROM core_words, to_tsquery('understory', ?2) q
  WHERE ws = ?1
  AND tsv @@ q), fit AS MATERIALIZED (
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
