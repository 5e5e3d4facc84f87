"""Filling templates and answers of fakes, by code of the tests' own."""

import re
from collections.abc import Mapping
from typing import Any


def fill(template: str, values: Mapping[str, str]) -> str:
    """``template`` with its fields put in as they are."""
    return re.sub(r"\{([A-Za-z_][A-Za-z0-9_]*)\*?\}", lambda match: values[match[1]], template)


def put(body: Any, path: str, value: Any) -> Any:
    """Put ``value`` at a dotted ``path`` of ``body``, which may become an array for that; the body."""
    step, _, rest = path.partition(".")
    if step.isdigit():
        body = body if isinstance(body, list) else []
        body.extend({} for _ in range(int(step) + 1 - len(body)))
        body[int(step)] = put(body[int(step)], rest, value) if rest else value
    else:
        body[step] = put(body.get(step, {}), rest, value) if rest else value
    return body
