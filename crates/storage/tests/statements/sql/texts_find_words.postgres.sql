SELECT id, CAST(ts_rank('{0.01, 0.03, 0.1, 1.0}', tsv, q, 1) AS DOUBLE PRECISION) AS score
FROM core_words, to_tsquery('understory', ?2) q
WHERE ws = ?1
AND tsv @@ q
ORDER BY score DESC, id
LIMIT ?3;
