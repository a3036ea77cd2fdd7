SELECT i.seq, i.uuid, i.type, i.project, i.entity, i.realized_at, i.canonical_at, i.actor, i.session,
    i.cause, i.digest, i.chain, COALESCE(i.content, (
    SELECT e.remains
    FROM soil_erased e
    WHERE e.ws = i.ws
    AND e.seq = i.seq)), a.type
FROM core_activity a
CROSS JOIN soil_item i
WHERE i.ws = ?1
AND i.seq = a.seq
AND a.ws = ?1
AND a.seq > ?2
AND a.seq < ?3
AND a.project = ?5
AND a.type IN (?6, ?7)
AND i.session <> ?8
ORDER BY a.seq DESC
LIMIT ?4;
