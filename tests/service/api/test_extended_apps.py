"""The whole API of an app is looked at, chosen, updated and removed by a client of the whole workspace."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.api_archives import integrity, tarball
from tests.fakes.openapi_documents import root
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import Api, AppSpec
from webapp.service.domain.base import catalog_file
from webapp.service.domain.instance import api_extensions
from webapp.service.pieces import package_archives
from webapp.service.pieces.package_archives import Package

ONE = "/v1/extended_apps/tinykeys"
PATHS: dict[str, Any] = {
    "/pets": {"get": {"operationId": "listPets", "summary": "List pets", "tags": ["Pets"]}},
    "/shops": {"get": {"operationId": "listShops", "tags": ["Shops"]}},
    "/far": {"get": {"servers": [{"url": "https://far.example"}]}},
}


@pytest.fixture(autouse=True)
def registry(world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A registry whose newest release is the last; the catalog is not built anew, which takes seconds."""
    monkeypatch.setattr(catalog_file, "update", lambda service: None)
    folder = tmp_path / "registry"
    folder.mkdir()
    base = world.service.catalog.app("tinykeys").spec.base_url
    releases = [tarball(folder, root(PATHS, servers=[{"url": base}]), "acme-openapi-1.0.0.tgz")]
    newer = {"/pets": PATHS["/pets"], "/toys": {"get": {"operationId": "listToys"}}}
    releases.append(tarball(folder, root(newer, servers=[{"url": base}]), "acme-openapi-1.1.0.tgz"))
    fields = {"package": "npm:acme-openapi", "version": "1.0.0", "integrity": integrity(releases[0])}
    document = {**fields, "path": "openapi.json", "source": "https://acme.example", "read_on": "2026-11-28"}
    api, read = Api.model_validate({"documents": [document]}), App.spec.fget  # type: ignore[attr-defined]

    def spec(app: App) -> AppSpec:
        known: AppSpec = read(app)
        return known.model_copy(update={"api": api}) if app.slug == "tinykeys" else known

    def bring(package: Package, draft: Path, registry: str | None) -> None:
        path = releases[0 if package.version == "1.0.0" else 1]
        (draft / path.name).write_bytes(path.read_bytes())

    monkeypatch.setattr(App, "spec", property(spec))
    monkeypatch.setattr(package_archives, "_bring", bring)
    return releases


def put(world: Any, **body: Any) -> Any:
    return world.call("PUT", ONE, world.server(), json=body)


def test_it_is_looked_at_before_anything_is_added(world: Any) -> None:
    before = world.get(ONE, world.server()).json
    (document,) = before["documents"]
    assert (document["version"], document["brought_at"], before["operations"]) == ("1.0.0", None, [])
    assert put(world, only=[]).json["added"] == []
    after = world.get(ONE, world.server()).json
    assert [(each["operation"], each["action"], each["on"]) for each in after["operations"]] == [
        ("GET /me", "tinykeys-api-get-me", False), ("GET /pets", "tinykeys-api-list-pets", False),
        ("GET /shops", "tinykeys-api-list-shops", False), ("GET /far", None, False),
    ]  # fmt: skip
    assert after["documents"][0]["waiting_hosts"] == {"far.example": 1}
    assert [each["name_slug"] for each in world.get("/v1/extended_apps", world.server()).json["data"]] == ["tinykeys"]


def test_operations_are_found_by_words_and_by_tag(world: Any) -> None:
    put(world, only=["Pets"])
    found = world.get(f"{ONE}?q=list+PETS", world.server()).json
    assert ([each["operation"] for each in found["operations"]], found["matching"]) == (["GET /pets"], 1)
    shops = world.get(f"{ONE}?tag=Shops", world.server()).json
    assert [each["operation"] for each in shops["operations"]] == ["GET /shops"]
    summary = world.get(f"{ONE}?summary=true", world.server()).json
    assert (summary["operations"], summary["matching"]) == ([], 4)
    assert summary["tags"] == found["tags"] == [
        {"tag": "Others", "operations": 2, "on": 0, "possible": 1},
        {"tag": "Pets", "operations": 1, "on": 1, "possible": 1},
        {"tag": "Shops", "operations": 1, "on": 0, "possible": 1},
    ]  # fmt: skip
    assert world.get(f"{ONE}?q=none+such", world.server()).json["matching"] == 0


def test_operations_are_listed_in_parts(world: Any) -> None:
    put(world, only=[])

    def listed(query: str) -> tuple[list[str], int]:
        found = world.get(f"{ONE}?{query}", world.server()).json
        return [each["operation"] for each in found["operations"]], found["matching"]

    assert listed("offset=1&limit=2") == (["GET /pets", "GET /shops"], 4)
    assert listed("offset=3&limit=2") == (["GET /far"], 4)
    assert listed("q=get&offset=2") == (["GET /shops", "GET /far"], 4)
    assert listed("tag=Others&limit=1") == (["GET /me"], 2)
    assert listed("offset=999999") == ([], 4)
    for wrong in ("offset=-1", "offset=x", "offset=1000000", "limit=0", "limit=101"):
        assert world.get(f"{ONE}?{wrong}", world.server()).status_code == 400, wrong


def test_operations_are_switched_and_a_host_is_confirmed(world: Any) -> None:
    put(world, only=["Pets"])
    assert put(world, add=["Shops"], preview=True).json["added"] == ["tinykeys-api-list-shops"]
    report = put(world, add=["Shops"], remove=["GET /pets"]).json
    assert (report["added"], report["removed"]) == (["tinykeys-api-list-shops"], ["tinykeys-api-list-pets"])
    confirmed = put(world, add=[], hosts=["far.example"]).json
    assert (confirmed["documents"][0]["hosts"], confirmed["added"]) == (["far.example"], [])
    assert put(world, add=["GET /far"]).json["added"] == ["tinykeys-api-get-far"]
    everything = put(world, hosts=["far.example"]).json
    assert everything["documents"][0]["actions"] == 4


def test_a_newer_release_is_used_as_it_was_shown(world: Any, registry: list[Path]) -> None:
    put(world)
    shown = world.call("POST", f"{ONE}/update", world.server(), json={}).json
    assert (shown["preview"], shown["added"]) == (True, ["tinykeys-api-list-toys"])
    (document,) = shown["documents"]
    assert (document["version"], document["integrity"]) == ("1.1.0", integrity(registry[1]))
    release = {name: document[name] for name in ("package", "version", "integrity")}
    wrong = world.call(
        "POST", f"{ONE}/update", world.server(), json={"releases": [{**release, "integrity": "sha512-A"}]}
    )
    assert wrong.status_code == 400 and "its integrity differs" in wrong.text
    for changed, named in (
        ({"version": "https://inside.example/x.tgz"}, "version"),
        ({"version": "latest"}, "version"),
        ({"version": "npm:other@1.0.0"}, "version"),
        ({"integrity": ""}, "integrity"),
        ({"integrity": "md5-AAAA"}, "integrity"),
        ({"package": "npm:another"}, "releases"),
    ):
        refused = world.call("POST", f"{ONE}/update", world.server(), json={"releases": [{**release, **changed}]})
        assert refused.status_code == 400 and named in refused.text, changed
    used = world.call("POST", f"{ONE}/update", world.server(), json={"releases": [release]}).json
    assert (used["preview"], used["removed"]) == (False, ["tinykeys-api-list-shops"])
    assert world.get(ONE, world.server()).json["documents"][0]["version"] == "1.1.0"


def test_the_app_says_it_and_it_is_removed_whole(world: Any) -> None:
    put(world, only=["Pets"])
    app = world.get("/v1/connect/apps/tinykeys?extensions=true", world.server()).json["data"]
    whole = app["patchbay"]["whole_api"]
    assert (whole["name_slug"], whole["package"], whole["actions"]) == ("tinykeys", "npm:acme-openapi", 1)
    assert whole["version"] == "1.0.0" and whole["brought_at"]
    other = world.get("/v1/connect/apps/tinyoauth?extensions=true", world.server()).json["data"]
    assert other["patchbay"]["whole_api"] is None
    assert world.call("DELETE", ONE, world.server()).status_code == 204
    assert world.call("DELETE", ONE, world.server()).status_code == 404
    assert world.get("/v1/extended_apps", world.server()).json == {"data": []}


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({"only": ["Cats"]}, 400, "no tag and no operation 'Cats'"),
        ({"add": ["Cats"]}, 409, "Bring the description first"),
    ],
)
def test_what_cannot_be_chosen_is_reported(world: Any, body: dict[str, Any], status: int, told: str) -> None:
    answer = put(world, **body)
    assert answer.status_code == status and told in answer.text


def test_other_apps_have_none_and_other_clients_may_not(world: Any) -> None:
    assert world.get("/v1/extended_apps/tinyoauth", world.server()).status_code == 404
    assert api_extensions.listed(world.service) == []
