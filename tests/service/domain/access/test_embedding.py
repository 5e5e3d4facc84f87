"""Looking at a page of the developer's product, by the way out or as it was printed."""

from dataclasses import replace
from typing import Any

import pytest

from webapp.errors import Invalid
from webapp.service.domain.access import embedding
from webapp.service.domain.access.embedding import Check
from webapp.service.domain.base.service import Service
from webapp.service.outbound.outcomes import Failure, Response

ORIGIN = "https://app.example"


class Outbound:
    """Answers every request alike, and keeps what it was told."""

    def __init__(self, answer: Response | Failure) -> None:
        self.answer, self.calls = answer, list[tuple[Any, ...]]()

    def request(self, *told: Any, **more: Any) -> Response | Failure:
        self.calls.append((*told, more["allow_redirects"], more["cut"]))
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
