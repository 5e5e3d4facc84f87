"""What is said of an integration, read leniently.

Integrations as the dashboard's client asks for them.
"""

from typing import Any, cast

from webapp.dashboard.client.build.pieces import Packages, Piece, PieceClient
from webapp.dashboard.client.connect import ConnectClient
from webapp.errors import NotFound


def test_what_an_integration_is_at() -> None:
    piece = Piece.model_validate({"id": "pc_1", "package": "@acme/piece-shop", "state": "odd", "licence": "MIT"})
    assert (piece.name, piece.state, piece.works, piece.at_work) == ("@acme/piece-shop", "added", False, False)
    assert piece.licence_notice == "MIT"
    assert Piece.model_validate({"id": "pc_1", "state": "writing"}).at_work
    changes = {"gone": ["A"], "changed": [{"name": "B", "sentence": "C."}], "added": ["D"]}
    read = Piece.model_validate({"id": "pc_1", "changes": changes}).changes
    assert read is not None and read.breaks == 2


def test_a_package_without_a_name_is_left_out() -> None:
    found = Packages.model_validate({"data": [{"name": "X"}, {"package": "p", "licence": "MIT", "author": "Acme"}]})
    assert [(each.name, each.licence_notice) for each in found.items] == [("p", "MIT, Acme")]


class Recorder:
    """Notes what is asked, and answers with one integration."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any]] = []

    def as_project(self, method: str, path: str, **call: Any) -> Any:
        self.asked.append((method, path, call.get("body") or call.get("params")))
        if path == "/v1/pieces" and method == "GET":
            raise NotFound("No.")
        return {"id": "pc_1", "name": "Shop"}


def test_each_verb_asks_its_operation() -> None:
    recorder = Recorder()
    pieces = PieceClient(cast(ConnectClient, recorder))
    assert pieces.list() is None
    assert pieces.begin("shop").name == "Shop"
    pieces.begin("shop", "1.1.0")
    pieces.confirm("pc/1", ["a.example"], version="1.1.0", hidden=True)
    pieces.look_for_newer()
    pieces.hide("pc_1", hidden=False)
    pieces.set_hosts("pc_1", ())
    pieces.allow("pc_1", "a.example")
    pieces.stop("pc_1")
    pieces.remove("pc_1")
    assert recorder.asked[1:] == [
        ("POST", "/v1/pieces", {"name": "shop"}),
        ("POST", "/v1/pieces", {"name": "shop", "version": "1.1.0"}),
        ("POST", "/v1/pieces/pc%2F1/confirm", {"hosts": ["a.example"], "hidden": True, "version": "1.1.0"}),
        ("POST", "/v1/pieces/look", None),
        ("PATCH", "/v1/pieces/pc_1", {"hidden": False}),
        ("PATCH", "/v1/pieces/pc_1", {"hosts": []}),
        ("POST", "/v1/pieces/pc_1/allow", {"host": "a.example"}),
        ("POST", "/v1/pieces/pc_1/stop", None),
        ("DELETE", "/v1/pieces/pc_1", {"with_uses": True}),
    ]
