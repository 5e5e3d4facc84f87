"""``patchbay component``: write, check and run components of one's own."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from webapp.cli.options import JSON, opened, settings_from_env, show
from webapp.errors import Conflict, Invalid, NotFound
from webapp.service.components.calls import AccountGrant, Call, Method, Reply
from webapp.service.components.checker import NAME, check
from webapp.service.components.runner import Runner
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants

FIRST = "0.0.1"
HOOKS = ("deploy", "activate", "deactivate")
_ACTION = '''\
"""{title}."""

from typing import Any

from webapp.service.components.authoring import Action, Context, string


class {class_name}(Action):
    name = "{title}"
    description = "Says what a person gets from it, in a sentence or two."
    annotations = {{
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }}

    text = string(label="Text", description="What to say.")

    def run(self, ctx: Context) -> Any:
        ctx.export("$summary", f"Said {{ctx.props.text}}")
        return {{"text": ctx.props.text}}
'''
_TRIGGER = '''\
"""{title}."""

from webapp.service.components.authoring import Context, Trigger, service_db, timer


class {class_name}(Trigger):
    name = "{title}"
    description = "Says what it emits and when, in a sentence or two."
    dedupe = "unique"

    timer = timer(default={{"intervalSeconds": 900}})
    db = service_db()

    def run(self, ctx: Context) -> None:
        count = ctx.db.get("count", 0) + 1
        ctx.emit({{"count": count}}, id=count, summary=f"Tick {{count}}")
        ctx.db.set("count", count)
'''


@click.group()
def component() -> None:
    """Components of your own, in DATA/components; the manual has a page about writing them."""


@component.command()
@click.argument("name")
@click.option("--trigger", is_flag=True, help="A trigger instead of an action.")
@JSON
def new(name: str, trigger: bool, as_json: bool) -> None:
    """Write a first version of the component NAME (such as say-hello), ready to be changed."""
    if not NAME.fullmatch(name):
        raise Invalid(f"{name!r} cannot be the name of a component; use lower case and hyphens, such as say-hello.")
    path = _folder() / name / f"{FIRST}.py"
    if path.parent.exists():
        raise Conflict(f"There is a component {name} already; choose another name, or add a version beside {path}.")
    words = name.split("-")
    source = _TRIGGER if trigger else _ACTION
    path.parent.mkdir(parents=True)
    path.write_text(source.format(title=" ".join(words).capitalize(), class_name="".join(map(str.title, words))))
    show({"key": f"~/{name}", "version": FIRST, "path": str(path)}, as_json, "The component was written.")


@component.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@JSON
def check_(paths: tuple[Path, ...], as_json: bool) -> None:
    """Print everything wrong with the files at PATHS; with those in DATA/components, unless some are named."""
    files = paths or tuple(sorted(_folder().glob("*/*.py")))
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
        reply = service.runner.call(call)
    click.echo(json.dumps(_shown(reply, remembered), indent=2, ensure_ascii=False))
    if reply.error:
        raise SystemExit(1)


def _folder() -> Path:
    return settings_from_env().data / "components"


def _problems(files: Iterable[Path]) -> list[str]:
    with Runner.start() as runner:
        return [problem for file in files for problem in check(file, runner.call)]


def _say(count: int, problems: list[str]) -> None:
    for problem in problems:
        click.echo(problem, err=True)
    if not problems:
        click.echo("There is no component." if not count else f"Nothing is wrong with {count} file(s).")


def _path(service: Service, what: str, version: str | None) -> Path:
    if what.endswith(".py"):
        return Path(what).absolute()
    found = service.catalog.component(what, version)
    if found is None:
        raise NotFound(f"There is no component {what}{f' {version}' if version else ''}; name a key or a file.")
    return found.path


def _accounts(service: Service, path: Path, text: str | None) -> tuple[dict[str, AccountGrant], tuple[str, ...]]:
    """One account for each app prop, all with the credentials that were given."""
    if text is None:
        return {}, service.settings.allow_hosts
    raw = sys.stdin.read() if text == "-" else text
    values = {name: str(value) for name, value in _object("--credentials", raw).items()}
    declared = service.runner.call(Call(path=str(path), method="declare"))
    props = [] if declared.error else [one for one in declared.value["configurable_props"] if one["type"] == "app"]
    used = {one["name"]: service.app(one["app"]) for one in props}
    allow_hosts = grants.allow_hosts(service, list(used.values()))
    return {name: grants.account_grant(one, values) for name, one in used.items()}, allow_hosts


def _object(option: str, text: str) -> dict[str, Any]:
    found = _json(option, text)
    if not isinstance(found, dict):
        raise Invalid(f'{option} must be a JSON object, such as {{"text": "Hello"}}.')
    return found


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
        "os": [one.to_json() for one in reply.observations],
        "events": [{"e": one.event, "id": one.id, "summary": one.summary, "ts": one.ts} for one in reply.events],
        "state": remembered | dict(reply.state),
        "response": answered,
        "took_ms": reply.took_ms,
    }
