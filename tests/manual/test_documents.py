"""The documents say only what is so: links lead somewhere; commands, settings and routes exist; examples are valid."""

import json
import re
import tomllib
from functools import cache
from pathlib import Path

import click
import pytest

from tests.fakes.installation import Installation
from tests.manual.documents import FILES, FOLDER, NAMED, ROOT, commands, fences, spans, text_of
from tests.test_imports import RANKS
from webapp.cli.main import main
from webapp.manual.markdown import render
from webapp.service.api.table import OPERATIONS
from webapp.settings import TABLE

LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
SERVED = "http://localhost:8600"
ADDRESS = re.compile(r"(?:(GET|POST|PUT|PATCH|DELETE) )?((?:/v1|P)/[^\s\"'?`]*)")


@cache
def anchors_of(file: Path) -> set[str]:
    return {section.anchor for section in render(file.read_text("utf-8"), {}).sections}


@pytest.mark.parametrize("file", FILES, ids=NAMED)
def test_every_link_and_anchor_leads_somewhere(file: Path) -> None:
    for target in LINK.findall(file.read_text("utf-8")):
        path, _, anchor = target.partition("#")
        if target.startswith(("https://", SERVED)):
            assert target in (
                "https://www.standardwebhooks.com/",
                "https://limits.readthedocs.io",
                "https://litestream.io",
                "https://www.activepieces.com/docs/overview/welcome",
                "https://docs.composio.dev/",
                "https://nango.dev/docs/guides/platform/free-self-hosting",
                "https://pipedream.com/docs/connect/",
                "https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING",
                "https://developer.paypal.com/api/rest/",
                "https://developer.paypal.com/log-in/references.md",
                "https://docs.datadoghq.com/api/latest/scopes/",
                "https://docs.datadoghq.com/extend/authorization/oauth2_in_datadog",
                f"{SERVED}/docs/api",
            )
            continue
        led = (file.parent / path).resolve() if path else file
        assert led.is_file(), target
        assert not anchor or anchor in anchors_of(led), target


@pytest.mark.parametrize("file", [file for file in FILES if file.parent == FOLDER], ids=lambda file: str(file.name))
def test_a_page_links_only_to_pages(file: Path) -> None:
    """Or to a file to copy or a picture: the same link must work on a code host and where the page is served."""
    other = r"files/[\w.@-]+$|\.\./\.\./static/pictures/[a-z]+\.webp$"
    for target in LINK.findall(file.read_text("utf-8")):
        assert re.match(rf"https?://|#|[a-z]+\.md(#|$)|{other}", target), target


def _command(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that ``words`` name, and what stands behind its name."""
    found: click.Command = main
    for place, word in enumerate(words):
        inner = found.get_command(click.Context(found), word) if isinstance(found, click.Group) else None
        if inner is None:
            return found, words[place:]
        found = inner
    return found, []


@pytest.mark.parametrize("file", FILES, ids=NAMED)
def test_every_command_that_is_shown_exists_with_its_options(file: Path) -> None:
    for words in commands(file.read_text("utf-8")):
        command, rest = _command(words)
        shown = " ".join(words)
        assert not (isinstance(command, click.Group) and rest and not rest[0].startswith("-")), shown
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert {word for word in rest if word.startswith("-") and len(word) > 1} <= known, shown


def test_every_command_is_documented() -> None:
    shown = {" ".join(words[:2]) for words in commands(text_of("guide"))} | {
        words[0] for words in commands(text_of("guide")) if words
    }
    for name in main.list_commands(click.Context(main)):
        command = main.get_command(click.Context(main), name)
        inner = command.list_commands(click.Context(command)) if isinstance(command, click.Group) else []
        assert {f"{name} {one}" for one in inner} | {name} <= shown


SETTINGS = {f"PATCHBAY_{row.name}" for row in TABLE}


@pytest.mark.parametrize("file", FILES, ids=NAMED)
def test_every_setting_that_is_shown_exists(file: Path) -> None:
    assert set(re.findall(r"PATCHBAY_[A-Z][A-Z_]*[A-Z]", file.read_text("utf-8"))) <= SETTINGS


def test_every_setting_is_documented_in_order() -> None:
    rows = re.findall(r"^\| `(PATCHBAY_[A-Z_]+)` \|.*\| ([^|]+) \|$", text_of("operate"), re.MULTILINE)
    assert rows == [(f"PATCHBAY_{row.name}", row.help) for row in TABLE]


def address_of(path: str) -> str:
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path)


KNOWN = {(one.method, address_of(path)) for one in OPERATIONS for path in (one.path, *one.older)}
PATHS = {path for _, path in KNOWN} | {path.replace("P/", "/v1/connect/{project_id}/", 1) for _, path in KNOWN}


@pytest.mark.parametrize("file", FILES, ids=NAMED)
def test_every_operation_that_is_shown_exists(file: Path) -> None:
    text = re.sub(r"```toml.*?```", "", file.read_text("utf-8"), flags=re.DOTALL)  # of somebody else's API
    aside = {"/v1", "/v1/connect/{project_id}", "/v1/connect/accounts", "/v1/connect/projects/info", "P/projects/info"}
    for line in (*spans(text), *(line for code in fences(text) for line in code.splitlines())):
        filled = re.sub(r"\$PROJECT_ID|\$?{project}", "{project_id}", line)
        for method, path in ADDRESS.findall(filled.replace("{base}", "").replace(SERVED, "")):
            path = path.rstrip("/.,;)") if path not in ("P/",) else path
            short = path.replace("/v1/connect/{project_id}/", "P/", 1)
            assert path in PATHS | aside, f"{path} in {line}"
            assert not method or (method, short) in KNOWN or (method, path) in KNOWN, line


def test_who_may_call_what_is_so_and_is_said_of_every_published_operation() -> None:
    rows = re.findall(r"^\| (`(?:GET|POST|PUT|PATCH|DELETE) .*) \| (.*) \| (.*) \|$", text_of("contract"), re.MULTILINE)
    said = {tuple(span.split()): (scope, connect) for cell, scope, connect in rows for span in spans(cell)}
    assert set(said) <= KNOWN
    for one in OPERATIONS:
        if one.extension and (one.method, address_of(one.path)) not in said:
            continue  # the reference of the API has it
        scope, connect = said[one.method, address_of(one.path)]
        assert tuple(re.findall(r"`([^`]+)`", scope)) == one.scopes, one.name
        assert ("API key" in scope) is one.user_key, one.name
        assert (scope == "none") is one.public, one.name
        assert connect.startswith("yes") is (one.connect and not one.public), one.name


def test_every_other_route_that_is_shown_exists(data: Path) -> None:
    made = Installation(data)
    try:
        routes = {re.sub(r"<[^>]+>", "<>", rule.rule) for rule in made.app.url_map.iter_rules()}
        shown = {
            re.sub(r"<[^>]+>|\bKEY\b", "<>", found)
            for file in FILES
            for span in (*spans(file.read_text("utf-8")), *LINK.findall(file.read_text("utf-8")))
            if (found := span.removeprefix(SERVED)).startswith("/")
            and not found.startswith(("/v1", "/var", "/etc", "/opt"))
        }
    finally:
        made.stop()
    parts = {"/accounts", "/webhooks", "/pipelines"}  # of addresses that are named before
    elsewhere = {"/metrics"}  # served where PATCHBAY_METRICS_TOKEN is set
    assert shown - parts - elsewhere <= routes


@pytest.mark.parametrize("file", FILES, ids=NAMED)
def test_every_example_is_valid(file: Path) -> None:
    text = file.read_text("utf-8")
    for code in fences(text, "json"):
        json.loads(code)
    for code in fences(text, "python"):
        compile(code, file.name, "exec")
    for code in fences(text, "toml"):
        tomllib.loads(code)
    bodies = [body for code in fences(text, "bash") for body in re.findall(r"-d '(\{.*\})'", code, re.DOTALL)]
    for body in (*bodies, *(span for span in spans(text) if re.match(r'\{"|\[\{', span) and "…" not in span)):
        json.loads(body.replace("'$ACCOUNT_ID'", "apn_1"))


@pytest.mark.parametrize("file", FILES, ids=NAMED)
def test_every_make_target_that_is_shown_exists(file: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    text = file.read_text("utf-8")
    shown = [line for code in fences(text, "console") for line in code.splitlines()] + spans(text)
    assert {target for line in shown for target in re.findall(r"^(?:\$ )?make ([a-z-]+)", line)} <= targets


def test_every_make_target_is_documented() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    inside = {"setup", "setup-dev", "frontend", "frontend-tests", "clean"}
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
    assert {target for target in phony.split() if f"make {target}" not in text} <= inside


def test_contributing_names_what_the_files_beside_hold() -> None:
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`(\w+)` (?:in|of) `((?:webapp|tests)/[\w/]+\.py)`", text)
    assert {"NEEDS", "SOURCES", "COLUMNS"} <= {name for name, _file in named}
    for name, file in named:
        assert re.search(rf"^(?:def )?{name}\b", (ROOT / file).read_text("utf-8"), re.MULTILINE), f"{name} in {file}"


@pytest.mark.parametrize("file", FILES, ids=NAMED)
def test_every_file_of_the_source_that_is_named_exists(file: Path) -> None:
    new = (
        "actions/count-tasks",
        "actions/rename-task",
        "triggers/task-done",
        "webapp/translations",
        "webapp/a/b.py",
        "tests/a/test_b.py",
    )
    for span in spans(file.read_text("utf-8")):
        place = re.fullmatch(r"((?:webapp|tests|templates|static|service|domain|dashboard|\.ci)/[\w./-]*)", span)
        if place and not any(part in span for part in new):
            under = (ROOT, ROOT / "webapp", ROOT / "webapp" / "service")
            assert any((root / place[1]).exists() for root in under), span


def test_the_ranks_are_those_that_are_kept() -> None:
    rows = re.findall(r"^\| `(webapp/[^`]+)` \| ([\d.]+) \|", text_of("architecture"), re.MULTILINE)
    said = {path.rstrip("/").removesuffix(".py").replace("/", "."): float(rank) for path, rank in rows}
    assert said.pop("webapp.service.domain") == 5
    assert said == {unit: float(rank) for unit, rank in RANKS.items()}
