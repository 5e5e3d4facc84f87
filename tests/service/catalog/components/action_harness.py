"""A shipped action as it really runs: through the runner, with an account made from its app's own facts."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from webapp.service.catalog.app import placement
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.catalog.spec import AppSpec
from webapp.service.components.calls import AccountGrant, Call, Reply
from webapp.service.components.executor import Executor


@dataclass(frozen=True)
class ActionHarness:
    """One shipped action. ``origin`` is where its app's API answers here; ``fields`` are its account's, if any."""

    runner: Executor
    app: str
    name: str
    origin: str = ""
    fields: Mapping[str, str] | None = None
    allow_hosts: tuple[str, ...] = ()
    version: str = "0.0.1"

    @property
    def path(self) -> Path:
        return component_file(self.app, "actions", self.name, self.version)

    def run(self, labels: Mapping[str, str] | None = None, /, **props: Any) -> Reply:
        """Run it, and expect nothing."""
        return self.call("run", props, labels=labels or {})

    def ret(self, labels: Mapping[str, str] | None = None, /, **props: Any) -> tuple[Any, str]:
        """What it returns and its summary; it must succeed."""
        reply = self.run(labels, **props)
        assert reply.error is None, reply.error
        assert reply.exports["$summary"]
        return reply.value, reply.exports["$summary"]

    def error(self, **props: Any) -> str:
        """The sentence with which it fails; it must fail."""
        reply = self.run(**props)
        assert reply.error is not None, reply.value
        assert (reply.error.name, "\n" in reply.error.message) in [("ComponentError", False), ("HttpError", False)]
        return reply.error.message

    def options(self, prop: str, *, page: int = 0, query: str = "", **props: Any) -> list[tuple[str, Any]]:
        """One page of a prop's options, as (label, value)."""
        found = self.ask_options(prop, page=page, query=query, **props).value["options"] or []
        return [(one["label"], one["value"]) for one in found]

    def ask_options(self, prop: str, *, page: int = 0, query: str = "", previous: Any = None, **props: Any) -> Reply:
        """The whole answer to asking for options; it must succeed."""
        reply = self.call("options", props, prop=prop, page=page, query=query, previous=previous or {})
        assert reply.error is None, reply.error
        return reply

    def reload(self, **props: Any) -> dict[str, dict[str, Any]]:
        """The props after a reload, by name."""
        reply = self.call("reload", props)
        assert reply.error is None, reply.error
        return {one["name"]: one for one in reply.value}

    def call(self, method: Any, props: Mapping[str, Any], **more: Any) -> Reply:
        """Any call."""
        accounts = {} if self.fields is None else {"account": grant(self.app, self.origin, self.fields)}
        hosts = (*self.allow_hosts, *([urlsplit(self.origin).netloc] if self.origin else []))
        key = f"{self.app}-{self.name}"
        call = Call(str(self.path), key, self.version, method, props, accounts=accounts, allow_hosts=hosts)
        return self.runner.call(replace(call, **more))


def component_file(slug: str, kind: str, name: str, version: str = "0.0.1", apps: Path = BUILT_IN) -> Path:
    """Where a shipped component stands, be it data or code."""
    folder = apps / slug / kind
    declared = folder / f"{name}.toml"
    return declared if declared.is_file() else folder / name / f"{version}.py"


def grant(slug: str, origin: str, fields: Mapping[str, str]) -> AccountGrant:
    """An account of a shipped app whose API answers at ``origin`` instead of where it really is."""
    spec = AppSpec.model_validate(tomllib.loads((BUILT_IN / slug / "app.toml").read_text("utf-8")))
    return AccountGrant(
        values=fields,
        base_url=origin or None,
        headers=spec.headers,
        placements=tuple(placement(credential) for credential in spec.credentials if credential.place != "url"),
        allowed_hosts=(urlsplit(origin).netloc,) if origin else (),
        app=slug,
    )
