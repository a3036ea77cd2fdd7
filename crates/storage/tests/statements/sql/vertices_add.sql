INSERT INTO core_kept (ws, branch, doc, kind, deleted, seq, until, key)
SELECT t.ws, t.branch, t.doc, t.kind, t.deleted, t.seq, CAST(?4 AS BIGINT), t.key
FROM core_tip t
WHERE t.ws = ?1
AND t.branch = ?2
AND t.doc = ?3
AND t.seq <= ?4
AND t.key IN (?5);

INSERT INTO core_tip (ws, branch, doc, key, kind, target, first, seq, deleted)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (ws, branch, doc, key) DO UPDATE SET seq = excluded.seq, deleted = excluded.deleted;

INSERT INTO core_vertex (ws, branch, doc, key, seq, kind, target, deleted, giver, data)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

SELECT MAX(base_seq)
FROM core_branch
WHERE ws = ?1
AND base = ?2;
