"""What is said of an integration, read leniently."""

from webapp.dashboard.client.models.pieces import Packages, Piece


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
