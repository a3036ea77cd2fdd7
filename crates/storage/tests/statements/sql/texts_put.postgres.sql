INSERT INTO core_vector (ws, id, seq, kind, vectors)
VALUES (?1, ?2, ?3, ?4, ?5), (?6, ?7, ?8, ?9, ?10)
ON CONFLICT (ws, id) DO UPDATE SET seq = excluded.seq, kind = excluded.kind, vectors = excluded.vectors;

WITH v (ws, id, title, summary, body, grams) AS (
  VALUES (CAST(?1 AS BIGINT), CAST(?2 AS BIGINT), CAST(?3 AS TEXT), CAST(?4 AS TEXT), CAST(?5 AS TEXT),
        CAST(?6 AS INTEGER[])), (CAST(?7 AS BIGINT), CAST(?8 AS BIGINT), CAST(?9 AS TEXT), CAST(?10 AS TEXT),
        CAST(?11 AS TEXT), CAST(?12 AS INTEGER[]))), words AS (
  INSERT INTO core_words (ws, id, tsv)
  SELECT v.ws, v.id, setweight(to_tsvector('understory', v.title), 'A') || setweight(to_tsvector('understory',
          v.summary), 'B') || setweight(to_tsvector('understory', v.body), 'D')
  FROM v)
INSERT INTO core_grams (ws, id, grams)
SELECT v.ws, v.id, v.grams
FROM v
WHERE cardinality(v.grams) > 0;
