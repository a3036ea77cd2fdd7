CREATE TABLE core_words (ws BIGINT NOT NULL, id BIGINT NOT NULL, tsv tsvector NOT NULL,
  PRIMARY KEY (ws, id));
CREATE INDEX core_words_tsv ON core_words USING gin (tsv);
CREATE TABLE core_grams (ws BIGINT NOT NULL, id BIGINT NOT NULL, grams INTEGER[] NOT NULL,
  PRIMARY KEY (ws, id));
CREATE INDEX core_grams_grams ON core_grams USING gin (grams);
