SELECT i.seq, i.uuid, i.type, i.project, i.entity, i.realized_at, i.canonical_at, i.actor, i.session,
    i.cause, i.digest, i.chain, COALESCE(i.content, (
    SELECT e.remains
    FROM soil_erased e
    WHERE e.ws = i.ws
    AND e.seq = i.seq))
FROM core_log_item p
CROSS JOIN soil_item i
WHERE i.ws = ?1
AND p.ws = ?1
AND i.seq = p.seq
AND p.log = ?2
AND (i.project IS NULL OR i.project = ?3)
AND p.seq >= ?4
AND p.seq < ?5
ORDER BY p.seq DESC
LIMIT ?6;
