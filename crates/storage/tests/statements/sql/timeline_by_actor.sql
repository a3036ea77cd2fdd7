SELECT i.seq, i.uuid, i.type, i.project, i.entity, i.realized_at, i.canonical_at, i.actor, i.session,
    i.cause, i.digest, i.chain, COALESCE(i.content, (
    SELECT e.remains
    FROM soil_erased e
    WHERE e.ws = i.ws
    AND e.seq = i.seq))
FROM soil_item p
CROSS JOIN soil_item i
WHERE i.ws = ?1
AND p.ws = ?1
AND i.seq = p.seq
AND p.actor = ?2
AND i.actor = ?3
AND (i.project IS NULL OR i.project = ?4)
AND p.seq >= ?5
AND p.seq < ?6
ORDER BY p.seq DESC
LIMIT ?7;
