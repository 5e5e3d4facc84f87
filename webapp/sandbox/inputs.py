"""What a request to the API holds: its body, its page, its times, and the rows that its path names.

Whatever is wrong ends the request with the API's own error.
"""

from typing import TypeVar

from flask import Response, abort, request
from pydantic import BaseModel, ValidationError

from webapp.kit.clock import parse_iso
from webapp.sandbox.callers import problem
from webapp.sandbox.projects import Project
from webapp.sandbox.state import current
from webapp.sandbox.store import MAX_PAGE, MAX_PER_PAGE, Window
from webapp.sandbox.tasks import Task

M = TypeVar("M", bound=BaseModel)
MAX_MS = 2**53


def project_of(project_id: str) -> Project:
    """The project of that id, or a 404."""
    return current().projects.get(project_id) or abort(absent("project"))


def task_of(task_id: str) -> Task:
    """The task of that id, or a 404."""
    return current().tasks.get(task_id) or abort(absent("task"))


def absent(noun: str) -> Response:
    """The answer for an id under which there is nothing."""
    return problem(404, "not_found", f"There is no such {noun}.")


def invalid(field: str, message: str) -> Response:
    """The answer for one parameter or field that is wrong."""
    return problem(400, "invalid", message, details=[{"field": field, "message": message}])


def body_as(model: type[M]) -> M:
    """The JSON body as ``model``, or a 400 with details."""
    try:
        return model.model_validate_json(request.get_data())
    except ValidationError as error:
        details = [
            {"field": ".".join(map(str, problem_["loc"])), "message": problem_["msg"]}
            for problem_ in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        abort(problem(400, "invalid", "The body is not valid; see details.", details=details))


def window() -> Window:
    """The page that ``page`` and ``per_page`` ask for."""
    return Window(_number("page", 1, MAX_PAGE), _number("per_page", 20, MAX_PER_PAGE))


def _number(name: str, default: int, most: int) -> int:
    text = request.args.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most):
        abort(invalid(name, f"Give a whole number from 1 to {most:,}."))
    return int(text)


def since() -> int | None:
    """``since`` in epoch milliseconds: given so, or as ISO 8601 with a time zone."""
    text = request.args.get("since")
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 15 and int(text) < MAX_MS:
        return int(text)
    try:
        return parse_iso(text)
    except (ValueError, OverflowError):
        abort(invalid("since", "Give an ISO 8601 time with a time zone, or epoch milliseconds."))
