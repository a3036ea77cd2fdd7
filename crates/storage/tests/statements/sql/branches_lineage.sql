WITH RECURSIVE up (name, id, base, base_seq, root, depth) AS (
  SELECT name, id, base, base_seq, root, 1
  FROM core_branch
  WHERE ws = ?1
  AND name = ?2
  UNION ALL
  SELECT b.name, b.id, b.base, b.base_seq, b.root, up.depth + 1
  FROM up
  JOIN core_branch b ON b.ws = ?1
  AND b.name = up.base
  WHERE up.depth < CAST(?3 AS BIGINT))
SELECT name, id, base, base_seq, root
FROM up
ORDER BY depth;
