-- What conversations left in memories: exchanges, each of one user with one agent. `session` says where a memory ends
-- whose user nobody knows.

CREATE TABLE memories (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    user_name TEXT NOT NULL,
    session TEXT NOT NULL,
    memory TEXT NOT NULL,
    exchange TEXT NOT NULL,
    user_input TEXT NOT NULL,
    agent_response TEXT NOT NULL,
    created BIGINT NOT NULL,
    UNIQUE (owner, memory, exchange)
);
CREATE INDEX memories_whose ON memories (owner, agent, user_name, memory, created, id);
CREATE INDEX memories_owner ON memories (owner, created, id);
CREATE INDEX memories_agent ON memories (agent);
