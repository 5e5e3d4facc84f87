"""What integrations keep for their users: theirs alone, sealed, bounded, and gone with them."""

from pathlib import Path
from typing import Any, cast

import pytest

from tests.service.domain.pieces.planted import plant
from tests.service.quotas import with_quotas
from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import piece_stores, runs
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.instance import removal, rotation
from webapp.service.domain.pieces import owner_decisions
from webapp.service.domain.projects import external_users, projects
from webapp.service.domain.projects.projects import Scene


class Part:
    """As much of a component as is asked."""

    def __init__(self, package: str) -> None:
        self.path = Path(package)


SHOP, OTHER, OURS = (cast("ComponentInfo", Part(name)) for name in ("@acme_piece-shop", "@acme_piece-other", ""))


def asked(scene: Scene, user: str = "alice", component: ComponentInfo = SHOP) -> ComponentRequest:
    return ComponentRequest(scene, user, component, {})


@pytest.fixture(autouse=True)
def _packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piece_hosts, "package_of", lambda path: "" if path == "." else path.replace("_", "/"))


@pytest.fixture
def keep(service: Service, scene: Scene) -> Any:
    def keep(component: ComponentInfo = SHOP, user: str = "alice", **changes: Any) -> Reply:
        return kept(service, asked(scene, user, component), Reply("done", state=changes))

    return keep


def begun(service: Service, request: ComponentRequest) -> str:
    run = runs.Run(request.external_id, "cmp_1", "shop-note", "1.0.0", None, service.clock())
    runs.begin(service, request.scene, run, {})
    return run.id


def kept(service: Service, request: ComponentRequest, reply: Reply) -> Reply:
    return piece_stores.kept(service, request, reply, begun(service, request))


def test_it_is_there_in_the_next_run_of_the_same_user_only(service: Service, scene: Scene, keep: Any) -> None:
    assert keep(a=1, b={"c": ["d"]}).value == "done"
    keep(a=2, e=None)
    assert piece_stores.values(service, asked(scene)) == {"a": 2, "b": {"c": ["d"]}}
    production = Scene(scene.project_id, "production")
    others = [(scene, "bob", SHOP), (scene, "alice", OTHER), (production, "alice", SHOP), (scene, "alice", OURS)]
    assert [piece_stores.values(service, asked(*other)) for other in others] == [{}] * 4


def test_what_is_taken_away_is_gone(service: Service, scene: Scene, keep: Any) -> None:
    keep(a=1, b=2)
    keep(a=None)
    assert piece_stores.values(service, asked(scene)) == {"b": 2}
    keep(b=None)
    assert service.store.all("SELECT * FROM piece_stores") == []


def test_a_component_that_is_of_no_integration_keeps_nothing(service: Service, keep: Any) -> None:
    assert keep(OURS, a=1).value == "done"
    assert service.store.all("SELECT * FROM piece_stores") == []


def test_a_run_that_failed_keeps_what_it_kept_before(service: Service, scene: Scene) -> None:
    failed = Reply(None, error=ErrorInfo("exception", "E", "No."), state={"a": 1})
    assert kept(service, asked(scene), failed) is failed
    assert piece_stores.values(service, asked(scene)) == {"a": 1}


def test_it_is_bounded_and_a_run_beyond_says_so(service: Service, scene: Scene, keep: Any) -> None:
    keep(a=1)
    reply = keep(b="x" * piece_stores.MAX_BYTES)
    assert reply.error is not None and reply.value is None
    assert reply.error.message == "Its data was not saved. An integration keeps at most 256 KiB for a user."
    assert reply.observations[-1].err == reply.error
    assert piece_stores.values(service, asked(scene)) == {"a": 1}


def test_all_of_one_user_are_bounded_together(service: Service, scene: Scene) -> None:
    strict = with_quotas(service, USER_STORE_KB=1)
    changes = {"a": "x" * 600}
    replies = [
        kept(strict, asked(scene, user, component), Reply("done", state=changes))
        for user, component in (("alice", SHOP), ("alice", SHOP), ("alice", OTHER), ("bob", OTHER))
    ]
    assert [reply.ok for reply in replies] == [True, True, False, True]
    assert replies[2].error is not None and "at most 1 KiB for one user" in replies[2].error.message


def test_it_stands_sealed_and_is_sealed_anew_with_new_keys(service: Service, scene: Scene, keep: Any) -> None:
    keep(secret="t0psecret")
    (row,) = service.store.all("SELECT * FROM piece_stores")
    assert b"t0psecret" not in bytes(row["values_sealed"])
    assert rotation.rotate(service).resealed["piece_stores"] == 1
    assert piece_stores.values(service, asked(scene)) == {"secret": "t0psecret"}


def test_it_goes_with_the_user(service: Service, scene: Scene, keep: Any) -> None:
    keep(a=1)
    keep(user="bob", a=1)
    removal.user(service, external_users.get(service.store, scene, "alice"))
    assert piece_stores.values(service, asked(scene, "bob")) == {"a": 1}
    assert [row["size"] for row in service.store.all("SELECT size FROM piece_stores")] == [7]


@pytest.mark.parametrize("deleted", ["user", "project"])
def test_a_run_keeps_nothing_once_its_user_or_project_is_deleted(
    service: Service, scene: Scene, keep: Any, deleted: str
) -> None:
    keep(a=1)
    run_id = begun(service, asked(scene))
    if deleted == "user":
        removal.user(service, external_users.get(service.store, scene, "alice"))
    else:
        with service.store.write() as tx:
            projects.erase(service, tx, scene.project_id)
    reply = Reply("done", state={"b": 2})
    assert piece_stores.kept(service, asked(scene), reply, run_id) is reply
    assert external_users.find(service.store, scene, "alice") is None
    assert service.store.all("SELECT * FROM piece_stores") == []


def test_it_goes_with_the_project(service: Service, scene: Scene, keep: Any) -> None:
    keep(a=1)
    with service.store.write() as tx:
        projects.erase(service, tx, scene.project_id)
    assert service.store.all("SELECT * FROM piece_stores") == []


@pytest.mark.parametrize("stays", [True, False])
def test_it_goes_with_the_integration_unless_what_is_used_stays(
    service: Service, scene: Scene, keep: Any, stays: bool
) -> None:
    piece = plant(service)
    keep(a=1)
    keep(OTHER, a=1)
    owner_decisions.remove(service, piece.id, with_uses=stays)
    assert piece_stores.values(service, asked(scene)) == ({"a": 1} if stays else {})
    assert piece_stores.values(service, asked(scene, component=OTHER)) == {"a": 1}
