-- service/domain/pieces/pieces.py: integrations that were added from npm packages, and what is being done to them
CREATE TABLE pieces (
  id TEXT NOT NULL PRIMARY KEY,
  package TEXT NOT NULL UNIQUE,       -- such as @activepieces/piece-slack
  folder TEXT NOT NULL UNIQUE,        -- its name below DATA/pieces/packages and DATA/pieces/apps
  source TEXT NOT NULL,               -- 'registry', 'tarball', 'offline' or 'folder'
  origin TEXT NOT NULL,               -- where the tarball or folder stands; '' for the registry
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  version TEXT NOT NULL,              -- what new calls use; '' before it was added
  hidden INTEGER NOT NULL,
  hosts TEXT NOT NULL,                -- JSON array: what the owner lets it reach
  state TEXT NOT NULL,                -- 'adding', 'ready', 'writing', 'added' or 'failed'
  wanted TEXT NOT NULL,               -- the version that is being brought; '' for none, or for the newest
  step INTEGER NOT NULL,              -- 1 to 4, of the bringing
  error TEXT NOT NULL,
  stopping INTEGER NOT NULL,          -- whether somebody asked to stop
  holder BIGINT NOT NULL,             -- the generation that works on it; 0 for none
  turn BIGINT NOT NULL,               -- counts who took it up, so that an earlier one writes nothing more
  newest TEXT NOT NULL,               -- in the registry; '' for not known
  looked_at BIGINT NOT NULL,          -- when the registry was last asked for it
  added_at BIGINT NOT NULL,
  changed_at BIGINT NOT NULL
);
CREATE TABLE piece_versions (
  id TEXT NOT NULL PRIMARY KEY,       -- the piece's id and the version
  piece_id TEXT NOT NULL REFERENCES pieces (id) ON DELETE CASCADE,
  version TEXT NOT NULL,
  lock_file TEXT NOT NULL,            -- package-lock.json, with the integrity of each package
  digest TEXT NOT NULL,               -- SHA-256 of the files as they were unpacked
  size BIGINT NOT NULL,               -- bytes
  published_at BIGINT,
  licence TEXT NOT NULL,              -- as the package names it; '' where it names none
  licence_text TEXT NOT NULL,
  author TEXT NOT NULL,
  description TEXT NOT NULL,          -- JSON: what the package says of itself when it is loaded
  contents TEXT NOT NULL,             -- JSON: what it adds, such as the keys of its actions and triggers
  brought_at BIGINT NOT NULL
);
CREATE INDEX piece_versions_of_piece ON piece_versions (piece_id);
-- service/domain/base/piece_hosts.py: hosts to which a piece was refused a connection
CREATE TABLE piece_refused_hosts (
  package TEXT NOT NULL,
  host TEXT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (package, host)
);
