"""Workflows over the API, as the project: what is asked, and a service that has none."""

from typing import Any

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.build.workflows import Workflows
from webapp.errors import Forbidden, NotFound

ORDERS = {"id": "p_1", "name": "Orders", "url": "https://a.example/x", "signing_key": "whsec_1", "triggers": 2}


def test_a_service_without_them_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (NotFound(), Forbidden()):
        assert Workflows(Recorder(error)).list() is None


def test_what_is_told_of_one() -> None:
    workflow = Workflows(Recorder({"data": ORDERS | {"active": False}})).get("p_1")
    assert (workflow.name, workflow.key, workflow.triggers, workflow.state) == ("Orders", "whsec_1", 2, "deactivated")
    recorder = Recorder({"data": {"signing_key": "whsec_2"}})
    assert Workflows(recorder).key("p_1") == "whsec_2"
    assert recorder.calls == [("the project", "GET", "P/workflows/p_1/signing_key", {})]
    rows: Any = Workflows(Recorder({"data": [{"id": "dc_1", "name": "New"}, {"name": "no id"}]})).triggers("p_1")
    assert [(row.id, row.name) for row in rows] == [("dc_1", "New")]
