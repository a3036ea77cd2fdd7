WITH RECURSIVE chain (seq, cause, depth) AS (
  SELECT seq, cause, CAST(1 AS BIGINT)
  FROM soil_item
  WHERE ws = ?1
  AND seq = ?2
  UNION ALL
  SELECT n.seq, n.cause, c.depth + 1
  FROM chain c
  CROSS JOIN soil_item n
  WHERE n.ws = ?1
  AND n.seq = c.cause
  AND c.depth < ?3)
SELECT i.seq, i.uuid, i.type, i.project, i.entity, i.realized_at, i.canonical_at, i.actor, i.session,
    i.cause, i.digest, i.chain, COALESCE(i.content, (
    SELECT e.remains
    FROM soil_erased e
    WHERE e.ws = i.ws
    AND e.seq = i.seq))
FROM chain c
CROSS JOIN soil_item i
WHERE i.ws = ?1
AND i.seq = c.seq
ORDER BY c.depth;
