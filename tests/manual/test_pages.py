"""The pages of the manual: all there, in order, and with the addresses of the installation that serves them."""

from pathlib import Path

import pytest

from webapp.kit import assets
from webapp.manual.pages import NAMES, Manual
from webapp.settings import Settings


def test_every_file_is_a_page() -> None:
    assert {file.stem for file in (assets.templates_dir() / "docs").glob("*.md")} == set(NAMES)


def test_each_page_is_rendered_once(settings: Settings) -> None:
    manual = Manual(settings)
    assert [page.name for page in manual] == list(NAMES)
    assert manual.page("guide") is manual.page("guide")
    assert manual.page("guide").url == "/docs/guide"


def test_this_installations_addresses_are_filled_in(data: Path) -> None:
    environment = {
        "PATCHBAY_PUBLIC_URL": "https://connect.example.com",
        "PATCHBAY_MAIL_DOMAIN": "in.example.com",
        "PATCHBAY_MAIL_HOST": "10.0.0.7",
        "PATCHBAY_MAIL_PORT": "2525",
    }
    manual = Manual(Settings.from_env(environment, data=data))
    embed = manual.page("embed").document.html
    assert "https://connect.example.com/connect/oauth/callback" in embed
    assert "KEY@in.example.com" in embed and "(&#34;10.0.0.7&#34;, 2525)" in embed
    assert not any("localhost:8600" in page.document.html for page in manual)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_a_title_a_first_sentence_and_no_anchor_twice(settings: Settings, name: str) -> None:
    document = Manual(settings).page(name).document
    anchors = [section.anchor for section in document.sections]
    assert document.sections[0].level == 1 and [section.level for section in document.sections].count(1) == 1
    assert len(set(anchors)) == len(anchors) and all(anchors)
    assert document.title and 20 < len(document.lead) < 200
