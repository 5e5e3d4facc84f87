"""What a run gave, and the history of runs, as the Connect API tells them (specification 2.6a, WIRE "Run")."""

from dataclasses import dataclass, field, replace
from typing import Any

from webapp.dashboard.client.models import reading
from webapp.dashboard.client.models.reading import Json


@dataclass(frozen=True, slots=True)
class Observation:
    """A line of a run's log."""

    kind: str
    at: int | None
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave."""

    ok: bool
    took_ms: int | None
    summary: str
    result: Any = None
    has_result: bool = False
    exports: Json = field(default_factory=dict)
    logs: tuple[Observation, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One entry of the run history (an extension)."""

    id: str
    at: str | int | None
    ok: bool
    summary: str
    took_ms: int | None
    inputs: Json
    dynamic_id: str
    outcome: Outcome


def outcome(data: Json, took_ms: int | None = None) -> Outcome:
    """What ``actions/run`` answers (WIRE "Run")."""
    exports = reading.mapping(data, "exports")
    logs = observations(data.get("os"))
    failed = next((line for line in logs if line.kind == "error"), None)
    summary = exports.get("$summary")
    return Outcome(
        ok=failed is None,
        took_ms=took_ms,
        summary=summary if isinstance(summary, str) else "",
        result=data.get("ret"),
        has_result=data.get("ret") is not None,
        exports={name: value for name, value in exports.items() if name != "$summary"},
        logs=logs,
        problem=failed.text if failed else "",
    )


def observations(data: object) -> tuple[Observation, ...]:
    """Observations of section 2.6a."""
    found = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []
    return tuple(_observation(item) for item in found)


def run(data: Json) -> Run:
    """One entry of ``P/runs``."""
    took = reading.number(data, "took_ms")
    told = outcome(data, took)
    ok = data["ok"] if isinstance(data.get("ok"), bool) else told.ok
    summary = reading.text(data, "summary") or told.summary or reading.text(data, "error")
    at = data.get("started_at") or data.get("created_at")
    return Run(
        id=reading.text(data, "id"),
        at=at if isinstance(at, (str, int)) else None,
        ok=ok,
        summary=summary or told.problem,
        took_ms=took,
        inputs=reading.mapping(data, "configured_props"),
        dynamic_id=reading.text(data, "dynamic_props_id"),
        outcome=replace(
            told, ok=ok, summary=reading.text(data, "summary"), problem=told.problem or reading.text(data, "error")
        ),
    )


def _observation(data: Json) -> Observation:
    err = reading.mapping(data, "err")
    name, message = reading.text(err, "name"), reading.text(err, "message")
    text = reading.text(data, "msg") or message or name
    kind = reading.text(data, "k") or "log"
    return Observation("error" if err else kind, reading.number(data, "ts"), text, reading.text(err, "stack"))
