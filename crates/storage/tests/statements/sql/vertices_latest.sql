SELECT v.branch, v.doc, v.key, v.seq, v.kind, v.target, v.deleted, v.giver, v.data
FROM (
  VALUES (CAST(?3 AS TEXT))) AS k
CROSS JOIN (
  VALUES (CAST(?4 AS TEXT), CAST(?5 AS BIGINT)), (CAST(?6 AS TEXT), CAST(?7 AS BIGINT))) AS s
CROSS JOIN core_vertex v
WHERE v.ws = ?1
AND v.branch = s.column1
AND v.doc = ?2
AND v.key = k.column1
AND v.seq = (
  SELECT MAX(n.seq)
  FROM core_vertex n
  WHERE n.ws = ?1
  AND n.branch = s.column1
  AND n.doc = ?2
  AND n.key = k.column1
  AND n.seq <= s.column2);
