-- Runs that somebody asked to end while another server drives them. The server that drives one looks here.

CREATE TABLE cancels (
    run BIGINT PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
    asked BIGINT NOT NULL
);
