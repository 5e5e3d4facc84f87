"""How to make the same call from a program: curl, Python and JavaScript. No token and no secret ever stands in them."""

import json
import shlex
from collections.abc import Mapping
from pprint import pformat
from typing import Any

VARIABLE = "ACCESS_TOKEN"  # the name of an environment variable, which holds the token


def snippets(url: str, environment: str, body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Language and text of each snippet for a POST of ``body``; the token is read from the environment."""
    return [
        ("curl", _curl(url, environment, body)),
        ("Python", _python(url, environment, body)),
        ("JavaScript", _javascript(url, environment, body)),
    ]


def _curl(url: str, environment: str, body: Mapping[str, Any]) -> str:
    text = json.dumps(body, ensure_ascii=False, indent=2)
    return (
        f"curl {shlex.quote(url)} \\\n"
        f'  -H "Authorization: Bearer ${VARIABLE}" \\\n'
        f"  -H {shlex.quote('x-pd-environment: ' + environment)} \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        f"  --data {shlex.quote(text)}"
    )


def _python(url: str, environment: str, body: Mapping[str, Any]) -> str:
    return (
        "import os\n\nimport requests\n\n"
        f"response = requests.post(\n    {url!r},\n"
        f'    headers={{"Authorization": "Bearer " + os.environ["{VARIABLE}"], "x-pd-environment": {environment!r}}},\n'
        f"    json={_indented(pformat(dict(body), sort_dicts=False, width=80), 9)},\n    timeout=60,\n)\n"
        'response.raise_for_status()\nprint(response.json()["ret"])'
    )


def _javascript(url: str, environment: str, body: Mapping[str, Any]) -> str:
    text = json.dumps(body, ensure_ascii=False, indent=2)
    return (
        f"const response = await fetch({json.dumps(url)}, {{\n"
        '  method: "POST",\n  headers: {\n'
        f"    Authorization: `Bearer ${{process.env.{VARIABLE}}}`,\n"
        f'    "x-pd-environment": {json.dumps(environment)},\n'
        '    "Content-Type": "application/json",\n  },\n'
        f"  body: JSON.stringify({_indented(text, 2)}),\n}});\n"
        "const { ret, exports, os } = await response.json();"
    )


def _indented(text: str, by: int) -> str:
    return text.replace("\n", "\n" + " " * by)
