"""The whole API of an app: its operations join the app, and nothing of the app's own is lost or taken."""

import json
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openapi_documents import query, root
from webapp.errors import Invalid
from webapp.service.catalog import sources
from webapp.service.catalog.importing.extensions import (
    Change,
    Choice,
    Extended,
    Origin,
    content,
    extend,
    folder_of,
    listed,
    remove,
    tags,
)
from webapp.service.catalog.sources import Places
from webapp.service.catalog.spec import ApiDocument, AppSpec

PATHS: dict[str, Any] = {
    "/pets": {
        "get": {"operationId": "listPets", "summary": "List pets", "tags": ["Pets"]},
        "post": {"operationId": "createPet", "summary": "Create a pet", "tags": ["Pets"]},
    },
    "/shops/{shop}": {
        "get": {"operationId": "getShop", "tags": ["Shops"], "parameters": [query("X-Key", {"type": "string"})]}
    },
    "/old": {"get": {"operationId": "old", "deprecated": True}},
}
ORIGIN = Origin("npm:@acme/openapi", "1.0.0", "sha512-AAAA", "openapi.json", 5)


def spec(**more: Any) -> AppSpec:
    facts = {
        "slug": "acme", "name": "Acme", "description": "Pets.", "categories": ["crm"], "auth_type": "keys",
        "logo": {"letter": "A", "color": "#112233"}, "docs_url": "https://acme.example/docs",
        "base_url": "https://api.acme.example/v1", "allowed_hosts": ["api.acme.example"],
        "credentials": [{"place": "query", "name": "X-Key", "value": "{key}", "source": "https://acme.example"}],
    }  # fmt: skip
    return AppSpec.model_validate({**facts, **more})


def facts(**more: Any) -> ApiDocument:
    fields = {"package": "npm:@acme/openapi", "path": "openapi.json", "source": "https://acme.example"}
    return ApiDocument.model_validate({**fields, "read_on": date(2026, 11, 28), **more})


def extended(
    data: Path,
    only: tuple[str, ...] | None = None,
    hosts: tuple[str, ...] = (),
    paths: dict[str, Any] | None = None,
    app: Extended | None = None,
    document: ApiDocument | None = None,
    *,
    preview: bool = False,
    **more: Any,
) -> Change:
    text = json.dumps(root(PATHS if paths is None else paths, **more)).encode()
    app = app or Extended(spec(), ("create-pet",))
    return extend(data, app, document or facts(), ORIGIN, text, Choice(only, hosts), preview=preview)


def action(data: Path, name: str) -> dict[str, Any]:
    file = folder_of(data, "acme", "api") / "actions" / f"{name}.toml"
    return tomllib.loads(file.read_text("utf-8"))


def test_every_operation_that_is_not_deprecated_is_an_action_of_the_app(tmp_path: Path) -> None:
    change = extended(tmp_path)
    assert change.added == ("api-get-me", "api-list-pets", "api-create-pet", "api-get-shop")
    listing = action(tmp_path, "api-list-pets")
    assert (listing["name"], listing["tag"]) == ("List pets", "Pets")
    assert listing["request"] == {"method": "GET", "url": "/pets"}
    assert listing["props"] == {"account": {"type": "app", "app": "acme"}}
    (extension,) = listed(tmp_path, "acme")
    assert (extension.count, extension.origin, extension.only) == (4, ORIGIN, None)
    assert [(each.id, each.on) for each in tags(extension)["Others"]] == [("GET /me", True), ("GET /old", False)]
    assert json.loads(content(tmp_path, "acme", "api"))["info"]["title"] == "Acme"


def test_what_the_account_knows_nobody_is_asked_for(tmp_path: Path) -> None:
    extended(tmp_path, document=facts(values={"shop": "{$account.shop}"}))
    shop = action(tmp_path, "api-get-shop")
    assert list(shop["props"]) == ["account"]
    assert shop["request"]["url"] == "/shops/{$account.shop}"


def test_operations_are_switched_by_tag_and_by_name_and_keep_their_names(tmp_path: Path) -> None:
    extended(tmp_path, ("Pets",))
    change = extended(tmp_path, ("GET /pets", "getShop"))
    assert (change.added, change.removed) == (("api-get-shop",), ("api-create-pet",))
    assert extended(tmp_path, ()).extension.count == 0
    assert extended(tmp_path, ("POST /pets",)).added == ("api-create-pet",)


def test_a_name_of_the_apps_own_is_never_taken(tmp_path: Path) -> None:
    app = Extended(spec(), ("api-list-pets",))
    assert "api-list-pets-get" in extended(tmp_path, app=app).added


def test_a_host_that_the_app_does_not_have_waits_for_an_owner(tmp_path: Path) -> None:
    paths = {"/files": {"get": {"operationId": "files", "servers": [{"url": "https://files.acme.example"}]}}}
    change = extended(tmp_path, paths=paths)
    assert change.extension.waiting == {"files.acme.example": 1}
    (waiting,) = (each for each in change.extension.operations if each.id == "GET /files")
    assert (waiting.on, waiting.reason) == (
        False, "it is at files.acme.example, which Acme does not have until an owner confirms it",
    )  # fmt: skip
    confirmed = extended(tmp_path, None, ("files.acme.example",), paths=paths)
    assert confirmed.added == ("api-files",)
    assert action(tmp_path, "api-files")["request"]["url"] == "https://files.acme.example/files"


def test_only_what_an_owner_confirmed_widens_the_hosts_of_the_app(tmp_path: Path) -> None:
    own = tmp_path / "own" / "acme" / "app.toml"
    own.parent.mkdir(parents=True)
    own.write_bytes(
        b'slug = "acme"\nname = "Acme"\ndescription = "Pets."\ncategories = ["crm"]\nauth_type = "keys"\n'
        b'docs_url = "https://acme.example"\nbase_url = "https://api.acme.example"\n'
        b'allowed_hosts = ["api.acme.example"]\n[logo]\nletter = "A"\ncolor = "#112233"\n'
    )
    places = Places([tmp_path / "own"], tmp_path / "none", extensions=tmp_path / "extensions")
    extended(tmp_path, None, ("files.acme.example",))
    (app,) = sources.read(places).apps
    assert app.spec.allowed_hosts == ("api.acme.example", "files.acme.example")
    assert "acme-api-list-pets" in {component.key for component in app.components}


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ("/", "/pets"),
        ("/v2", "/v2/pets"),
        ("https://api.acme.example/v9", "https://api.acme.example/v9/pets"),
        ("https://api.acme.example/v1/next", "/next/pets"),
    ],
)
def test_the_facts_may_say_where_paths_are_served(server: str, url: str, tmp_path: Path) -> None:
    extended(tmp_path, document=facts(server=server))
    assert action(tmp_path, "api-list-pets")["request"]["url"] == url


def test_a_preview_and_a_refusal_change_nothing(tmp_path: Path) -> None:
    assert len(extended(tmp_path, preview=True).added) == 4
    assert listed(tmp_path) == []
    many = {f"/things/{number}": {"get": {"operationId": f"thing{number}"}} for number in range(1501)}
    with pytest.raises(Invalid, match=r"1,502 operations, and an app has 1,500 at most"):
        extended(tmp_path, paths=many)
    assert listed(tmp_path) == []


def test_another_document_says_what_changes(tmp_path: Path) -> None:
    extended(tmp_path)
    newer = {"/pets": {"get": {**PATHS["/pets"]["get"], "summary": "List all pets"}}, "/toys": {"get": {}}}
    change = extended(tmp_path, paths=newer)
    assert (change.added, change.changed, change.same) == (("api-get-toys",), ("api-list-pets",), ("api-get-me",))
    assert change.removed == ("api-create-pet", "api-get-shop")
    assert action(tmp_path, "api-list-pets")["version"] == "0.0.2"


def test_a_file_that_was_changed_by_hand_stays(tmp_path: Path) -> None:
    extended(tmp_path)
    file = folder_of(tmp_path, "acme", "api") / "actions" / "api-list-pets.toml"
    file.write_text(file.read_text("utf-8") + "# Mine.\n", "utf-8")
    assert extended(tmp_path).notes == ("actions/api-list-pets.toml was changed by hand and stays as it is.",)
    assert "# Mine." in file.read_text("utf-8")


def test_it_is_removed_whole(tmp_path: Path) -> None:
    extended(tmp_path)
    remove(tmp_path, "acme", "api")
    assert listed(tmp_path) == []
    with pytest.raises(Invalid, match="not on this machine any more"):
        content(tmp_path, "acme", "api")


def test_the_part_of_paths_that_the_base_address_has_is_left_out(tmp_path: Path) -> None:
    paths = {"/v1/{shop}/pets": {"get": {"operationId": "listPets"}}, "/v1": {"get": {}}}
    change = extended(tmp_path, paths=paths, document=facts(server="/", within="/v1/{shop}"))
    assert change.added == ("api-list-pets",)
    listing = action(tmp_path, "api-list-pets")
    assert (listing["request"]["url"], list(listing["props"])) == ("/pets", ["account"])
    assert [each.id for each in change.extension.operations] == ["GET /v1/{shop}/pets"]


def test_an_operation_that_a_document_tells_apart_by_a_fragment_is_at_its_path(tmp_path: Path) -> None:
    paths: dict[str, Any] = {
        path: {"get": {}} for path in ("/{shop}", "/{shop}#tags", "/{shop}/pets#tags", "/answers#tags")
    }
    found = extended(tmp_path, paths=paths, document=facts(server="/", below=["/{shop}"])).extension.operations
    assert {each.id for each in found} == {"GET /{shop}", "GET /{shop}#tags", "GET /{shop}/pets#tags"}


def test_scopes_of_an_app_with_oauth_are_kept_as_alternatives(tmp_path: Path) -> None:
    client = {"console_url": "https://acme.example", "steps": ["Make one."], "source": "https://acme.example"}
    oauth = {
        "authorize_url": "https://acme.example/a", "token_url": "https://acme.example/t", "client": client,
        "sources": ["https://acme.example"], "refresh": "none",
    }  # fmt: skip
    app = Extended(spec(auth_type="oauth", oauth=oauth, credentials=[]), ())
    paths: dict[str, Any] = {
        "/pets": {"get": {"security": [{"o": ["read", "pets"]}, {"o": ["all"]}]}},
        "/open": {"get": {"security": [{"o": ["read"]}, {}]}},
    }
    extended(tmp_path, paths=paths, app=app)
    assert action(tmp_path, "api-get-pets")["scopes"] == [["read", "pets"], ["all"]]
    assert "scopes" not in action(tmp_path, "api-get-open")
