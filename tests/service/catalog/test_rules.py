"""Rules for tests that are no request over HTTP: the fields by which they sign in must be there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.catalog.facts.samples import check
from webapp.service.catalog.sources import Places

APP = """
slug = "acme"
name = "Acme"
description = "A server."
categories = ["tools"]
auth_type = "keys"
docs_url = "https://docs.acme.example/"
logo = {{ letter = "A", color = "#336699" }}
{fields}

[test]
kind = "{kind}"
source = "https://docs.acme.example/"
"""
NEEDED = {
    "postgres": ["host", "port", "database", "user", "password"],
    "smtp": ["host", "port", "encryption", "user", "password"],
}


def fields(names: list[str]) -> str:
    return "".join(f'\n[[fields]]\nname = "{name}"\nlabel = "{name}"\nsecret = true\n' for name in names)


@pytest.mark.parametrize("kind", NEEDED)
def test_a_sign_in_needs_its_fields(folder: Path, declare: Callable[[str, str], Path], kind: str) -> None:
    declare("acme", APP.format(kind=kind, fields=fields(NEEDED[kind])))
    assert check(Places(built_in=folder)) == []
    for missing in NEEDED[kind]:
        declare("acme", APP.format(kind=kind, fields=fields([name for name in NEEDED[kind] if name != missing])))
        assert check(Places(built_in=folder)) == [
            f"acme/app.toml: a test of the kind {kind} needs the fields {missing}.",
        ]
