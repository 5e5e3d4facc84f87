"""``patchbay component``: creates, checks and runs an operator's own components."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any

import click

from webapp.cli.options import JSON, opened, settings_from_env, show
from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit import assets
from webapp.service.catalog.component_files import PATTERNS
from webapp.service.catalog.component_keys import key_of
from webapp.service.components.calls import AccountGrant, Call, Method, Reply
from webapp.service.components.checker import NAME, check
from webapp.service.components.declared.source import ENDING
from webapp.service.components.executor import Executor
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants

FIRST = "0.0.1"
HOOKS = ("deploy", "activate", "renew", "deactivate")


@click.group()
def component() -> None:
    """Components of your own, in DATA/components; the manual has a page about writing them."""


@component.command()
@click.argument("name")
@click.option("--trigger", is_flag=True, help="A trigger instead of an action.")
@click.option("--declared", is_flag=True, help="Data instead of code: a TOML file.")
@JSON
def new(name: str, trigger: bool, declared: bool, as_json: bool) -> None:
    """Write a first version of the component NAME (such as say-hello), ready to be changed."""
    if not NAME.fullmatch(name):
        raise Invalid(f"{name!r} cannot be the name of a component; use lower case and hyphens, such as say-hello.")
    code, data = _folder() / name / f"{FIRST}.py", _folder() / f"{name}{ENDING}"
    if code.parent.exists() or data.exists():
        raise Conflict(f"There is a component {name} already; choose another name, or add a version beside {code}.")
    path = data if declared else code
    words = name.split("-")
    first = assets.templates_dir() / "components" / f"{'trigger' if trigger else 'action'}{path.suffix}.txt"
    source = Template(first.read_text("utf-8"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source.substitute(title=" ".join(words).capitalize(), class_name="".join(map(str.title, words))))
    show({"key": key_of(None, name), "version": FIRST, "path": str(path)}, as_json, "The component was written.")


@component.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@JSON
def check_(paths: tuple[Path, ...], as_json: bool) -> None:
    """Print everything wrong with the files at PATHS; with those in DATA/components, unless some are named."""
    files = paths or tuple(sorted(file for pattern in PATTERNS for file in _folder().glob(pattern)))
    problems = _problems(files)
    show({"files": len(files), "problems": problems}, True) if as_json else _say(len(files), problems)
    if problems:
        raise SystemExit(1)


@component.command()
@click.argument("what")
@click.option("--version", help="A version of it; the highest, unless one is named.")
@click.option("--props", default="{}", help="The values of its props: a JSON object.")
@click.option("--credentials", help="The fields of the account it works with: a JSON object, or - for standard input.")
@click.option("--options", "prop", help="Look the options of this prop up instead of running it.")
@click.option("--reload", is_flag=True, help="Ask which props follow from the values, instead of running it.")
@click.option("--event", default="null", help="What sets a trigger off: JSON, such as the tick or the request it gets.")
@click.option("--state", default="{}", help="What a trigger remembers: a JSON object, as an earlier run printed it.")
@click.option("--hook", type=click.Choice(HOOKS), help="Call this method of a trigger instead of running it.")
@click.option("--endpoint", help="The address that a trigger is to give to its app.")
def run(
    what: str,
    version: str | None,
    props: str,
    credentials: str | None,
    prop: str | None,
    reload: bool,
    event: str,
    state: str,
    hook: Method | None,
    endpoint: str | None,
) -> None:
    """Run WHAT, a file or a key such as ~/say-hello, and print what comes of it as JSON."""
    with opened() as service:
        path = _path(service, what, version)
        accounts, allow_hosts = _accounts(service, path, credentials)
        remembered = _object("--state", state)
        call = Call(
            path=str(path),
            method="options" if prop else "reload" if reload else hook or "run",
            prop=prop,
            props=_object("--props", props),
            accounts=accounts,
            state=remembered,
            event=_json("--event", event),
            endpoint=endpoint,
            allow_hosts=allow_hosts,
        )
        reply = service.executor.call(call)
    click.echo(json.dumps(_shown(reply, remembered), indent=2, ensure_ascii=False))
    if reply.error:
        raise SystemExit(1)


def _folder() -> Path:
    return settings_from_env().data / "components"


def _problems(files: Iterable[Path]) -> list[str]:
    with Executor.start() as executor:
        return [problem for file in files for problem in check(file, executor.call)]


def _say(count: int, problems: list[str]) -> None:
    for problem in problems:
        click.echo(problem, err=True)
    if not problems:
        click.echo("There is no component." if not count else f"Nothing is wrong with {count} file(s).")


def _path(service: Service, what: str, version: str | None) -> Path:
    if what.endswith((".py", ENDING)):
        return Path(what).absolute()
    component = service.catalog.component(what, version)
    if component is None:
        raise NotFound(f"There is no component {what}{f' {version}' if version else ''}; name a key or a file.")
    return component.path


def _accounts(service: Service, path: Path, text: str | None) -> tuple[dict[str, AccountGrant], tuple[str, ...]]:
    """An account for each app prop, all with the given credentials, and the private hosts that they may reach."""
    if text is None:
        return {}, service.settings.allow_hosts
    raw = sys.stdin.read() if text == "-" else text
    values = {name: str(value) for name, value in _object("--credentials", raw).items()}
    declared = service.executor.call(Call(path=str(path), method="declare"))
    props = (
        []
        if declared.error
        else [prop for prop in declared.value.get("configurable_props", ()) if prop["type"] == "app"]
    )
    apps = {prop["name"]: service.app(prop["app"]) for prop in props}
    allow_hosts = account_grants.allow_hosts(service, list(apps.values()))
    return {name: account_grants.of_values(app, values) for name, app in apps.items()}, allow_hosts


def _object(option: str, text: str) -> dict[str, Any]:
    value = _json(option, text)
    if not isinstance(value, dict):
        raise Invalid(f'{option} must be a JSON object, such as {{"text": "Hello"}}.')
    return value


def _json(option: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Invalid(f"{option} is not valid JSON ({error}).") from error


def _shown(reply: Reply, remembered: dict[str, Any]) -> dict[str, Any]:
    answered = reply.response and {"status": reply.response.status, "body": reply.response.body}
    return {
        "ret": reply.value,
        "exports": dict(reply.exports),
        "os": [observation.to_json() for observation in reply.observations],
        "events": [
            {"e": event.event, "id": event.id, "summary": event.summary, "ts": event.ts} for event in reply.events
        ],
        "state": remembered | dict(reply.state),
        "response": answered,
        "took_ms": reply.took_ms,
    }
