"""What the table ``[mcp]`` of an app becomes: the app of a server, beside one with requests of its own or alone."""

from pathlib import Path
from typing import Any

import pytest

from webapp.service.catalog.check import judge
from webapp.service.catalog.hosted_servers import key_way, taken_up
from webapp.service.catalog.importing.security import by_hand
from webapp.service.catalog.sources import Places, Sources, read
from webapp.service.catalog.spec import AppSpec, Category

MCP = """
[mcp]
url = "https://mcp.acme.example/mcp"
source = "https://docs.acme.example/mcp"
read_on = 2026-11-28
"""
LOOKS = """
slug = "acme"
name = "Acme"
description = "Rockets and anvils."
categories = ["tools"]
"""
LOGO = '\n[logo]\nletter = "A"\ncolor = "#336699"\n'
ALONE = LOOKS + LOGO + MCP
BOTH = LOOKS + 'auth_type = "none"\n' + LOGO + MCP


def sources(folder: Path, text: str, **own: str) -> Sources:
    """What is read of one built-in app, and of the operator's ``own`` by their slugs."""
    files = {folder / "shipped" / "acme" / "app.toml": text}
    files |= {folder / "own" / slug / "app.toml": toml for slug, toml in own.items()}
    for file, toml in files.items():
        file.parent.mkdir(parents=True)
        file.write_text(toml, encoding="utf-8")
    found = read(Places([folder / "own"], folder / "shipped"))
    found.categories = {"tools": Category(slug="tools", name="Tools", description="Things.")}
    return found


def spec(found: Sources, slug: str) -> AppSpec:
    assert (found.problems, judge(found).problems) == ([], ())
    return next(app.spec for app in found.apps if app.spec.slug == slug)


def test_a_server_stands_beside_the_app_of_its_provider(tmp_path: Path) -> None:
    found = sources(tmp_path, BOTH)
    assert [app.spec.slug for app in found.apps] == ["acme", "acme_mcp"]
    app, server = spec(found, "acme"), spec(found, "acme_mcp")
    assert app.mcp is None and server.mcp is not None
    assert (server.name, server.logo, server.mcp.beside, server.mcp.way) == (
        "Acme (MCP)",
        app.logo,
        "acme",
        "registers",
    )
    assert server.oauth is not None and server.oauth.client.provider == "Acme"


@pytest.mark.parametrize(
    ("more", "auth_type", "way"),
    [
        ("", "oauth", "registers"),
        ("registers = false\n", "oauth", "client"),
        ('auth = "key"\n', "keys", "key"),
        ('auth = "key"\nheader = "X-Key"\n', "keys", "key"),
        ('auth = "none"\n', "none", "none"),
    ],
)
def test_alone_it_is_the_app(tmp_path: Path, more: str, auth_type: str, way: str) -> None:
    app = spec(sources(tmp_path, ALONE + more), "acme")
    assert app.mcp is not None
    assert (app.auth_type, app.mcp.way, app.docs_url) == (auth_type, way, "https://docs.acme.example/mcp")
    if way == "key":
        imported = by_hand(key_way(app.mcp.header), "https://docs.acme.example/mcp")
        assert imported is not None  # an account keeps its values when the importer has read the tools
        assert [field.name for field in app.fields] == [field["name"] for field in imported.fields]
        assert app.credentials[0].model_dump(include={*imported.credentials[0]}) == imported.credentials[0]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ('header = "X-Key"\n', 'header and key_name belong to auth = "key"'),
        ('auth = "none"\nregisters = false\n', 'registers = false belongs to auth = "oauth"'),
    ],
)
def test_what_does_not_fit_is_one_sentence(tmp_path: Path, wrong: str, sentence: str) -> None:
    found = sources(tmp_path, ALONE + wrong)
    assert found.apps == [] and found.problems == [f"acme/app.toml: mcp: {sentence}."]


@pytest.mark.parametrize(
    "url", ["http://mcp.acme.example/mcp", "https://mcp.acme.example", "https://a.example/mcp?x=1"]
)
def test_its_address_is_encrypted_and_whole(tmp_path: Path, url: str) -> None:
    found = sources(tmp_path, ALONE.replace("https://mcp.acme.example/mcp", url))
    assert [problem.partition(": ")[2][:8] for problem in found.problems] == ["mcp.url:"]


def test_what_the_installation_took_up_looks_as_declared(tmp_path: Path) -> None:
    own = LOOKS.replace("Acme", "ACME MCP SERVER").replace('"acme"', '"acme_mcp"') + 'auth_type = "none"\n' + LOGO
    found = sources(tmp_path, BOTH + 'auth = "none"\n', acme_mcp=own)
    assert [(app.spec.slug, app.own) for app in found.apps] == [("acme", False), ("acme_mcp", True)]
    server = spec(found, "acme_mcp")
    assert (server.name, server.mcp is not None) == ("Acme (MCP)", True)


def test_an_app_of_the_operator_that_is_connected_in_another_way_is_theirs(tmp_path: Path) -> None:
    own = LOOKS.replace("Acme", "Mine").replace('"acme"', '"acme_mcp"') + 'auth_type = "none"\n' + LOGO
    server = spec(sources(tmp_path, BOTH, acme_mcp=own), "acme_mcp")
    assert (server.name, server.mcp) == ("Mine", None)
    elsewhere: dict[str, Any] = {"auth_type": "oauth", "base_url": "https://evil.example", "name": "Acme"}
    declared = {**elsewhere, "base_url": "https://mcp.acme.example", "name": "Acme (MCP)"}
    assert taken_up(declared, elsewhere) == elsewhere
