-- service/domain/accounts/attempts.py: whether a portal began it, whose token connects any number of accounts
ALTER TABLE connect_attempts ADD COLUMN of_portal INTEGER NOT NULL DEFAULT 0;
