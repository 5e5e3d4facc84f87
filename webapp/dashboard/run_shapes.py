"""What a run gave, and the history of runs, as the Connect API tells them (specification 2.6a, WIRE "Run")."""

from dataclasses import dataclass, field, replace
from typing import Any

from webapp.dashboard.shapes import Json


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
    exports = _object(data.get("exports"))
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
    took = _number(data.get("took_ms"))
    told = outcome(data, took)
    ok = data["ok"] if isinstance(data.get("ok"), bool) else told.ok
    summary = _text(data, "summary") or told.summary or _text(data, "error")
    at = data.get("started_at") or data.get("created_at")
    return Run(
        id=_text(data, "id"),
        at=at if isinstance(at, (str, int)) else None,
        ok=ok,
        summary=summary or told.problem,
        took_ms=took,
        inputs=_object(data.get("configured_props")),
        dynamic_id=_text(data, "dynamic_props_id"),
        outcome=replace(told, ok=ok, summary=_text(data, "summary"), problem=told.problem or _text(data, "error")),
    )


def _observation(data: Json) -> Observation:
    err = _object(data.get("err"))
    name, message = _text(err, "name"), _text(err, "message")
    text = _text(data, "msg") or message or name
    kind = _text(data, "k") or "log"
    return Observation("error" if err else kind, _number(data.get("ts")), text, _text(err, "stack"))


def _text(data: Json, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
