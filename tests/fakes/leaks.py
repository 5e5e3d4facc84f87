"""Looking for secrets where they have no right to stand: in answers, redirects, headers, log records and files."""

import base64
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
import requests

from tests.fakes.browser import Page

Rights = Mapping[str, Sequence[tuple[str, str, str]]]
"""Kind of secret: (method, path, place) where it is handed over; a place is "body", "Location" or a header's name."""


@dataclass
class LeakDetector:
    """The secrets that are known so far, and every answer that somebody got; ``rights`` is where they may stand."""

    rights: Rights
    secrets: dict[str, set[str]] = field(default_factory=dict)
    answers: list[Page] = field(default_factory=list)
    entitled: set[int] = field(default_factory=set)
    searched: dict[tuple[bytes, int], set[str]] = field(default_factory=dict)
    """The kinds that were found in some bytes, while so many secrets were known: they only become more."""

    def add(self, kind: str, secret: str) -> str:
        """Look for ``secret`` from now on, and in all that was seen before."""
        assert len(secret) >= 12, secret
        self.secrets.setdefault(kind, set()).add(secret)
        return secret

    def note(self, answer: requests.Response, *, credentials: bool = False) -> requests.Response:
        """Remember an answer of the API; ``credentials``: it was asked for them by one who may have them."""
        page = Page(
            str(answer.request.method), str(answer.request.url), answer.status_code, answer.headers, answer.text
        )
        self.answers.append(page)
        if credentials:
            self.entitled.add(id(page))
        return answer

    def leaks(self, home: str) -> Iterator[str]:
        """Every place in the answers where a secret stands without a right."""
        for page in self.answers:
            ours = page.url.startswith(home)
            path = urlsplit(page.url).path
            places = {"body": _without_framed_tokens(path, page.text) if ours else "", **page.headers}
            if not ours:
                places = {"address": page.url}
            if not self.kinds_in("\n".join(places.values()).encode()):
                continue
            for place, text in places.items():
                for kind in sorted(self.kinds_in(text.encode())):
                    if not (ours and self._may(kind, page, path, place)):
                        yield f"{kind} in {place} of {page.method} {page.url} ({page.status})"

    def kinds_in(self, data: bytes) -> set[str]:
        """The kinds of secret that stand in ``data``, also when written in base64, hex or percent encoding."""
        known = sum(map(len, self.secrets.values()))
        if (data, known) not in self.searched:
            self.searched[data, known] = self._search(data)
        return self.searched[data, known]

    def lines_with_secrets(self, lines: Sequence[str]) -> list[str]:
        """The ``lines`` in which a secret stands. All are searched as one first, which takes far less time."""
        if not self.kinds_in("\n".join(lines).encode()):
            return []
        return [line for line in lines if self.kinds_in(line.encode())]

    def _search(self, data: bytes) -> set[str]:
        return {
            kind for kind, found in self.secrets.items() if any(form in data for one in found for form in forms(one))
        }

    def _may(self, kind: str, page: Page, path: str, place: str) -> bool:
        if kind in ("access token", "refresh token"):
            return id(page) in self.entitled and place == "body"
        return any(
            method in ("*", page.method) and re.fullmatch(pattern, path) and place.lower() == right.lower()
            for method, pattern, right in self.rights[kind]
        )


@cache
def forms(secret: str) -> set[bytes]:
    """How a secret may be written. In base64 its neighbours decide the first and last characters."""
    raw = secret.encode()
    middle = {base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3)}
    return {raw, quote(secret, safe="").encode(), raw.hex().encode(), *middle}


def _without_framed_tokens(path: str, text: str) -> str:
    """A framed page has no cookie: its forms carry the token in a hidden field, which is their proof as well."""
    if not path.startswith("/_static/connect"):
        return text
    return re.sub(r'<input type="hidden" name="token" value="ctok_[0-9a-f]{32}">', "", text)


def check_logs(detector: LeakDetector, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    """No secret stands in a record of the server's threads or in what was printed."""
    # The records of this thread are the test's own client's, which logs the addresses that it asks for.
    formatter = logging.Formatter("%(name)s %(levelname)s %(message)s")
    lines = [
        formatter.format(record) + repr(record.args) for record in caplog.records if record.threadName != "MainThread"
    ]
    assert any("the test broke this" in line for line in lines), "the server's records are not seen"
    assert detector.lines_with_secrets(lines) == []
    printed = capfd.readouterr()
    assert detector.kinds_in((printed.out + printed.err).encode()) == set()


def check_files(detector: LeakDetector, data: Path) -> None:
    """No secret stands in any byte below ``data``."""
    files = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    assert {"patchbay.db", "catalog.db"} <= {path.name for path in files}
    found = {path.name: detector.kinds_in(content) for path, content in files.items()}
    assert {name: kinds for name, kinds in found.items() if kinds} == {}
