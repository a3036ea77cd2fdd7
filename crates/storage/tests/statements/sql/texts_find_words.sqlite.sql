SELECT key, title, summary, body
FROM core_fresh
WHERE key >= ?1 << 40
AND key < (?1 + 1) << 40
AND gone = 0
ORDER BY key;

SELECT rowid & 1099511627775 AS id, -bm25(core_words, 1e6, 1e3, 1.0) AS score
FROM core_words
WHERE core_words MATCH ?2
AND rowid >> 40 = ?1
AND rowid NOT IN (
  SELECT key
  FROM core_fresh)
ORDER BY score DESC, id
LIMIT ?3;
