"""Code samples that make the same call from a program, in curl, Python and JavaScript, without tokens and secrets.

They are templates in ``templates/dashboard/components/snippets``, and read the token from the environment.
"""

import functools
import json
import shlex
from collections.abc import Mapping
from pprint import pformat
from string import Template
from typing import Any

from webapp.kit import assets

_DATA = " \\\n  -H 'Content-Type: application/json' \\\n  --data {}"
_LOGGED = "console.log(response.status, await response.text());"


def snippets(url: str, environment: str, body: Mapping[str, Any] | None, method: str = "POST") -> list[tuple[str, str]]:
    """The language and text of each code sample for a call; those for a run print its result."""
    text = json.dumps(body, ensure_ascii=False, indent=2)
    python = pformat(body and dict(body), sort_dicts=False, width=80).replace("\n", "\n" + " " * 9)
    script = text.replace("\n", "\n  ")
    is_run = url.endswith("/actions/run")
    return [
        (
            "curl",
            _filled(
                "curl",
                url=shlex.quote(url),
                method="" if method == ("GET" if body is None else "POST") else f"--request {method} ",
                environment=shlex.quote(f"x-pd-environment: {environment}"),
                body=_DATA.format(shlex.quote(text)) if body is not None else "",
            ),
        ),
        (
            "Python",
            _filled(
                "python",
                url=repr(url),
                method=method.lower(),
                environment=repr(environment),
                body=f"\n    json={python}," if body is not None else "",
                answer='response.json()["ret"]' if is_run else "response.text",
            ),
        ),
        (
            "JavaScript",
            _filled(
                "javascript",
                url=json.dumps(url),
                method=json.dumps(method),
                environment=json.dumps(environment),
                type='\n    "Content-Type": "application/json",' if body is not None else "",
                body=f"\n  body: JSON.stringify({script})," if body is not None else "",
                answer="const { ret, exports, os } = await response.json();" if is_run else _LOGGED,
            ),
        ),
    ]


def _filled(name: str, **texts: str) -> str:
    return _template(name).substitute(texts)


@functools.cache
def _template(name: str) -> Template:
    file = assets.templates_dir() / "dashboard" / "components" / "snippets" / f"{name}.txt"
    return Template(file.read_text("utf-8").rstrip("\n"))
