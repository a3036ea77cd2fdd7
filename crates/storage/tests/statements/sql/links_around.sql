SELECT *
FROM (
  SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
      e.updated_at, e.created_by, e.gone, e.data, l.relation, CAST(1 AS BIGINT) AS leads
  FROM core_link l
  JOIN core_entity e ON e.ws = l.ws
  AND e.id = l.target
  WHERE l.ws = ?1
  AND l.source = ?2
  AND l.relation = ?3
  ORDER BY l.relation, l.target
  LIMIT ?4) AS side
UNION ALL
SELECT *
FROM (
  SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
      e.updated_at, e.created_by, e.gone, e.data, l.relation, CAST(0 AS BIGINT) AS leads
  FROM core_link l
  JOIN core_entity e ON e.ws = l.ws
  AND e.id = l.source
  WHERE l.ws = ?1
  AND l.target = ?2
  AND l.relation = ?3
  ORDER BY l.relation, l.source
  LIMIT ?4) AS side
UNION ALL
SELECT *
FROM (
  SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
      e.updated_at, e.created_by, e.gone, e.data, l.relation, CAST(1 AS BIGINT) AS leads
  FROM core_link l
  JOIN core_entity e ON e.ws = l.ws
  AND e.id = l.target
  WHERE l.ws = ?1
  AND l.source = ?2
  AND l.relation < ?3
  ORDER BY l.relation, l.target
  LIMIT ?4) AS side
UNION ALL
SELECT *
FROM (
  SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
      e.updated_at, e.created_by, e.gone, e.data, l.relation, CAST(0 AS BIGINT) AS leads
  FROM core_link l
  JOIN core_entity e ON e.ws = l.ws
  AND e.id = l.source
  WHERE l.ws = ?1
  AND l.target = ?2
  AND l.relation < ?3
  ORDER BY l.relation, l.source
  LIMIT ?4) AS side
UNION ALL
SELECT *
FROM (
  SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
      e.updated_at, e.created_by, e.gone, e.data, l.relation, CAST(1 AS BIGINT) AS leads
  FROM core_link l
  JOIN core_entity e ON e.ws = l.ws
  AND e.id = l.target
  WHERE l.ws = ?1
  AND l.source = ?2
  AND l.relation > ?3
  ORDER BY l.relation, l.target
  LIMIT ?4) AS side
UNION ALL
SELECT *
FROM (
  SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
      e.updated_at, e.created_by, e.gone, e.data, l.relation, CAST(0 AS BIGINT) AS leads
  FROM core_link l
  JOIN core_entity e ON e.ws = l.ws
  AND e.id = l.source
  WHERE l.ws = ?1
  AND l.target = ?2
  AND l.relation > ?3
  ORDER BY l.relation, l.source
  LIMIT ?4) AS side;
