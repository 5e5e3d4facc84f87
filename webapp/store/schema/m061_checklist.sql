-- people/checklist.py: what people marked on the checklist of a new installation
CREATE TABLE checklist_marks (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  mark TEXT NOT NULL,                 -- 'hidden', or a step that nothing else tells of
  made_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, mark)
);
