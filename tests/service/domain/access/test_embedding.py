"""Looking at a page of the developer's product, by the way out or as it was printed.

What stands between a page and the Connect Link, each with one line that mends it.

Calls beyond a limit: counted in memory, added up over processes, and forgotten.

Origins that were refused: the last few of each environment, for whoever builds the page.
"""

from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from webapp.audit import Actor
from webapp.errors import Invalid, Unavailable
from webapp.kit.clock import DAY, HOUR, MINUTE, FakeClock
from webapp.service.domain.access import embedding
from webapp.service.domain.access.embedding import Check, PageAnswer, RefusedCalls
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response

ORIGIN = "https://app.example"
SERVICE, ORIGIN_EMBED_FINDINGS = "https://connect.example", "https://app.example"
SERVER, ALICE = Actor("client", "oc_server"), Actor("user", "alice")
KEY = "accounts|proj_1|development"


class Outbound:
    """Answers every request alike, and keeps what it was told."""

    def __init__(self, answer: Response | Failure) -> None:
        self.answer, self.calls = answer, list[tuple[Any, ...]]()

    def request(self, *told: Any, **more: Any) -> Response | Failure:
        self.calls.append((*told, more["max_redirects"], more["cut"]))
        return self.answer


def check(service: Service, outbound: Outbound, printed: str | None = None) -> Check:
    return embedding.check(replace(service, outbound=outbound), f"{ORIGIN}/mail?x=1#top", [ORIGIN], printed)  # type: ignore[arg-type]


def test_a_page_is_fetched_by_the_way_out(service: Service) -> None:
    page = Response(200, {"Content-Security-Policy": "frame-src 'none'"}, b"\xff<p>", f"{ORIGIN}/inbox")
    outbound = Outbound(page)
    checked = check(service, outbound)
    assert outbound.calls == [("GET", f"{ORIGIN}/mail?x=1", 3, True)]
    assert checked.origin == ORIGIN and checked.looked_at == f"{ORIGIN}/inbox"
    assert "frame" in [finding.code for finding in checked.findings if finding.state == "bad"]


def test_what_cannot_be_reached_is_said_with_what_to_do(service: Service) -> None:
    checked = check(service, Outbound(Failure("refused_by_guard", "Not on the public internet.")))
    assert [finding.code for finding in checked.findings] == ["origin", "https", "page"] and not checked.looked_at
    assert checked.findings[-1].detail.startswith("Not on the public internet. Run this")
    assert checked.findings[-1].remedy == "curl -si 'https://app.example/mail?x=1'"


def test_what_was_printed_is_read_instead(service: Service) -> None:
    outbound = Outbound(Failure("dns", "-"))
    printed = (
        "HTTP/1.1 200 Connection established\r\n\r\nHTTP/2 200\r\nContent-Security-Policy: frame-src *\r\n"
        "content-security-policy: frame-src 'none'\r\n\r\n<html>"
    )
    checked = check(service, outbound, printed)
    assert not outbound.calls and checked.looked_at == f"{ORIGIN}/mail?x=1"
    assert {finding.code: finding.state for finding in checked.findings}["frame"] == "bad"
    with pytest.raises(Invalid):
        check(service, outbound, "<html>")


@pytest.mark.parametrize("url", ["app.example", "ftp://app.example", "https://me:pw@app.example", "https://"])
def test_what_is_no_address_is_refused(service: Service, url: str) -> None:
    with pytest.raises(Invalid):
        embedding.check(service, url, [])


def verdicts(markup: str = "", status: int = 200, **headers: str) -> dict[str, tuple[str, str]]:
    lowered = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = PageAnswer(f"{ORIGIN_EMBED_FINDINGS}/mail", status, lowered, markup)
    return {finding.code: (finding.state, finding.remedy) for finding in embedding.of_answer(answer, SERVICE)}


def test_a_page_that_forbids_nothing() -> None:
    every = verdicts(x_frame_options="DENY", content_security_policy_report_only="default-src 'none'")
    assert every == dict.fromkeys(("opener", "frame", "script", "connect"), ("ok", ""))


def test_what_headers_forbid_comes_with_the_line_that_allows_it() -> None:
    strict = verdicts(
        content_security_policy="default-src 'self'", cross_origin_opener_policy="same-origin; report-to=x"
    )
    assert strict == {
        "opener": ("warn", "Cross-Origin-Opener-Policy: same-origin-allow-popups"),
        "frame": ("bad", "frame-src 'self' https://connect.example"),
        "script": ("bad", "script-src 'self' https://connect.example/embed.js"),
        "connect": ("warn", "connect-src 'self' https://connect.example"),
    }  # fmt: skip
    meta = '<meta http-equiv="content-security-policy" content="frame-src a.example">'
    assert verdicts(meta, content_security_policy="frame-src *")["frame"][0] == "bad"
    assert verdicts(content_security_policy="script-src 'nonce-1'")["script"][0] == "warn"


def test_what_few_pages_do() -> None:
    assert verdicts(cross_origin_embedder_policy="require-corp")["embedder"][0] == "bad"
    shut = verdicts(content_security_policy="sandbox allow-scripts allow-same-origin")
    assert shut["sandbox"] == ("bad", "sandbox allow-scripts allow-same-origin allow-popups")
    assert verdicts(status=403)["status"][0] == "warn"


@pytest.mark.parametrize(
    ("url", "service_url", "state"),
    [
        ("https://app.example/", SERVICE, "ok"),
        ("http://app.example/", SERVICE, "warn"),
        ("https://app.example/", "http://connect.example", "bad"),
        ("http://localhost:5173/", "http://localhost:8600", "ok"),
        ("https://app.example/", "http://localhost:8600", "ok"),
    ],
)
def test_encryption(url: str, service_url: str, state: str) -> None:
    origin, encryption = embedding.of_address(url, ORIGIN_EMBED_FINDINGS, [ORIGIN_EMBED_FINDINGS], service_url)
    assert (origin.state, encryption.state, bool(encryption.remedy)) == ("ok", state, state != "ok")


def test_an_origin_that_is_missing_is_named() -> None:
    finding = next(
        embedding.of_address("http://localhost:5173/", "http://localhost:5173", [ORIGIN_EMBED_FINDINGS], SERVICE)
    )
    assert (finding.state, finding.remedy) == ("bad", "http://localhost:5173")


def lately(service: Service, key: str = KEY) -> RefusedCalls:
    return embedding.lately(service, [key])[key]


def test_who_made_all_of_them_is_reported(service: Service) -> None:
    for actor in (SERVER, SERVER):
        embedding.note_refused_call(service, KEY, actor)
    assert lately(service) == RefusedCalls(2, SERVER)
    embedding.note_refused_call(service, KEY, ALICE)
    assert lately(service) == RefusedCalls(3)
    assert lately(service, "tools|proj_1|development") == RefusedCalls()


def test_nothing_is_written_while_calls_are_answered(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service.store, "write", lambda: pytest.fail("a call waited for the store"))
    embedding.note_refused_call(service, KEY, SERVER)
    monkeypatch.undo()
    assert lately(service).count == 1


def test_what_another_process_wrote_is_added_up(service: Service) -> None:
    embedding.note_refused_call(service, KEY, SERVER)
    embedding.flush(service)
    with service.store.write() as tx:
        tx.run("UPDATE refused_calls SET n = n + 5")
    embedding.note_refused_call(service, KEY, SERVER)
    assert lately(service) == RefusedCalls(7, SERVER)


def test_they_are_forgotten_after_an_hour(service: Service, clock: FakeClock) -> None:
    embedding.note_refused_call(service, KEY, SERVER)
    clock.advance(HOUR - 5 * MINUTE)
    embedding.note_refused_call(service, KEY, SERVER)
    assert lately(service).count == 2 and embedding.purge_refused_calls(service) == 0
    clock.advance(10 * MINUTE)
    assert lately(service).count == 1 and embedding.purge_refused_calls(service) == 1
    assert lately(service).count == 1 and embedding.purge_refused_calls(service) == 0


def test_a_busy_store_loses_none(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> None:
        raise Unavailable

    embedding.note_refused_call(service, KEY, SERVER)
    monkeypatch.setattr(service.store, "write", busy)
    embedding.flush(service)
    monkeypatch.undo()
    assert lately(service).count == 1


def test_those_of_several_limits_are_looked_up_at_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "tools|proj_1|development"
    for key, actor in ((KEY, SERVER), (other, ALICE), (other, ALICE), ("tokens|proj_1|development", ALICE)):
        embedding.note_refused_call(service, key, actor)
    embedding.flush(service)
    queries = Mock(wraps=service.store.all)
    monkeypatch.setattr(service.store, "all", queries)
    assert embedding.lately(service, [KEY, other, "none"]) == {
        KEY: RefusedCalls(1, SERVER), other: RefusedCalls(2, ALICE), "none": RefusedCalls(),
    }  # fmt: skip
    assert queries.call_count == 1
    assert embedding.lately(service, []) == {}


@pytest.fixture
def scene(service: Service) -> Scene:
    return Scene(projects.create(service, name="Acme").id, "development")


def origins(service: Service, scene: Scene) -> list[str]:
    return [refused.origin for refused in embedding.latest(service, scene)]


def test_the_latest_come_first_and_few_are_kept(service: Service, scene: Scene, clock: Any) -> None:
    for number in range(embedding.MAX_KEPT + 5):
        embedding.note_refused_origin(service, scene, f"https://{number}.example")
        clock.advance(4 * MINUTE)
    embedding.note_refused_origin(service, scene, "https://7.example")
    assert origins(service, scene)[:2] == ["https://7.example", "https://24.example"]
    assert len(origins(service, scene)) == embedding.MAX_KEPT
    assert origins(service, Scene(scene.project_id, "production")) == []


def test_they_are_forgotten(service: Service, scene: Scene, clock: Any) -> None:
    embedding.note_refused_origin(service, scene, "https://old.example")
    assert embedding.purge_refused_origins(service) == 0
    clock.advance(31 * DAY)
    assert origins(service, scene) == []
    embedding.note_refused_origin(service, scene, "https://new.example")
    assert embedding.purge_refused_origins(service) == 1
    assert origins(service, scene) == ["https://new.example"]


def test_a_repetition_within_a_minute_writes_nothing(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedding.note_refused_origin(service, scene, "https://busy.example")
    monkeypatch.setattr(service.store, "write", lambda: pytest.fail("it was written again"))
    embedding.note_refused_origin(service, scene, "https://busy.example")
    embedding.note_refused_origin(service, scene, f"https://{'long' * 100}.example")


def test_nobody_fills_the_log_with_names(service: Service, scene: Scene, clock: Any) -> None:
    for number in range(30):
        embedding.note_refused_origin(service, scene, f"https://{number}.example")
        clock.advance(MINUTE)
    assert origins(service, scene)[0] == "https://19.example"
    embedding.note_refused_origin(service, scene, "https://3.example")
    assert origins(service, scene)[0] == "https://3.example"
