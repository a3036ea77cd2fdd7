SELECT e.id, e.kind, e.handle, e.project, e.parent, e.version, e.hash, e.previous_hash, e.created_at,
    e.updated_at, e.created_by, e.gone, e.data
FROM core_entity e
WHERE e.ws = ?1
AND e.id = ?2;
