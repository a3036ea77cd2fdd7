WITH RECURSIVE up (base, cutoff, depth) AS (
  SELECT base, base_seq, 1
  FROM core_branch
  WHERE ws = ?1
  AND name = ?2
  UNION ALL
  SELECT b.base, CASE WHEN b.base_seq < up.cutoff THEN b.base_seq ELSE up.cutoff END, up.depth + 1
  FROM up
  JOIN core_branch b ON b.ws = ?1
  AND b.name = up.base)
SELECT up.base, up.cutoff
FROM up
WHERE up.base = ?4 OR EXISTS (
  SELECT 1
  FROM core_tip t
  WHERE t.ws = ?1
  AND t.branch = up.base
  AND t.doc = ?3
  AND t.kind IN ('node', 'edge')
  AND t.deleted IN (0, 1)
  AND t.seq <= up.cutoff) OR EXISTS (
  SELECT 1
  FROM core_kept t
  WHERE t.ws = ?1
  AND t.branch = up.base
  AND t.doc = ?3
  AND t.kind IN ('node', 'edge')
  AND t.deleted IN (0, 1)
  AND t.seq <= up.cutoff)
ORDER BY up.depth;
