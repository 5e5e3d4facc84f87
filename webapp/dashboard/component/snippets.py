"""How to make the same call from a program: curl, Python and JavaScript. No token and no secret ever stands in them.

Each is a text in ``templates/dashboard/components/snippets``; the token is read from the environment.
"""

import functools
import json
import shlex
from collections.abc import Mapping
from pprint import pformat
from string import Template
from typing import Any

from webapp.kit import assets


def snippets(url: str, environment: str, body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Language and text of each snippet for a POST of ``body``."""
    text = json.dumps(body, ensure_ascii=False, indent=2)
    python = pformat(dict(body), sort_dicts=False, width=80).replace("\n", "\n" + " " * 9)
    script = text.replace("\n", "\n  ")
    header = shlex.quote(f"x-pd-environment: {environment}")
    return [
        ("curl", _filled("curl", shlex.quote(url), header, shlex.quote(text))),
        ("Python", _filled("python", repr(url), repr(environment), python)),
        ("JavaScript", _filled("javascript", json.dumps(url), json.dumps(environment), script)),
    ]


def _filled(name: str, url: str, environment: str, body: str) -> str:
    return _template(name).substitute(url=url, environment=environment, body=body)


@functools.cache
def _template(name: str) -> Template:
    file = assets.templates_dir() / "dashboard" / "components" / "snippets" / f"{name}.txt"
    return Template(file.read_text("utf-8").rstrip("\n"))
