SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
    e.updated_at, e.created_by, e.gone, e.data, t.id, t.status, t.last, t.updated, t.findings,
    t.open_findings, t.open_asks, t.changes, CASE WHEN p.member = 1 THEN t.last - p.last_read - p.own END
FROM core_thread t
JOIN core_entity e ON e.ws = t.ws
AND e.id = t.id
LEFT JOIN core_participant p ON p.ws = t.ws
AND p.agent = ?2
AND p.thread = t.id
WHERE t.ws = ?1
AND (t.updated < ?3 OR (t.updated = ?3
    AND t.id < ?4))
AND EXISTS (
  SELECT 1
  FROM core_participant m
  WHERE m.ws = t.ws
  AND m.agent = ?6
  AND m.thread = t.id
  AND m.member = 1)
AND t.status = ?7
AND p.member = 1
AND t.last - p.last_read - p.own > 0
ORDER BY t.updated DESC, t.id DESC
LIMIT ?5;
