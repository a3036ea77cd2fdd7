INSERT INTO core_fresh (key, indexed, gone, title, summary, body, grams)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (key) DO UPDATE SET gone = excluded.gone, title = excluded.title, summary = excluded.summary,
    body = excluded.body, grams = excluded.grams;

INSERT INTO core_vector (ws, id, seq, kind, vectors)
VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (ws, id) DO UPDATE SET seq = excluded.seq, kind = excluded.kind, vectors = excluded.vectors;

SELECT COUNT(*)
FROM core_fresh;
