INSERT INTO core_grams (rowid, grams)
VALUES (?1, ?2);

INSERT INTO core_vector (ws, id, seq, kind, vectors)
VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (ws, id) DO UPDATE SET seq = excluded.seq, kind = excluded.kind, vectors =
    excluded.vectors;

INSERT INTO core_words (rowid, title, summary, body)
VALUES (?1, ?2, ?3, ?4);
