CREATE TABLE bases (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    model TEXT,
    dimensions INTEGER,
    chunk_tokens INTEGER NOT NULL,
    overlap_percent INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    base INTEGER NOT NULL REFERENCES bases (id) ON DELETE CASCADE,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    origin TEXT,
    hash BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    format TEXT,
    metadata TEXT NOT NULL,
    error TEXT,
    chunks INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (base, name)
) STRICT;

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    base INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    page INTEGER,
    starts INTEGER NOT NULL,
    ends INTEGER NOT NULL
) STRICT;
CREATE INDEX chunks_of_document ON chunks (document);

-- Vectors lie apart from the texts, so that a search which compares them all reads nothing else.
CREATE TABLE vectors (
    chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    base INTEGER NOT NULL,
    document INTEGER NOT NULL,
    vector BLOB NOT NULL
) STRICT;
CREATE INDEX vectors_of_base ON vectors (base);

-- The terms are made beforehand, with blanks between; this tokenizer only parts them.
CREATE VIRTUAL TABLE passages USING fts5 (base, terms, tokenize = "ascii tokenchars '_'", columnsize = 0);
