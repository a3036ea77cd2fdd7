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
AND n.path > ?7
AND n.path < ?8
ORDER BY n.rank_priority, n.rank_depth, n.updated, n.id
LIMIT ?4;

SELECT n.rank_priority, n.rank_depth, n.updated, n.id
FROM core_node n
WHERE n.ws = ?1
AND n.project + 0 = ?2
AND n.claimed_by = ?3
AND n.claimed_session = ?5
AND n.standing + 0 = 0
AND n.path > ?6
AND n.path < ?7
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
AND n.path > ?7
AND n.path < ?8
ORDER BY n.rank_priority, n.rank_depth, n.updated, n.id
LIMIT ?4;
