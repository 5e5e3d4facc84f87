"""A browser without JavaScript over real HTTP: it keeps cookies, goes from page to page, and remembers all it saw."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urljoin, urlsplit

import requests

PAGE = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "same-origin"}


@dataclass(frozen=True, slots=True)
class Page:
    """One answer: where it came from, its status, headers and text."""

    method: str
    url: str
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def location(self) -> str:
        """Where it leads, as a whole address."""
        return urljoin(self.url, self.headers["Location"])

    def hidden(self, action: str = "") -> dict[str, str]:
        """The hidden fields of the first form with ``action``; of the page without one."""
        text = self.text
        if action:
            found = re.search(rf'<form[^>]*action="{re.escape(action)}".*?</form>', text, re.DOTALL)
            assert found, f"{self.url} has no form to {action}: {text}"
            text = found[0]
        pairs = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', text)
        return {unescape(name): unescape(value) for name, value in pairs}

    def start_link(self, *, window: bool = False) -> str:
        """Where its button leads: the start of the sign-in at the provider."""
        found = re.search(r'data-start href="([^"]*)"', self.text)
        assert found, f"{self.url} has no way to start: {self.text}"
        return urljoin(self.url, re.sub(r"window=\d", f"window={int(window)}", unescape(found[1])))


@dataclass
class Browser:
    """``home`` is the origin of the installation; ``seen`` is every answer, in order."""

    home: str
    seen: list[Page] = field(default_factory=list)
    session: requests.Session = field(default_factory=requests.Session)

    def __post_init__(self) -> None:
        self.session.trust_env = False

    def get(self, url: str, **headers: str) -> Page:
        """One request; redirects are for the test to follow."""
        return self._ask("GET", url, None, headers)

    def post(self, url: str, data: Mapping[str, str], **headers: str) -> Page:
        """Send a form."""
        return self._ask("POST", url, data, headers)

    def follow(self, page: Page, *, until: str = "\0") -> Page:
        """Go where redirects lead, but to no address that begins with ``until``: the redirect to it is given back."""
        for _ in range(12):
            if page.status not in (301, 302, 303, 307, 308) or page.location.startswith(until):
                return page
            page = self.get(page.location)
        raise AssertionError(f"too many redirects, the last one to {page.url}")

    def visit(self, url: str) -> Page:
        """Open an address as a page of its own."""
        return self.follow(self.get(url))

    def frame(self, url: str) -> Page:
        """Open an address inside a frame of another site: nothing is kept."""
        return self._ask("GET", url, None, {"Sec_Fetch_Dest": "iframe", "Sec_Fetch_Site": "cross-site"})

    def form(self, where: str, to: str, **fields: str) -> Page:
        """Send the form of a dashboard page at ``where`` to ``to``, with the form token that stands there."""
        page = self.visit(where)
        found = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
        assert found, page.text
        return self.post(to, {"csrf_token": found[1], **fields})

    def close(self) -> None:
        """Give back the sockets."""
        self.session.close()

    def _ask(self, method: str, url: str, data: Mapping[str, str] | None, headers: Mapping[str, str]) -> Page:
        address = urljoin(self.home, url)
        named = {**PAGE, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if urlsplit(address).netloc != urlsplit(self.home).netloc:
            named["Sec-Fetch-Site"] = "cross-site"
        answer = self.session.request(
            method, address, data=data, headers=named, allow_redirects=False, timeout=60
        )  # fmt: skip
        page = Page(method, address, answer.status_code, answer.headers, answer.text)
        self.seen.append(page)
        return page
