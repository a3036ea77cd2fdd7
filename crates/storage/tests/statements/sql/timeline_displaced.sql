SELECT i.seq, i.uuid, i.type, i.project, i.entity, i.realized_at, i.canonical_at, i.actor, i.session,
    i.cause, i.digest, i.chain, COALESCE(i.content, (
    SELECT e.remains
    FROM soil_erased e
    WHERE e.ws = i.ws
    AND e.seq = i.seq))
FROM core_log_item p, soil_item i
WHERE i.ws = ?1
AND i.canonical_at <> i.realized_at
AND p.ws = i.ws
AND p.seq = i.seq
AND p.log = ?2
AND (i.project IS NULL OR i.project = ?3)
AND i.canonical_at >= ?4
AND i.canonical_at <= ?5
AND (i.canonical_at < ?5 OR i.seq < ?6)
ORDER BY i.canonical_at DESC, i.seq DESC
LIMIT ?7;
