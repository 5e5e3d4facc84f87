"""``patchbay app``: an API becomes an app by its OpenAPI document, and what it lacks is told."""

import json
from pathlib import Path

import pytest

from tests.cli.in_process import Commands
from tests.fakes import mcp_server
from tests.fakes.api_archives import integrity, tarball
from tests.fakes.openapi_documents import root
from webapp.service.catalog import api_documents
from webapp.service.catalog.importing import plans
from webapp.service.domain.base import catalog_file
from webapp.service.pieces import npm_tarballs
from webapp.service.pieces.package_archives import Archive


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of an API whose catalog is not built."""
    monkeypatch.setattr(catalog_file, "update", lambda service: None)
    paths = {"/pets": {"get": {"operationId": "listPets", "tags": ["Pets"]}, "trace": {}}}
    file = tmp_path / "acme.json"
    file.write_text(json.dumps(root(paths)), "utf-8")
    return str(file)


def test_an_app_is_previewed_and_imported(patchbay: Commands, document: str, data: Path) -> None:
    preview = patchbay.run("app", "import", document, "--slug", "acme", "--preview")
    assert preview.stdout.startswith("This would be the app Acme with 2 actions.\n")
    assert preview.stderr == "TRACE /pets is no action: actions send no such request.\n"
    assert not (data / "apps" / "acme").exists()

    made = patchbay.json("app", "import", document, "--slug", "acme", "--only", "Pets, getMe")
    assert (made["actions"], made["added"], made["auth"], made["test"]) == (2, 2, "key", "GET /me")
    assert made["left"] == [{"operation": "TRACE /pets", "reason": "actions send no such request"}]


def test_importing_again_tells_what_is_gone_and_what_stays_until_the_app_is_removed(
    patchbay: Commands, document: str, data: Path
) -> None:
    patchbay.json("app", "import", document, "--slug", "acme")
    app = data / "apps" / "acme" / "app.toml"
    app.write_text(app.read_text("utf-8") + "# Mine.\n", "utf-8")
    Path(document).write_text(json.dumps(root({})), "utf-8")
    again = patchbay.run("app", "import", document, "--slug", "acme")
    assert "removed  list-pets" in again.stdout
    assert again.stderr == "app.toml was changed by hand and stays as it is.\n"
    (listed,) = patchbay.json("app", "list")["apps"]
    assert (listed["slug"], listed["actions"], listed["accounts"], listed["source"]) == ("acme", 1, 0, "acme.json")
    assert patchbay.json("app", "remove", "acme") == {"slug": "acme", "actions": 1}


def test_what_cannot_be_imported_is_one_sentence(patchbay: Commands, document: str, data: Path) -> None:
    assert "There is no file nowhere.json" in patchbay.refused("app", "import", "nowhere.json", "--slug", "acme")
    assert "built-in app" in patchbay.refused("app", "import", document, "--slug", "github")
    Path(document).write_text('{"openapi": ', "utf-8")
    assert "cannot be read as JSON" in patchbay.refused("app", "import", document, "--slug", "acme")
    assert not (data / "apps").exists()
    assert "No app nothing was imported" in patchbay.refused("app", "remove", "nothing")


@pytest.mark.parametrize(("slug", "words"), [("acme_shop", ()), ("globex", ("--oauth",))])
def test_what_new_writes_is_sound(patchbay: Commands, data: Path, slug: str, words: tuple[str, ...]) -> None:
    written = patchbay.json("app", "new", slug, *words)
    assert Path(written["path"]) == data / "apps" / slug / "app.toml"
    checked = patchbay.json("catalog", "check", slug)
    assert ([row["slug"] for row in checked["apps"]], checked["problems"]) == ([slug], [])
    assert "already" in patchbay.refused("app", "new", slug)


@pytest.mark.parametrize(("slug", "said"), [("Acme", "lower case"), ("slack_v2", "already")])
def test_a_slug_that_cannot_be_one(patchbay: Commands, slug: str, said: str) -> None:
    assert said in patchbay.refused("app", "new", slug)


def test_of_a_document_with_too_many_operations_a_preview_lists_the_tags(
    patchbay: Commands, document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "MOST_ACTIONS", 1)
    preview = patchbay.run("app", "import", document, "--slug", "acme", "--preview")
    lines = [line.split() for line in preview.stdout.splitlines()]
    assert lines == [["name", "operations"], ["me", "1"], ["Pets", "1"]]
    assert "These are 2 operations, and an app has 1 at most." in preview.stderr and "--only" in preview.stderr
    assert patchbay.json("app", "import", document, "--slug", "acme", "--preview")["excess"] == 2
    assert "an app has 1 at most" in patchbay.refused("app", "import", document, "--slug", "acme")
    narrowed = patchbay.json("app", "import", document, "--slug", "acme", "--only", "Pets", "--preview")
    assert (narrowed["excess"], narrowed["actions"]) == (0, 1)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package with the description of GitHub's API, as small as a test needs it."""
    monkeypatch.setattr(catalog_file, "update", lambda service: None)
    paths = {
        "/user": {"get": {"operationId": "users/get-authenticated", "tags": ["users"]}},
        "/gists": {"get": {"operationId": "gists/list", "tags": ["gists"]}, "options": {}},
        "/elsewhere": {"get": {"servers": [{"url": "https://elsewhere.example"}]}},
    }
    path = tarball(tmp_path, root(paths, servers=[{"url": "https://api.github.com"}]))
    known = {"npm:@octokit/openapi": {"version": "1.0.0", "integrity": integrity(path)}}
    monkeypatch.setattr(api_documents, "_packages", lambda: known)
    monkeypatch.setattr(Archive, "read", lambda archive, wanted, most: npm_tarballs.member(path, "openapi.json", most))
    return str(path)


def test_an_app_gets_its_whole_api_and_loses_it_again(patchbay: Commands, archive: str) -> None:
    listing = patchbay.json("app", "extend", "github", "--list", "--from", archive)["operations"]
    assert [each["action"] for each in listing] == [
        "github-api-get-me", "github-api-users-get-authenticated", "github-api-gists-list", "",
    ]  # fmt: skip
    chosen = patchbay.json("app", "extend", "github", "--only", "users, gists", "--from", archive)
    assert (chosen["actions"], chosen["operations"], chosen["from"]) == (2, 4, ["npm:@octokit/openapi@1.0.0"])
    every = patchbay.run("app", "extend", "github", "--preview")
    assert every.stdout.startswith("This would be so: the API of github with 3 actions.\n")
    assert every.stderr == (
        "1 operations are at elsewhere.example, which the app does not have; --host elsewhere.example confirms it.\n"
    )
    assert patchbay.json("app", "extend", "github", "--host", "elsewhere.example")["actions"] == 4
    assert patchbay.json("app", "extend", "github", "--update", "--from", archive)["added"] == 0
    assert "no tag and no operation 'toys'" in patchbay.refused("app", "extend", "github", "--only", "toys")
    assert patchbay.json("app", "extend", "github", "--remove") == {"slug": "github", "actions": 4}
    assert "was not added" in patchbay.refused("app", "extend", "github", "--remove")


def test_an_mcp_server_becomes_an_app_and_is_added_again(patchbay: Commands, document: str, data: Path) -> None:
    with mcp_server.serving(key="right") as server:
        patchbay.env["PATCHBAY_ALLOW_HOSTS"] = server.host
        asked = ("app", "mcp", server.url, "--slug", "notes")
        assert "The server asks for a sign-in" in patchbay.refused(*asked)
        assert "There was no key on standard input." in patchbay.refused(*asked, "--key", input="\n")
        preview = patchbay.run(*asked, "--key", "--preview", input="right\n")
        assert preview.stdout.startswith("This would be the app Notes with 2 actions.\n")
        assert not (data / "apps" / "notes").exists()
        made = patchbay.json(*asked, "--key", "--only", "search_notes", input="right\n")
        assert (made["actions"], made["added"], made["auth"]) == (1, 1, "bearer")
        assert "right" not in json.dumps(made)
        (listed,) = patchbay.json("app", "list")["apps"]
        assert listed["source"] == f"mcp:{server.url}"
        assert "Name the project" in patchbay.refused(*asked, "--account", "apn_x")
