SELECT DISTINCT t.key
FROM (
  VALUES (CAST(?3 AS TEXT)), (CAST(?4 AS TEXT)), (CAST(?5 AS TEXT)), (CAST(?6 AS TEXT))) AS k
CROSS JOIN (
  VALUES (CAST(?7 AS TEXT), CAST(?8 AS BIGINT)), (CAST(?9 AS TEXT), CAST(?10 AS BIGINT))) AS s
CROSS JOIN core_tip t
WHERE t.ws = ?1
AND t.branch = s.column1
AND t.doc = ?2
AND t.key >= 'e|' || k.column1 || '|'
AND t.key < 'e|' || k.column1 || '}'
AND t.first <= s.column2
AND COALESCE(t.target, '') IN (?11, ?12, ?13, ?14);
