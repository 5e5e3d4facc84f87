"""Uploaded documents are kept for an hour under a name that cannot be guessed."""

import os
from pathlib import Path

from webapp.dashboard.build.integrations.drafts import FOLDER, Drafts
from webapp.dashboard.client.build.imported_apps import Document


def test_a_document_is_kept_until_it_is_dropped(tmp_path: Path) -> None:
    drafts, document = Drafts(tmp_path), Document(b"{}\n\x00", "acme.json")
    name = drafts.put(document)
    assert drafts.get(name) == document
    assert (tmp_path / FOLDER).stat().st_mode & 0o77 == 0
    drafts.drop(name)
    assert drafts.get(name) is None


def test_other_names_lead_nowhere(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    (tmp_path / ("x" * 43)).write_bytes(b"secret")
    for name in ("", "../" + "x" * 40, "x" * 43):
        assert drafts.get(name) is None
        drafts.drop(name)


def test_old_ones_go_with_the_next(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    old = drafts.put(Document(b"1", "a"))
    os.utime(tmp_path / FOLDER / old, (0, 0))
    drafts.put(Document(b"2", "b"))
    assert drafts.get(old) is None
