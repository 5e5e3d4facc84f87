-- service/domain/pieces/pieces.py: where each version came from; those of pieces are of what was asked for last
ALTER TABLE piece_versions ADD COLUMN source TEXT NOT NULL DEFAULT 'registry';
ALTER TABLE piece_versions ADD COLUMN origin TEXT NOT NULL DEFAULT '';
