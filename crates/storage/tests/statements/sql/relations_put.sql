INSERT INTO core_relation (ws, made, n, kind, source, source_type, target, target_type, fragment,
      inferred, found, field, span_start, span_end, line, fossil, at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
ON CONFLICT (ws, made, n) DO UPDATE SET fossil = excluded.fossil;
