"""Checks whether a product's page can show the Connect Link.

The page is fetched through the guard, or its developer pastes its headers where this service cannot reach it. Each
:class:`Finding` is a sentence about one condition, with a line to copy if something must change. Nothing of the page is
passed on. ``X-Frame-Options`` of the page does not matter: it says who may frame the page. Whether a Connect token
allows an origin is decided beside the token, in :mod:`webapp.service.domain.access.connect_tokens`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from webapp.errors import Invalid
from webapp.kit import csp_evaluator
from webapp.kit.csp_evaluator import Policy
from webapp.kit.networks import is_loopback
from webapp.kit.origins import checked_origin
from webapp.service.domain.base.service import Service
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import parse_url

State = Literal["ok", "warn", "bad"]
OPENER, EMBEDDER = "Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy"
SCRIPT = "/embed.js"
LINK = "/_static/connect.html"
STATE = "/_static/connect/state"
DEADLINE_S, MAX_BYTES, MAX_HOPS = 10.0, 512 * 1024, 3
MAX_HEADS = 5  # of a proxy, of an interim answer, of the page
_STATUS_LINE = re.compile(r"HTTP/[\d.]+ (\d{3})[^\n]*\n?")


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition. ``remedy`` is a line to copy; empty if nothing must change."""

    code: str
    state: State
    title: str
    detail: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """The response of the page at ``url``.

    Names of ``headers`` are in lower case; several of one name are joined by commas (RFC 9110 section 5.3).
    """

    url: str
    status: int
    headers: Mapping[str, str]
    markup: str


def of_address(url: str, origin: str, allowed: Sequence[str], service_url: str) -> Iterator[Finding]:
    """The findings about the address of the page. ``service_url`` is the public address of this service."""
    if origin in allowed:
        yield Finding("origin", "ok", "The page is on the list", origin)
    else:
        words = "It is not among the pages that may show the Connect Link. Allow it, then make a new token."
        yield Finding("origin", "bad", "The page is not on the list", words, origin)
    yield _encryption(url, service_url)


def of_answer(answer: PageAnswer, service_url: str) -> Iterator[Finding]:
    """The findings about the page's headers and policies."""
    if answer.status >= 300:
        words = f"It answered with status {answer.status}, so this is about that answer. People who are signed in may"
        yield Finding("status", "warn", "This may not be the page that people see", f"{words} get another.")
    yield _opener(answer.headers)
    headers = csp_evaluator.parse(answer.headers.get("content-security-policy", ""))
    policies = [*headers, *csp_evaluator.of_page(answer.markup)]
    yield _frame(policies, answer.url, service_url)
    yield _script(policies, answer.url, service_url)
    yield _calls(policies, answer.url, service_url)
    yield from _isolation(answer.headers, headers)


def _out_of_reach(url: str, why: str) -> Finding:
    """The page could not be looked at from here: how its developer can, instead."""
    quoted = url.replace("'", "%27")
    words = "Run this where the page opens, and paste what it prints."
    return Finding("page", "warn", "The page can’t be looked at from here", f"{why} {words}", f"curl -si '{quoted}'")


def _encryption(url: str, service_url: str) -> Finding:
    page, service = urlsplit(url), urlsplit(service_url)
    local = is_loopback(page.hostname or ""), is_loopback(service.hostname or "")
    if page.scheme == service.scheme == "https":
        return Finding("https", "ok", "Both sides use https")
    if page.scheme == "https" and not local[1]:
        words = "Browsers refuse to show a page without https inside one with it. Put this service behind https:"
        return Finding(
            "https", "bad", "This service does not use https", words, f"PATCHBAY_PUBLIC_URL=https://{service.netloc}"
        )
    if page.scheme == "http" and not local[0]:
        words = "What people enter there can be read on its way. Open it by https:"
        return Finding("https", "warn", "Your page does not use https", words, f"https://{page.netloc}")
    return Finding("https", "ok", "No https is needed on your own machine", "Everywhere else, both sides need it.")


def _opener(headers: Mapping[str, str]) -> Finding:
    value = _word(headers, OPENER)
    if value not in ("same-origin", "same-origin-plus-coep"):
        return Finding("opener", "ok", "A window can report back to your page")
    words = (
        f"It sends {OPENER}: {value}. The window can’t report back, so the service is asked instead; it takes a second "
        "longer. To avoid it:"
    )
    remedy = f"{OPENER}: same-origin-allow-popups"
    return Finding("opener", "warn", "Your page keeps windows apart", words, remedy)


def _frame(policies: Sequence[Policy], page: str, service_url: str) -> Finding:
    refused = csp_evaluator.refusal(policies, "frame", service_url + LINK, page)
    if refused is None:
        return Finding("frame", "ok", "Your page may show our frame")
    words = "Needed only for “In the page” and “Portal”. Its Content-Security-Policy needs:"
    return Finding("frame", "bad", "Your page forbids our frame", words, refused.mended("frame", service_url))


def _script(policies: Sequence[Policy], page: str, service_url: str) -> Finding:
    script = service_url + SCRIPT
    refused = csp_evaluator.refusal(policies, "script", script, page)
    if refused is None:
        return Finding("script", "ok", "Your page may load our script")
    if refused.nonce:
        words = "Its Content-Security-Policy takes scripts that carry its nonce. Give ours the nonce, too:"
        remedy = f'<script src="{script}" nonce="…"></script>'
        return Finding("script", "warn", "Our script needs your page’s nonce", words, remedy)
    words = "Without it, make the frame or the window yourself. Its Content-Security-Policy needs:"
    return Finding("script", "bad", "Your page forbids our script", words, refused.mended("script", script))


def _calls(policies: Sequence[Policy], page: str, service_url: str) -> Finding:
    refused = csp_evaluator.refusal(policies, "connect", service_url + STATE, page)
    if refused is None:
        return Finding("connect", "ok", "Your page may call this service")
    words = "Without it, an account that a window connects is noticed late or never. Its Content-Security-Policy needs:"
    remedy = refused.mended("connect", service_url)
    return Finding("connect", "warn", "Your page may not call this service", words, remedy)


def _isolation(headers: Mapping[str, str], policies: Sequence[Policy]) -> Iterator[Finding]:
    """The findings about pages that only frame pages which opt in, or that are in a sandbox."""
    value = _word(headers, EMBEDDER)
    if value in ("require-corp", "credentialless"):
        words = f"It sends {EMBEDDER}: {value}. Use a window, or leave that header out of this page:"
        yield Finding("embedder", "bad", "Your page takes only frames that opt in", words, f"{EMBEDDER}: unsafe-none")
    for policy in policies:
        lacking = {"allow-scripts", "allow-popups", "allow-same-origin"} - set(policy.get("sandbox", ()))
        if "sandbox" in policy and lacking:
            remedy = " ".join(("sandbox", *policy["sandbox"], *sorted(lacking)))
            words = "Its Content-Security-Policy keeps scripts or windows from it. It needs:"
            yield Finding("sandbox", "bad", "Your page is shut into a sandbox", words, remedy)
            return


def _word(headers: Mapping[str, str], name: str) -> str:
    """The value of a structured header (RFC 8941) without its parameters."""
    return headers.get(name.lower(), "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check. ``looked_at`` is the address that responded; empty if none did."""

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
        findings.append(_out_of_reach(str(parsed), answer.sentence))
        return Check(origin, "", tuple(findings))
    return Check(origin, answer.url, (*findings, *of_answer(answer, public_url)))


def _fetched(service: Service, url: str) -> PageAnswer | Failure:
    headers = {"Accept": "text/html,*/*;q=0.5"}
    answer = service.outbound.request(
        "GET", url, headers=headers, deadline_s=DEADLINE_S, max_bytes=MAX_BYTES, cut=True, max_redirects=MAX_HOPS
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
