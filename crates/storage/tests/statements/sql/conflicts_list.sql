SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
    e.updated_at, e.created_by, e.gone, e.data
FROM (
  SELECT id
  FROM (
    SELECT id
    FROM (
      SELECT c.id
      FROM core_conflict c
      WHERE c.ws = ?1
      AND c.into_branch = ?2
      AND c.open = 0
      AND c.doc = ?3
      AND c.id < ?4
      ORDER BY c.id DESC
      LIMIT ?5) AS c0
    UNION ALL
    SELECT id
    FROM (
      SELECT c.id
      FROM core_conflict c
      WHERE c.ws = ?1
      AND c.into_branch = ?2
      AND c.open = 1
      AND c.doc = ?3
      AND c.id < ?4
      ORDER BY c.id DESC
      LIMIT ?5) AS c1) AS f
  ORDER BY id DESC
  LIMIT ?5) AS c
CROSS JOIN core_entity e
WHERE e.ws = ?1
AND e.id = c.id
ORDER BY c.id DESC;
