"""Models of what an app says that an npm package brought: which package asks whether an account is good, and how."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.requests import Facts, Text
from webapp.service.components.pieces.form import AuthForm

KIND = "piece"


class PieceFacts(Facts):
    """The installed package whose way to connect the app is: ``folder`` is its place in ``DATA/pieces``, ``auth`` says
    what an account becomes to it, and ``hosts`` is what it may reach when it tests one."""

    package: Text
    folder: Text
    auth: AuthForm
    hosts: tuple[str, ...] = ()


def asks_piece(fields: Mapping[str, Any]) -> bool:
    """Whether the app with the ``fields`` of an ``app.toml`` is tested by the package that brought it."""
    test = fields.get("test")
    return isinstance(test, Mapping) and test.get("kind") == KIND
