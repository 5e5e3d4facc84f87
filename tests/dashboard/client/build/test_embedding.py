"""Tokens for trying the Connect Link, and the check of a page, over the API."""

from typing import Any

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.build.embedding import CHECK_TIMEOUT_S, EmbedClient
from webapp.dashboard.client.transport import NotTheApi
from webapp.errors import Forbidden, NotFound

LINK = "https://c.example/_static/connect.html?token=ctok_1&connectLink=true"


class Tokens(Recorder):
    """A token is asked for by its body alone."""

    def create_token(self, body: Any) -> Any:
        return self.as_project("POST", "P/tokens", body=body)


def test_a_token_is_made_with_its_link() -> None:
    recorder = Tokens({"token": "ctok_1", "connect_link_url": LINK})
    assert EmbedClient(recorder).make_token({"external_user_id": "ann"}) == ("ctok_1", LINK)
    assert recorder.calls == [("the project", "POST", "P/tokens", {"body": {"external_user_id": "ann"}})]


@pytest.mark.parametrize("answer", [{}, {"token": "ctok_1"}, {"token": "ctok_1", "connect_link_url": "javascript:1"}])
def test_an_answer_that_is_none_is_reported(answer: Any) -> None:
    with pytest.raises(NotTheApi):
        EmbedClient(Tokens(answer)).make_token({})


def test_a_service_without_extensions_tells_no_end() -> None:
    recorder = Recorder({"success": True}, {"success": True, "expires_at": "2026-01-01T00:00:00Z", "link_used": True})
    plain, full = EmbedClient(recorder).validity("ctok_1"), EmbedClient(recorder).validity("ctok_1")
    assert (plain.expires_at, plain.link_used, full.link_used) == (None, None, True)
    assert recorder.calls[0][2:] == ("/v1/connect/tokens/ctok_1/validate", {"params": {"extensions": True}})


def test_a_page_is_checked_where_the_service_can() -> None:
    finding = {"code": "frame", "state": "bad", "title": "No", "remedy": "frame-src x"}
    recorder = Recorder({"data": {"origin": "https://a.example", "findings": [finding]}}, NotFound(), Forbidden())
    client = EmbedClient(recorder)
    check = client.check_page("https://a.example", ["https://a.example"], "")
    assert check and check.findings[0].remedy == "frame-src x"
    body = {"url": "https://a.example", "allowed_origins": ["https://a.example"]}
    assert recorder.calls == [("the project", "POST", "P/embed_check", {"body": body, "timeout": CHECK_TIMEOUT_S})]
    assert (
        client.check_page("https://a.example", [], "HTTP/1.1 200")
        is client.check_page("https://a.example", [], "")
        is None
    )


def test_origins_that_were_refused() -> None:
    row = {"origin": "https://a.example", "refused_at": "2026-01-01T00:00:00Z"}
    recorder = Recorder({"data": [row, {"origin": ""}]}, NotFound())
    assert [refused.origin for refused in EmbedClient(recorder).refused_origins()] == ["https://a.example"]
    assert EmbedClient(recorder).refused_origins() == () and recorder.calls[0][1:3] == ("GET", "P/refused_origins")
