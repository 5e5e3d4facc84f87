"""The brand of a project: its colour with its contrast, and a logo that is one."""

import io
import struct
from typing import Any

import pytest

from tests.dashboard.embedded import Embedded
from webapp.service.domain.projects import project_logos, projects

URL = "/build/project/brand"


def png(width: int, height: int, size: int = 0) -> bytes:
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height) + bytes(max(size - 24, 5))


def sent(hue: str, logo: bytes = b"") -> dict[str, Any]:
    return {"brand_hue": hue, "logo": (io.BytesIO(logo), "logo.png" if logo else "")}


def test_the_colour_is_kept_and_the_page_drawn_in_it(studio: Embedded) -> None:
    owner, logo = studio.browser(), project_logos.address(studio.service.store, studio.project.id)
    page = owner.follow(URL, sent("165"))
    assert "Your brand is saved." in page and "--accent-h: 165;" in page
    assert "Easy to read: 4.7 to 1 on light, 7.2 to 1 on dark." in page
    assert projects.get(studio.service.store, studio.project.id).brand_hue == 165
    assert project_logos.address(studio.service.store, studio.project.id) == logo, "none was sent"


def test_a_contrast_is_reported_while_the_colour_is_chosen(studio: Embedded) -> None:
    owner = studio.browser("developer")
    assert "4.7 to 1 on light, 7.2 to 1 on dark" in owner.get(f"{URL}/contrast?brand_hue=165", htmx=True)
    for query in ("", "?brand_hue=x", "?brand_hue=-99999999999", "?brand_hue=1e9"):
        assert "Easy to read" in owner.get(f"{URL}/contrast{query}", htmx=True)


def test_a_logo_is_kept_and_shown(studio: Embedded) -> None:
    owner = studio.browser()
    page = owner.follow(URL, sent("20", png(128, 256)))
    kept = project_logos.get(studio.service.store, studio.project.id)
    assert (kept.media_type, kept.image) == ("image/png", png(128, 256))
    assert f"/v1/connect/projects/{studio.project.id}/logo?v=" in page


@pytest.mark.parametrize(
    "hue, logo, field, sentence",
    [
        ("20", b"<svg/>", "logo", "not a PNG, JPEG or WebP"), ("20", png(127, 400), "logo", "127 × 400 pixels"),
        ("20", png(200, 200, 2_000), "logo", "at most 1\xa0MiB"), ("361", b"", "hue", "from the bar"),
        ("", b"", "hue", "from the bar"), ("9" * 5000, b"", "hue", "from the bar"), ("-1", png(200, 200), "hue", "bar"),
    ],
)  # fmt: skip
def test_what_is_no_brand_is_refused_and_nothing_kept(
    studio: Embedded, hue: str, logo: bytes, field: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_logos, "MAX_BYTES", 1_000)
    before = projects.get(studio.service.store, studio.project.id)
    answer = studio.browser().send(URL, sent(hue, logo))
    assert answer.status_code == 422 and sentence in answer.text and f'id="{field}-err"' in answer.text
    assert projects.get(studio.service.store, studio.project.id) == before
