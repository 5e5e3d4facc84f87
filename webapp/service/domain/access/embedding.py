"""Whether a page of the developer's product can show the Connect Link: it is looked at, and judged.

The page is fetched through the guard, or read as its developer printed it where this service cannot reach it. Nothing
of it is handed on but the findings.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from webapp.errors import Invalid
from webapp.kit.origins import checked_origin
from webapp.service.domain.access.embed_findings import Finding, PageAnswer, of_address, of_answer, out_of_reach
from webapp.service.domain.base.service import Service
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import parse_url

DEADLINE_S, MAX_BYTES, MAX_HOPS = 10.0, 512 * 1024, 3
MAX_HEADS = 5  # of a proxy, of an interim answer, of the page
_STATUS_LINE = re.compile(r"HTTP/[\d.]+ (\d{3})[^\n]*\n?")


@dataclass(frozen=True, slots=True)
class Check:
    """What was found out about a page. ``looked_at`` is the address that answered; empty where none did."""

    origin: str
    looked_at: str
    findings: tuple[Finding, ...]


def check(service: Service, url: str, allowed: Sequence[str], printed: str | None = None) -> Check:
    """Judge the page at ``url`` for a token with the origins ``allowed``.

    It is fetched through the guard, unless ``printed`` is what `curl -si` shows of it. Raises :class:`Invalid`.
    """
    parsed = parse_url(url)
    if isinstance(parsed, Failure):
        raise Invalid.of("url", parsed.sentence)
    origin = checked_origin(f"{parsed.scheme}://{parsed.authority}")
    public_url = service.settings.public_url
    answer = _printed(str(parsed), printed) if printed else _fetched(service, str(parsed))
    findings = [*of_address(str(parsed), origin, allowed, public_url)]
    if isinstance(answer, Failure):
        findings.append(out_of_reach(str(parsed), answer.sentence))
        return Check(origin, "", tuple(findings))
    return Check(origin, answer.url, (*findings, *of_answer(answer, public_url)))


def _fetched(service: Service, url: str) -> PageAnswer | Failure:
    headers = {"Accept": "text/html,*/*;q=0.5"}
    answer = service.outbound.request(
        "GET", url, headers=headers, deadline_s=DEADLINE_S, max_bytes=MAX_BYTES, cut=True, allow_redirects=MAX_HOPS
    )
    if isinstance(answer, Failure):
        return answer
    lowered = {name.lower(): value for name, value in answer.headers.items()}
    return PageAnswer(answer.url, answer.status, lowered, answer.body.decode("utf-8", "replace"))


def _printed(url: str, text: str) -> PageAnswer:
    """The answer as `curl -si` prints it; of several heads, such as a proxy's, the last counts."""
    status, headers = 0, dict[str, str]()
    rest = text.replace("\r\n", "\n").lstrip()
    for _ in range(MAX_HEADS):
        start = _STATUS_LINE.match(rest)
        if start is None:
            break
        head, _, rest = rest[start.end() :].partition("\n\n")
        status, headers = int(start[1]), {}
        for line in head.splitlines():
            name, _, value = line.partition(":")
            name = name.strip().lower()
            headers[name] = ", ".join(filter(None, (headers.get(name), value.strip())))
    if not status:
        raise Invalid.of("printed", "It must begin with the line HTTP/, as curl -si prints it. Paste it whole.")
    return PageAnswer(url, status, headers, rest)
