-- service/domain/projects/projects.py: the colour of a project's pages, in degrees of OKLCH
ALTER TABLE projects ADD COLUMN brand_hue INTEGER NOT NULL DEFAULT 264;
