"""A small package of our own, and what it would say of itself."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.npm_registry import package
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.components.executor import Executor
from webapp.service.components.pieces.package_calls import PackageCall
from webapp.service.domain.base import catalog_file

NAME = "@acme/piece-kiosk"
DESCRIBED: dict[str, Any] = {
    "name": NAME, "displayName": "Kiosk", "description": "Sells things.", "logoUrl": "", "authors": [],
    "categories": [], "contextInfo": {"version": 2}, "events": None, "i18n": {},
    "auth": [{"type": "SECRET_TEXT", "displayName": "API key", "required": True}],
    "actions": {
        "sell": {
            "name": "sell", "displayName": "Sell", "description": "Sells one thing.", "requireAuth": True, "wants": [],
            "props": {"what": {"type": "SHORT_TEXT", "displayName": "What", "required": True}},
        },
    },
    "triggers": {},
}  # fmt: skip


def package_of(version: str) -> bytes:
    """The package in that version."""
    return package(NAME, version, files={"index.js": "fetch('https://api.kiosk.io/v1/things')"})


def tarball(folder: Path, version: str = "1.0.0") -> Path:
    """The package as a file."""
    (folder / f"kiosk-{version}.tgz").write_bytes(package_of(version))
    return folder / f"kiosk-{version}.tgz"


def describe(monkeypatch: pytest.MonkeyPatch, described: Any = None, error: str = "") -> list[PackageCall]:
    """Let each package say ``described`` of itself, or fail by ``error``; the questions that are asked. The catalog is
    not built."""
    asked: list[PackageCall] = []

    def ask(_: Executor, question: PackageCall) -> Reply:
        asked.append(question)
        if error:
            return Reply(None, error=ErrorInfo("load", "Error", error))
        return Reply(DESCRIBED if described is None else described)

    monkeypatch.setattr(Executor, "ask_package", ask)
    monkeypatch.setattr(catalog_file, "update", lambda service: None)
    return asked
