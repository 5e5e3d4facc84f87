"""The pictures of the manual: each there in both themes, small, shown by a page, and not older than its templates."""

import re

from tests.manual.documents import FOLDER as DOCUMENTS
from tests.manual.documents import ROOT
from tests.pictures import drawn
from webapp.kit import images


def test_none_is_older_than_its_templates() -> None:
    assert list(drawn.stale()) == [], "run make pictures, look at them, and commit them"


def test_each_is_small_and_of_the_same_size_in_both_themes() -> None:
    for name in drawn.SOURCES:
        contents = [file.read_bytes() for file in drawn.files_of(name)]
        (light, dark) = map(images.measure, contents)
        assert light and light == dark and light.media_type == "image/webp", name
        assert max(map(len, contents)) <= drawn.MOST_BYTES, name


def test_every_picture_is_shown_with_words_and_every_one_that_is_shown_is_drawn() -> None:
    texts = [file.read_text("utf-8") for file in (*DOCUMENTS.glob("*.md"), ROOT / "README.md")]
    shown = re.findall(r"!\[([^]]*)\]\((?:\.\./)*static/pictures/([a-z]+)\.webp\)", "".join(texts))
    assert {name for _, name in shown} == set(drawn.SOURCES)
    assert min(len(alt) for alt, _ in shown) > 20


def test_what_a_page_includes_counts_and_what_all_pages_share_does_not() -> None:
    templates = drawn.templates_of("dashboard/accounts/index.html")
    assert {"dashboard/accounts/index.html", "dashboard/accounts/_rows.html"} <= templates
    assert not any(template.startswith(("shared/", "layouts/")) for template in templates)
