SELECT v.branch, v.doc, v.key, v.seq, v.kind, v.target, v.deleted, v.giver, v.data
FROM (
  VALUES (CAST(?5 AS TEXT))) AS k
CROSS JOIN core_vertex v
WHERE v.ws = ?1
AND v.branch = ?2
AND v.doc = ?3
AND v.key = k.column1
AND v.seq = (
  SELECT MAX(n.seq)
  FROM core_vertex n
  WHERE n.ws = ?1
  AND n.giver = ?4
  AND n.key = k.column1
  AND n.branch = ?2
  AND n.doc = ?3);
