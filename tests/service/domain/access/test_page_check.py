"""Looking at a page of the developer's product, by the way out or as it was printed.

What stands between a page and the Connect Link, each with one line that mends it.
"""

from dataclasses import replace
from typing import Any

import pytest

from webapp.errors import Invalid
from webapp.service.domain.access import page_check
from webapp.service.domain.access.page_check import Check, PageAnswer
from webapp.service.domain.base.service import Service
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response

ORIGIN = "https://app.example"
SERVICE = "https://connect.example"


class Outbound:
    """Answers every request alike, and keeps what it was told."""

    def __init__(self, answer: Response | Failure) -> None:
        self.answer, self.calls = answer, list[tuple[Any, ...]]()

    def request(self, *told: Any, **more: Any) -> Response | Failure:
        self.calls.append((*told, more["max_redirects"], more["cut"]))
        return self.answer


def check(service: Service, outbound: Outbound, printed: str | None = None) -> Check:
    return page_check.check(replace(service, outbound=outbound), f"{ORIGIN}/mail?x=1#top", [ORIGIN], printed)  # type: ignore[arg-type]


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
        page_check.check(service, url, [])


def verdicts(markup: str = "", status: int = 200, **headers: str) -> dict[str, tuple[str, str]]:
    lowered = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = PageAnswer(f"{ORIGIN}/mail", status, lowered, markup)
    return {finding.code: (finding.state, finding.remedy) for finding in page_check.of_answer(answer, SERVICE)}


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
    origin, encryption = page_check.of_address(url, ORIGIN, [ORIGIN], service_url)
    assert (origin.state, encryption.state, bool(encryption.remedy)) == ("ok", state, state != "ok")


def test_an_origin_that_is_missing_is_named() -> None:
    finding = next(page_check.of_address("http://localhost:5173/", "http://localhost:5173", [ORIGIN], SERVICE))
    assert (finding.state, finding.remedy) == ("bad", "http://localhost:5173")
