SELECT v.branch, v.doc, v.key, v.seq, v.kind, v.target, v.deleted, v.giver, v.data
FROM (
  SELECT key, seq
  FROM (
    SELECT key, seq
    FROM (
      SELECT t.key, t.seq
      FROM core_tip t
      WHERE t.ws = ?1
      AND t.branch = ?2
      AND t.doc = ?3
      AND t.kind = 'node'
      AND t.deleted = 0
      AND t.seq > ?4
      AND t.seq <= ?5
      AND NOT EXISTS (
        SELECT 1
        FROM (
          VALUES (CAST(?7 AS TEXT), CAST(?8 AS BIGINT))) AS s
        CROSS JOIN core_tip h
        WHERE h.ws = ?1
        AND h.branch = s.column1
        AND h.doc = ?3
        AND h.key = t.key
        AND h.first <= s.column2)
      ORDER BY t.seq DESC
      LIMIT ?6) AS p0
    UNION ALL
    SELECT key, seq
    FROM (
      SELECT t.key, t.seq
      FROM core_tip t
      WHERE t.ws = ?1
      AND t.branch = ?2
      AND t.doc = ?3
      AND t.kind = 'node'
      AND t.deleted = 1
      AND t.seq > ?4
      AND t.seq <= ?5
      AND NOT EXISTS (
        SELECT 1
        FROM (
          VALUES (CAST(?7 AS TEXT), CAST(?8 AS BIGINT))) AS s
        CROSS JOIN core_tip h
        WHERE h.ws = ?1
        AND h.branch = s.column1
        AND h.doc = ?3
        AND h.key = t.key
        AND h.first <= s.column2)
      ORDER BY t.seq DESC
      LIMIT ?6) AS p1
    UNION ALL
    SELECT key, seq
    FROM (
      SELECT t.key, t.seq
      FROM core_tip t
      WHERE t.ws = ?1
      AND t.branch = ?2
      AND t.doc = ?3
      AND t.kind = 'edge'
      AND t.deleted = 0
      AND t.seq > ?4
      AND t.seq <= ?5
      AND NOT EXISTS (
        SELECT 1
        FROM (
          VALUES (CAST(?7 AS TEXT), CAST(?8 AS BIGINT))) AS s
        CROSS JOIN core_tip h
        WHERE h.ws = ?1
        AND h.branch = s.column1
        AND h.doc = ?3
        AND h.key = t.key
        AND h.first <= s.column2)
      ORDER BY t.seq DESC
      LIMIT ?6) AS p2
    UNION ALL
    SELECT key, seq
    FROM (
      SELECT t.key, t.seq
      FROM core_tip t
      WHERE t.ws = ?1
      AND t.branch = ?2
      AND t.doc = ?3
      AND t.kind = 'edge'
      AND t.deleted = 1
      AND t.seq > ?4
      AND t.seq <= ?5
      AND NOT EXISTS (
        SELECT 1
        FROM (
          VALUES (CAST(?7 AS TEXT), CAST(?8 AS BIGINT))) AS s
        CROSS JOIN core_tip h
        WHERE h.ws = ?1
        AND h.branch = s.column1
        AND h.doc = ?3
        AND h.key = t.key
        AND h.first <= s.column2)
      ORDER BY t.seq DESC
      LIMIT ?6) AS p3
    UNION ALL
    SELECT key, seq
    FROM (
      SELECT t.key, t.seq
      FROM core_kept t
      WHERE t.ws = ?1
      AND t.branch = ?2
      AND t.doc = ?3
      AND t.kind = 'node'
      AND t.deleted = 0
      AND t.seq > ?4
      AND t.seq <= ?5
      AND t.until >= ?9
      AND NOT EXISTS (
        SELECT 1
        FROM (
          VALUES (CAST(?7 AS TEXT), CAST(?8 AS BIGINT))) AS s
        CROSS JOIN core_tip h
        WHERE h.ws = ?1
        AND h.branch = s.column1
        AND h.doc = ?3
        AND h.key = t.key
        AND h.first <= s.column2)
      ORDER BY t.seq DESC
      LIMIT ?6) AS p4
    UNION ALL
    SELECT key, seq
    FROM (
      SELECT t.key, t.seq
      FROM core_kept t
      WHERE t.ws = ?1
      AND t.branch = ?2
      AND t.doc = ?3
      AND t.kind = 'node'
      AND t.deleted = 1
      AND t.seq > ?4
      AND t.seq <= ?5
      AND t.until >= ?9
      AND NOT EXISTS (
        SELECT 1
        FROM (
          VALUES (CAST(?7 AS TEXT), CAST(?8 AS BIGINT))) AS s
        CROSS JOIN core_tip h
        WHERE h.ws = ?1
        AND h.branch = s.column1
        AND h.doc = ?3
        AND h.key = t.key
        AND h.first <= s.column2)
      ORDER BY t.seq DESC
      LIMIT ?6) AS p5
    UNION ALL
    SELECT key, seq
    FROM (
      SELECT t.key, t.seq
      FROM core_kept t
      WHERE t.ws = ?1
      AND t.branch = ?2
      AND t.doc = ?3
      AND t.kind = 'edge'
      AND t.deleted = 0
      AND t.seq > ?4
      AND t.seq <= ?5
      AND t.until >= ?9
      AND NOT EXISTS (
        SELECT 1
        FROM (
          VALUES (CAST(?7 AS TEXT), CAST(?8 AS BIGINT))) AS s
        CROSS JOIN core_tip h
        WHERE h.ws = ?1
        AND h.branch = s.column1
        AND h.doc = ?3
        AND h.key = t.key
        AND h.first <= s.column2)
      ORDER BY t.seq DESC
      LIMIT ?6) AS p6
    UNION ALL
    SELECT key, seq
    FROM (
      SELECT t.key, t.seq
      FROM core_kept t
      WHERE t.ws = ?1
      AND t.branch = ?2
      AND t.doc = ?3
      AND t.kind = 'edge'
      AND t.deleted = 1
      AND t.seq > ?4
      AND t.seq <= ?5
      AND t.until >= ?9
      AND NOT EXISTS (
        SELECT 1
        FROM (
          VALUES (CAST(?7 AS TEXT), CAST(?8 AS BIGINT))) AS s
        CROSS JOIN core_tip h
        WHERE h.ws = ?1
        AND h.branch = s.column1
        AND h.doc = ?3
        AND h.key = t.key
        AND h.first <= s.column2)
      ORDER BY t.seq DESC
      LIMIT ?6) AS p7) AS q
  ORDER BY seq DESC
  LIMIT ?6) AS p
CROSS JOIN core_vertex v
WHERE v.ws = ?1
AND v.branch = ?2
AND v.doc = ?3
AND v.key = p.key
AND v.seq = p.seq
ORDER BY p.seq DESC;
