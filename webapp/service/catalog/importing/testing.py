"""The request that tells whether an account works: an operation that needs nothing but the credential."""

import re
from collections.abc import Sequence
from typing import Any

from webapp.errors import Invalid
from webapp.service.catalog.importing import answers, parameters, security
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.drafts import Unsaid
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.refs import Unresolved
from webapp.service.catalog.importing.schemes import SignIn

_TELLING = (
    "me",
    "whoami",
    "self",
    "current",
    "user",
    "current_user",
    "viewer",
    "account",
    "profile",
    "user-info",
    "userinfo",
)
_HARMFUL = re.compile(r"log-?_?out|sign-?_?out|revoke|delete|remove|reset|cancel|disable", re.IGNORECASE)
_LATER = ("accounts", "users", "projects", "workspaces", "organizations", "teams", "status", "info")


def candidates(document: Document, listed: Sequence[Operation], sign_in: SignIn) -> list[Operation]:
    """The operations that could, the most telling first."""
    if sign_in.auth_type == "none":
        return []
    fitting = [operation for operation in listed if _fits(document, operation, sign_in)]
    return sorted(fitting, key=_rank)


def test(tests: Sequence[Operation], wanted: str) -> dict[str, Any]:
    """The ``[test]`` of an app: the operation or path that was ``wanted``, else the first. Raises :class:`Invalid`."""
    if not wanted:
        if not tests:
            told = "No operation of the document can test an account without asking for more."
            raise Invalid.of("test", f"{told} Name a path of the API that can, such as /me.")
        return {"method": "GET", "url": tests[0].path}
    operation = next((each for each in tests if wanted in (each.operation_id, each.id, each.path)), None)
    if operation is not None:
        return {"method": "GET", "url": operation.path}
    path = wanted.removeprefix("GET ").strip()
    if not re.fullmatch(r"/[^\s{}\\]{0,500}", path):
        raise Invalid.of("test", f"{wanted[:100]!r} is no path that can test an account. Write one such as /me.")
    return {"method": "GET", "url": path}


def _fits(document: Document, operation: Operation, sign_in: SignIn) -> bool:
    if operation.method != "GET" or "{" in operation.path or _HARMFUL.search(operation.path):
        return False
    ways = security.needed(document, operation)
    if not sign_in.serves([way for way in ways if way]):
        return False
    try:
        required = [each for each in parameters.parameters(document.refs, operation) if each.get("required") is True]
        return not required and answers.answer(document.refs, operation) is not None
    except (Unsaid, Unresolved):
        return False


def _rank(operation: Operation) -> tuple[int, int, str]:
    last = operation.path.rstrip("/").rpartition("/")[2].lower()
    place = next((at for at, names in enumerate((_TELLING, _LATER)) if last in names), 2)
    return place, len(operation.path), operation.path
