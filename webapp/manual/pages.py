"""The pages of the manual, in their order, and what this installation's addresses are in them.

Each is a Markdown file in ``templates/docs``, which reads as well on a code host. A page is rendered when it is first
asked for and kept. How Markdown becomes HTML is :mod:`markdown`'s, what a browser is sent :mod:`wiring`'s.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from webapp.kit import assets
from webapp.manual.markdown import Document, render
from webapp.settings import Settings

NAMES = (
    "guide", "tutorial", "embed", "recipes", "agents", "contract", "apps", "components", "pieces", "install", "operate",
    "imports", "upgrade", "alerts", "sizes", "security", "architecture", "words",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Page:
    """One page: ``name`` is its file and the end of its address."""

    name: str
    document: Document

    @property
    def url(self) -> str:
        """Its path on this server."""
        return f"/docs/{self.name}"


class Manual:
    """The manual of one installation."""

    def __init__(self, settings: Settings) -> None:
        self._addresses = _addresses_of(settings)
        self.page = functools.cache(self._page)

    def __iter__(self) -> Iterator[Page]:
        return (self.page(name) for name in NAMES)

    def _page(self, name: str) -> Page:
        source = (assets.templates_dir() / "docs" / f"{name}.md").read_text("utf-8")
        return Page(name, render(source, self._addresses))


def _addresses_of(settings: Settings) -> Mapping[str, str]:
    """What stands in the text, by a default installation's addresses, and what this one has instead."""
    return {
        "http://localhost:8600": settings.public_url,
        "http://localhost:8601": settings.sandbox_url,
        "@localhost": f"@{settings.mail_domain}",
        '"localhost", 8625': f'"{settings.mail_host}", {settings.mail_port}',
    }
