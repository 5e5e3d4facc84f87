-- store/migrations.py: what each migration did when it was applied, so that an edited one is noticed
CREATE TABLE migration_checksums (
  name TEXT NOT NULL PRIMARY KEY,
  sha256 TEXT NOT NULL
);
