-- English stems without a list of words to leave out: what is searched for is found.
DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_ts_config WHERE cfgname = 'understory'
      AND cfgnamespace = current_schema()::regnamespace) THEN
    CREATE TEXT SEARCH DICTIONARY understory_stem (TEMPLATE = snowball, LANGUAGE = english);
    CREATE TEXT SEARCH CONFIGURATION understory (COPY = english);
    ALTER TEXT SEARCH CONFIGURATION understory
      ALTER MAPPING REPLACE english_stem WITH understory_stem;
  END IF;
END $$;
CREATE TABLE core_words (ws BIGINT NOT NULL, id BIGINT NOT NULL, tsv tsvector NOT NULL,
  PRIMARY KEY (ws, id));
CREATE INDEX core_words_tsv ON core_words USING gin (tsv);
CREATE TABLE core_grams (ws BIGINT NOT NULL, id BIGINT NOT NULL, grams INTEGER[] NOT NULL,
  PRIMARY KEY (ws, id));
CREATE INDEX core_grams_grams ON core_grams USING gin (grams);
