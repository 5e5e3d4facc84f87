from typing import Any, cast

import pytest
from flask import Flask, g, request

from webapp.dashboard import shell
from webapp.dashboard.build import page
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.dashboard import Viewer
from webapp.dashboard.shell import DEVELOPERS, OWNERS, BuildPage


@pytest.mark.parametrize(
    ("roles", "statuses"),
    [(DEVELOPERS, {"owner": 200, "developer": 200, "member": 404}), (OWNERS, {"owner": 200, "developer": 404})],
)
def test_other_roles_meet_nothing(roles: Any, statuses: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(shell.BUILD, "lamps", BuildPage("Lamps", "key", roles))
    app, lamps = Flask(__name__), page.blueprint("lamps")
    app.before_request(lambda: setattr(g, "viewer", Viewer("u_1", request.args["role"], cast(ConnectClient, None))))
    lamps.get("")(lambda: "lit")
    app.register_blueprint(lamps)
    seen = {role: app.test_client().get("/build/lamps", query_string={"role": role}).status_code for role in statuses}
    assert seen == statuses
