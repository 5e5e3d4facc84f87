"""OAuth clients over the API, as the project: what is asked, and a service that has none to manage."""

from typing import Any

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.build.clients import Clients, OAuthClient
from webapp.errors import Forbidden, NotFound
from webapp.kit.clock import DAY

PATH = "/v1/oauth/clients"
SHOP = {"id": "abc", "name": "Shop", "scope": "connect:*", "project_id": None, "client_secret": "s"}


@pytest.mark.parametrize(
    ("ask", "method", "path", "call"),
    [
        (lambda clients: clients.list(), "GET", PATH, {"params": {"limit": 100}}),
        (
            lambda clients: clients.create("Shop", "connect:*", ""),
            "POST",
            PATH,
            {"body": {"name": "Shop", "scope": "connect:*", "project_id": None, "public_key": None}},
        ),
        (lambda clients: clients.rotate("abc", 60), "POST", f"{PATH}/abc/rotate", {"params": {"overlap_seconds": 60}}),
        (lambda clients: clients.end_old_secret("abc"), "DELETE", f"{PATH}/abc/old_secret", {}),
        (lambda clients: clients.delete("abc"), "DELETE", f"{PATH}/abc", {}),
    ],
)
def test_what_is_asked(ask: Any, method: str, path: str, call: Any) -> None:
    recorder = Recorder(SHOP)
    ask(Clients(recorder))
    assert recorder.calls == [("the project", method, path, call)]


def test_one_is_found_among_all() -> None:
    assert Clients(Recorder({"data": [SHOP]})).get("abc").secret == "s"
    with pytest.raises(NotFound):
        Clients(Recorder({"data": [SHOP]})).get("other")


@pytest.mark.parametrize("refusal", [NotFound(), Forbidden()])
def test_a_service_that_has_none_to_manage(refusal: Exception) -> None:
    assert Clients(Recorder(refusal)).list() is None
    with pytest.raises(NotFound):
        Clients(Recorder(refusal)).get("abc")


def test_times_that_cannot_be_read_are_none() -> None:
    client = OAuthClient.model_validate(SHOP | {"last_used_at": "1970-01-02T00:00:00Z", "old_secret_ends_at": "soon"})
    assert client.last_used == DAY and client.old_secret_ends is None and client.scopes == ("connect:*",)
