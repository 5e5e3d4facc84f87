"""Evaluates Content-Security-Policy (CSP level 3) like a browser: may a page frame, run or call a URL?

If there are several policies, all must allow it. Fetching the page, and leaving out report-only policies, is left to
the caller.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from webapp.kit.origins import DEFAULT_PORTS

Use = Literal["frame", "script", "connect"]
# The directives for each use, in order; the first that a policy has decides (section 6.8.3).
DECIDING: Mapping[Use, tuple[str, ...]] = {
    "frame": ("frame-src", "child-src", "default-src"),
    "script": ("script-src-elem", "script-src", "default-src"),
    "connect": ("connect-src", "default-src"),
}
_IGNORED_IN_META = frozenset({"frame-ancestors", "report-uri", "sandbox"})
_HOST = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?P<host>\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])"
    r"(?::(?P<port>\d{1,5}|\*))?(?P<path>/.*)?",
    re.IGNORECASE,
)
_MAX_HEAD = 256 * 1024
_END_OF_HEAD = re.compile(r"</head\b|<body\b", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(r"<meta\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))""")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)

Policy = Mapping[str, tuple[str, ...]]
"""The sources of each directive, by the directive's name in lower case."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The directive of a policy that refuses a URL, and the sources that it allows."""

    directive: str
    sources: tuple[str, ...]
    nonce: bool = False  # whether a script with the page's nonce is allowed

    def mended(self, use: Use, source: str) -> str:
        """The directive extended to allow ``source``, too."""
        name = f"{use}-src" if self.directive == "default-src" else self.directive
        kept = [text for text in self.sources if text.lower() != "'none'"]
        return " ".join((name, *kept, source))


def parse(text: str) -> list[Policy]:
    """The policies in a header's value, which may be several, separated by commas (section 2.2.2)."""
    return [policy for part in text.split(",") if (policy := _policy(part))]


def of_page(markup: str) -> list[Policy]:
    """The policies in the ``<meta>`` elements of a page's head, without directives that are valid only in headers.

    The page is untrusted, so the patterns that parse it take linear time.
    """
    head = _COMMENT.sub("", _END_OF_HEAD.split(markup[:_MAX_HEAD], maxsplit=1)[0])
    policies = [policy for tag in _META.findall(head) for policy in parse(_policy_of(tag))]
    return [{name: sources for name, sources in policy.items() if name not in _IGNORED_IN_META} for policy in policies]


def refusal(policies: Iterable[Policy], use: Use, url: str, page: str) -> Refusal | None:
    """The refusal of the first policy that forbids the page at ``page`` to use ``url``, or None if all allow it."""
    target, own = urlsplit(url), urlsplit(page)
    for policy in policies:
        name = next((name for name in DECIDING[use] if name in policy), None)
        if name is None:
            continue
        sources = policy[name]
        words = [source.lower() for source in sources]
        trusting = use == "script" and "'strict-dynamic'" in words  # then sources with URLs are ignored
        if trusting or not any(_matches(source, target, own) for source in sources):
            return Refusal(name, sources, nonce=use == "script" and any(word.startswith("'nonce-") for word in words))
    return None


def _policy(text: str) -> Policy:
    directives: dict[str, tuple[str, ...]] = {}
    for part in text.split(";"):
        name, *sources = part.split() or ("",)
        if name:
            directives.setdefault(name.lower(), tuple(sources))  # the first directive of a name counts
    return directives


def _matches(source: str, url: SplitResult, page: SplitResult) -> bool:
    """Whether ``source`` matches ``url``, which is http or https (section 6.7.2.8)."""
    if source == "*":
        return True
    if source.lower() == "'self'":
        return _is_host(url, page.hostname or "") and _is_scheme(page.scheme, url) and _port(url) in _ports(page, url)
    if scheme := _SCHEME.fullmatch(source):
        return _is_scheme(scheme[1].lower(), url)
    host = _HOST.fullmatch(source)
    if host is None or not _is_scheme((host["scheme"] or page.scheme).lower(), url):
        return False
    wanted, port, path = host["host"].strip("[]").lower(), host["port"], host["path"] or ""
    right_port = port == "*" or (int(port) if port else DEFAULT_PORTS[url.scheme]) == _port(url)
    right_path = path in ("", "/") or (url.path.startswith(path) if path.endswith("/") else url.path == path)
    return right_port and right_path and _is_host(url, wanted)


def _is_host(url: SplitResult, wanted: str) -> bool:
    host = url.hostname or ""
    return wanted == "*" or (host.endswith(wanted[1:]) if wanted.startswith("*.") else host == wanted)


def _is_scheme(scheme: str, url: SplitResult) -> bool:
    """Whether ``scheme`` allows ``url``; http allows https, too."""
    return scheme == url.scheme or (scheme, url.scheme) == ("http", "https")


def _port(url: SplitResult) -> int:
    return url.port or DEFAULT_PORTS[url.scheme]


def _ports(page: SplitResult, url: SplitResult) -> tuple[int, ...]:
    """The ports that match ``'self'``: the page's own, and 443 for an upgrade from http to https."""
    own = _port(page)
    return (own, 443) if (page.scheme, own, url.scheme) == ("http", 80, "https") else (own,)


def _policy_of(tag: str) -> str:
    """The policy that a ``<meta>`` element declares, or "" if it declares something else."""
    attributes = {
        name.lower(): unescape(double or single or bare) for name, double, single, bare in _ATTRIBUTE.findall(tag)
    }
    return (
        attributes.get("content", "") if attributes.get("http-equiv", "").lower() == "content-security-policy" else ""
    )
