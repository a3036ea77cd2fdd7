SELECT t.key
FROM (
  VALUES (CAST(?3 AS TEXT), CAST(?4 AS BIGINT)), (CAST(?5 AS TEXT), CAST(?6 AS BIGINT))) AS s
CROSS JOIN core_tip t
WHERE t.ws = ?1
AND t.branch = s.column1
AND t.doc = ?2
AND t.first <= s.column2
AND t.key >= ?7
AND t.key < ?8
UNION
SELECT t.key
FROM (
  VALUES (CAST(?3 AS TEXT), CAST(?4 AS BIGINT)), (CAST(?5 AS TEXT), CAST(?6 AS BIGINT))) AS s
CROSS JOIN core_tip t
WHERE t.ws = ?1
AND t.branch = s.column1
AND t.doc = ?2
AND t.first <= s.column2
AND t.target = ?9;
