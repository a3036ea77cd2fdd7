-- Contentless: the words live in the entities; the index holds only where they are.
-- The key is workspace << 40 | id.
CREATE VIRTUAL TABLE core_words USING fts5(title, summary, body, content='', contentless_delete=1,
  tokenize="porter unicode61 remove_diacritics 2");
-- Trigram codes as words; only "all of these" is asked, so no positions are kept.
CREATE VIRTUAL TABLE core_grams USING fts5(grams, content='', contentless_delete=1,
  detail=none, tokenize="ascii");
-- Buffered for the two: a small batch costs the indexes as much as a large one.
CREATE TABLE core_fresh (
  key INTEGER PRIMARY KEY,
  -- Whether they still hold what it was before.
  indexed INTEGER NOT NULL,
  gone INTEGER NOT NULL,
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  body TEXT NOT NULL,
  -- The trigrams' codes, four bytes each.
  grams BLOB NOT NULL
);
