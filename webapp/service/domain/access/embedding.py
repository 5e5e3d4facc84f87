"""Checks whether a product's page can show the Connect Link, and keeps recently refused calls and origins.

The page is fetched through the guard, or its developer pastes its headers where this service cannot reach it. Each
:class:`Finding` is a sentence about one condition, with a line to copy if something must change. Nothing of the page is
passed on. ``X-Frame-Options`` of the page does not matter: it says who may frame the page.

Refused calls (table ``refused_calls``) are those beyond a rate limit: their number in the last hour, and their actor.
They are collected in memory and written a moment later; a process that is killed loses only those. Refused origins
(table ``refused_origins``) are pages that showed a Connect token which does not allow them, so that a developer learns
what to add to ``allowed_origins``. The last few of an environment are kept, without anything about visitors.
"""

import logging
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from webapp.audit import Actor
from webapp.errors import Invalid, Unavailable
from webapp.kit import csp
from webapp.kit.clock import DAY, HOUR, MINUTE
from webapp.kit.csp import Policy
from webapp.kit.origins import checked_origin
from webapp.service.domain.base.service import Service
from webapp.service.domain.base.write_buffer import WriteBuffer
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import parse_url
from webapp.settings import is_loopback
from webapp.store.contract import Row, among

State = Literal["ok", "warn", "bad"]
OPENER, EMBEDDER = "Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy"
SCRIPT = "/embed.js"
LINK = "/_static/connect.html"
STATE = "/_static/connect/state"
DEADLINE_S, MAX_BYTES, MAX_HOPS = 10.0, 512 * 1024, 3
MAX_HEADS = 5  # of a proxy, of an interim answer, of the page
_STATUS_LINE = re.compile(r"HTTP/[\d.]+ (\d{3})[^\n]*\n?")
CALLS_REMEMBERED = HOUR
_SLOT = 5 * MINUTE
MAX_KEPT = 20
MAX_LENGTH = 300
ORIGINS_REMEMBERED = 30 * DAY
_SEEN_AGAIN = MINUTE  # later than this a repetition is written down
_CROWDED = HOUR  # when as many as are kept are younger, the next is somebody's game
log = logging.getLogger(__name__)


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
    headers = csp.parse(answer.headers.get("content-security-policy", ""))
    policies = [*headers, *csp.of_page(answer.markup)]
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
    refused = csp.refusal(policies, "frame", service_url + LINK, page)
    if refused is None:
        return Finding("frame", "ok", "Your page may show our frame")
    words = "Needed only for “In the page” and “Portal”. Its Content-Security-Policy needs:"
    return Finding("frame", "bad", "Your page forbids our frame", words, refused.mended("frame", service_url))


def _script(policies: Sequence[Policy], page: str, service_url: str) -> Finding:
    script = service_url + SCRIPT
    refused = csp.refusal(policies, "script", script, page)
    if refused is None:
        return Finding("script", "ok", "Your page may load our script")
    if refused.nonce:
        words = "Its Content-Security-Policy takes scripts that carry its nonce. Give ours the nonce, too:"
        remedy = f'<script src="{script}" nonce="…"></script>'
        return Finding("script", "warn", "Our script needs your page’s nonce", words, remedy)
    words = "Without it, make the frame or the window yourself. Its Content-Security-Policy needs:"
    return Finding("script", "bad", "Your page forbids our script", words, refused.mended("script", script))


def _calls(policies: Sequence[Policy], page: str, service_url: str) -> Finding:
    refused = csp.refusal(policies, "connect", service_url + STATE, page)
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


@dataclass(frozen=True, slots=True)
class RefusedCalls:
    """The number of refused calls; ``actor`` made all of them, or is empty if there were several."""

    count: int = 0
    actor: Actor | None = None


class _Slot(NamedTuple):
    counted_under: str
    at: int
    actor: Actor


def note_refused_call(service: Service, counted_under: str, actor: Actor) -> None:
    """A call of ``actor``, which counts under that key, was refused."""
    _NOTED.note(service, _Slot(counted_under, service.clock() // _SLOT * _SLOT, actor), 1)


def lately(service: Service, counted_under: Sequence[str]) -> dict[str, RefusedCalls]:
    """Those of the last hour, to five minutes, for each of the keys ``counted_under``."""
    flush(service)
    those, params = among(counted_under)
    rows = service.store.all(
        "SELECT counted_under, SUM(n) AS n, COUNT(DISTINCT actor_kind || ' ' || actor) AS actors, "  # noqa: S608
        "MIN(actor_kind) AS kind, MIN(actor) AS actor FROM refused_calls "
        f"WHERE counted_under IN ({those}) AND at > :since GROUP BY counted_under",
        {**params, "since": service.clock() - CALLS_REMEMBERED},
    )
    refused = {row["counted_under"]: _of(row) for row in rows}
    return {key: refused.get(key, RefusedCalls()) for key in counted_under}


def _of(row: Row) -> RefusedCalls:
    return RefusedCalls(int(row["n"]), Actor(row["kind"], row["actor"]) if row["actors"] == 1 else None)


def purge_refused_calls(service: Service) -> int:
    """Forget those of more than an hour ago; how many rows there were."""
    limit = {"limit": service.clock() - CALLS_REMEMBERED}
    if service.store.one("SELECT 1 FROM refused_calls WHERE at <= :limit LIMIT 1", limit) is None:
        return 0
    with service.store.write() as tx:
        return tx.run("DELETE FROM refused_calls WHERE at <= :limit", limit)


def _write(service: Service, counts: Mapping[_Slot, int]) -> None:
    with service.store.write() as tx:
        for slot, n in counts.items():
            tx.run(
                "INSERT INTO refused_calls (counted_under, at, actor_kind, actor, n) "
                "VALUES (:key, :at, :kind, :actor, :n) "
                "ON CONFLICT (counted_under, at, actor_kind, actor) DO UPDATE SET n = refused_calls.n + excluded.n",
                {"key": slot.counted_under, "at": slot.at, "kind": slot.actor.kind, "actor": slot.actor.id, "n": n},
            )


_NOTED = WriteBuffer[_Slot, int](_write, operator.add)
flush = _NOTED.flush


@dataclass(frozen=True, slots=True)
class RefusedOrigin:
    """One origin, and when it was refused last (epoch milliseconds)."""

    origin: str
    seen_at: int


def note_refused_origin(service: Service, scene: Scene, origin: str) -> None:
    """Record that a page of ``origin`` was refused, and log a new origin.

    Origins recorded within the last minute are skipped, as are new ones beyond the limit of an hour. A busy store does
    not fail the request.
    """
    now = service.clock()
    known = {refused.origin: refused.seen_at for refused in latest(service, scene)}
    crowded = len(known) >= MAX_KEPT and now - min(known.values()) < _CROWDED
    if len(origin) > MAX_LENGTH or now - known.get(origin, 0) < _SEEN_AGAIN or (crowded and origin not in known):
        return
    if origin not in known:
        log.warning(
            "A page of %s showed a Connect token that does not allow it; make tokens with it in allowed_origins.",
            origin,
        )
    with suppress(Unavailable), service.store.write() as tx:
        tx.run(
            "INSERT INTO refused_origins (project_id, environment, origin, seen_at) "
            "VALUES (:project, :environment, :origin, :now) "
            "ON CONFLICT (project_id, environment, origin) DO UPDATE SET seen_at = excluded.seen_at",
            {**scene.params, "origin": origin, "now": now},
        )
        tx.run(
            "DELETE FROM refused_origins WHERE project_id = :project AND environment = :environment "
            "AND origin NOT IN (SELECT origin FROM refused_origins WHERE project_id = :project "
            "AND environment = :environment ORDER BY seen_at DESC, origin LIMIT :kept)",
            {**scene.params, "kept": MAX_KEPT},
        )


def purge_refused_origins(service: Service) -> int:
    """Forget those that were refused last more than 30 days ago; how many there were."""
    limit = {"limit": service.clock() - ORIGINS_REMEMBERED}
    if service.store.one("SELECT 1 FROM refused_origins WHERE seen_at <= :limit LIMIT 1", limit) is None:
        return 0
    with service.store.write() as tx:
        return tx.run("DELETE FROM refused_origins WHERE seen_at <= :limit", limit)


def latest(service: Service, scene: Scene) -> list[RefusedOrigin]:
    """The origins that were refused within 30 days, the latest first."""
    rows = service.store.all(
        "SELECT origin, seen_at FROM refused_origins WHERE project_id = :project AND environment = :environment "
        "AND seen_at > :since ORDER BY seen_at DESC, origin",
        {**scene.params, "since": service.clock() - ORIGINS_REMEMBERED},
    )
    return [RefusedOrigin(row["origin"], row["seen_at"]) for row in rows]
