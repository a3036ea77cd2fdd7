SELECT COUNT(*)
FROM (
  SELECT 1
  FROM core_key
  WHERE ws = ?1
  AND name = ?2
  AND value = ?3
  LIMIT ?4) AS few;

SELECT n.rank_priority, n.rank_depth, n.updated, n.id
FROM (
  SELECT n.path, n.rank_priority, n.rank_depth, n.updated, n.id
  FROM core_node n
  WHERE n.ws = ?1
  AND n.project = ?2
  AND n.claimed_by = ?3
  AND n.claimed_session = ?5
  AND n.standing = 0
  ORDER BY n.rank_priority, n.rank_depth, n.updated, n.id
  LIMIT ?6) n
WHERE 1 = 1
AND (
  SELECT COUNT(*)
  FROM core_key k
  WHERE k.ws = ?1
  AND k.id = n.id
  AND (k.name, k.value) IN (
    VALUES (?7, ?8), (?9, ?10))) = 2
ORDER BY n.rank_priority, n.rank_depth, n.updated, n.id
LIMIT ?4;

SELECT n.rank_priority, n.rank_depth, n.updated, n.id
FROM core_key d
CROSS JOIN core_node n
WHERE n.ws = ?1
AND n.project = ?2
AND n.claimed_by = ?3
AND n.claimed_session = ?5
AND n.standing = 0
AND d.ws = ?1
AND n.id = d.id
AND d.name = ?6
AND d.value = ?7
AND EXISTS (
  SELECT 1
  FROM core_key k
  WHERE k.ws = ?1
  AND k.id = n.id
  AND (k.name, k.value) = (?8, ?9))
ORDER BY n.rank_priority, n.rank_depth, n.updated, n.id
LIMIT ?4;

SELECT n.rank_priority, n.rank_depth, n.updated, n.id
FROM core_node n
WHERE n.ws = ?1
AND n.project = ?2
AND n.claimed_at > 0
AND n.resolved = 0
AND n.claimed_at <= ?5
AND (n.claimed_by <> ?3 OR n.claimed_session <> ?6)
AND n.standing + 0 = 0
AND (
  SELECT COUNT(*)
  FROM core_key k
  WHERE k.ws = ?1
  AND k.id = n.id
  AND (k.name, k.value) IN (
    VALUES (?7, ?8), (?9, ?10))) = 2
ORDER BY n.rank_priority, n.rank_depth, n.updated, n.id
LIMIT ?4;
