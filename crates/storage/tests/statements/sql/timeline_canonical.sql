SELECT i.seq, i.uuid, i.type, i.project, i.entity, i.realized_at, i.canonical_at, i.actor, i.session,
    i.cause, i.digest, i.chain, COALESCE(i.content, (
    SELECT e.remains
    FROM soil_erased e
    WHERE e.ws = i.ws
    AND e.seq = i.seq))
FROM soil_item i
WHERE i.ws = ?1
AND (i.project IS NULL OR i.project = ?2)
AND i.canonical_at = i.realized_at
AND i.realized_at <= ?3
AND (i.realized_at < ?3 OR i.seq < ?4)
AND i.seq >= ?5
AND i.seq < ?6
ORDER BY i.seq DESC
LIMIT ?7;
