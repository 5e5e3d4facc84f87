"""Answers are held to their models, whoever asks for them."""

from typing import Any

import pytest
import requests

from tests.sandbox.product.test_server import Inside
from tests.service.api import application
from tests.service.api.application import Misfit
from webapp.service.api.base.models import Data
from webapp.service.api.me import Me


def test_whoever_asks_learns_that_an_answer_is_not_as_declared(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path, headers = "/v1/connect/projects", {"Authorization": f"Bearer {world.server()}"}
    session = requests.Session()
    session.mount("http://", Inside(world.http.application))
    asking = (
        lambda: world.get(path, world.server()),
        lambda: world.http.get(path, headers=headers),
        lambda: session.get(f"http://localhost{path}", headers=headers),
    )
    assert [ask().status_code for ask in asking] == [200] * 3
    monkeypatch.setitem(application.ANSWERS, "api.list_projects", Data[Me])
    for ask in asking:
        with pytest.raises(Misfit, match="GET /v1/connect/projects declares another answer"):
            ask()
