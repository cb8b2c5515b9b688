-- What a pipeline found out about a passage (a summary, keywords, questions), as JSON; null where there is nothing.
ALTER TABLE chunks ADD COLUMN fields TEXT;

-- What models said about documents that are on their way, so that going on does not ask again. They go when the document is there.
CREATE TABLE answers (
    base INTEGER NOT NULL REFERENCES bases (id) ON DELETE CASCADE,
    document TEXT NOT NULL,
    request BLOB NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (base, document, request)
) STRICT;
