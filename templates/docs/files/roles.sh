#!/bin/sh
# The role that serves, made by the owner's at the first start of PostgreSQL's container. PASSWORD is its own.
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
\getenv password PASSWORD
CREATE ROLE patchbay LOGIN PASSWORD :'password';
ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO patchbay;
SQL
