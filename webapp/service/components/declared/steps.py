"""Sends steps, requests before the main one whose results are ``$steps`` in templates, and the details of events."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from webapp.service.components.declared.form import Detail, Step
from webapp.service.components.declared.requests import ask
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import EMPTY, Scope, fill, parse, shape
from webapp.service.outbound.bodies import at_path


def take(session: Session, steps: Sequence[Step], **more: Any) -> None:
    """Send those of ``steps`` whose condition is true and that have no result yet; conditions may use ``more``."""
    for step in steps:
        known = session.scope["$steps"]
        if step.name not in known and (step.only_if is None or holds(session, step.only_if, **more)):
            answer = ask(session, step, session.scope)
            known[step.name] = shape(step.result, session.with_(answer=answer))


def holds(session: Session, condition: str, **more: Any) -> bool:
    """Whether ``condition`` is neither empty nor false."""
    return _comes_to_something(condition, session.with_(**more))


def with_details(session: Session, details: Sequence[Detail], rows: Iterable[Scope]) -> Iterator[Scope]:
    """Those of ``rows`` that exist and match the details' ``where``, each with its own details as ``$steps``."""
    for row in rows:
        known = dict(row["$steps"])
        detailed = {**row, "$steps": known}
        if all(_is_there(session, detail, detailed, known) for detail in details):
            yield detailed


def is_as_wanted(value: Any, members: Mapping[str, Any], scope: Scope) -> bool:
    """Whether each of the ``members`` of ``value``, by its path, equals the wanted value or is in the wanted list; an
    empty template matches anything."""
    for path, template in members.items():
        wanted = fill(template, scope)
        if wanted in (None, "", []):
            continue
        if at_path(value, path) not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def _is_there(session: Session, detail: Detail, row: Scope, known: dict[str, Any]) -> bool:
    if detail.only_if is not None and not _comes_to_something(detail.only_if, row):
        return True
    answer = ask(session, detail, row)
    result = known[detail.name] = shape(detail.result, {**row, "$answer": answer})
    return result not in EMPTY and is_as_wanted(result, detail.where, row)


def _comes_to_something(condition: str, scope: Scope) -> bool:
    return parse(condition).value(scope) not in (*EMPTY, False)
