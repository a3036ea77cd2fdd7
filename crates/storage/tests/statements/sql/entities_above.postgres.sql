SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
    e.updated_at, e.created_by, e.gone, e.data
FROM core_entity e
WHERE e.ws = ?1
AND e.id = ?2;

WITH RECURSIVE up AS (
  SELECT e.*, 0 AS level
  FROM core_entity e
  WHERE e.ws = ?1
  AND e.id = ?2
  UNION ALL
  SELECT above.*, up.level + 1
  FROM up
  CROSS JOIN LATERAL (
    SELECT a.*
    FROM core_entity a
    WHERE a.ws = ?1
    AND a.id = up.parent
    LIMIT 1) above)
SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
    e.updated_at, e.created_by, e.gone, e.data, CAST(e.level AS BIGINT)
FROM up e
WHERE e.level > 0;
