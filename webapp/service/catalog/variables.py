"""``${name}`` in an app's texts: what only the running installation knows, such as the sandbox's own origin.

They are filled when the catalog is opened, not when it is built, so that one build serves any setting. An app that
needs a variable which is not given does not exist in that installation.
"""

import json
import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{([a-z][a-z0-9_]*)\}")


def names(text: str) -> frozenset[str]:
    """The variables that ``text`` needs."""
    return frozenset(_VARIABLE.findall(text))


def expand(text: str, values: Mapping[str, str]) -> str:
    """``text`` with its variables filled. Raises ``KeyError`` for one that is not given."""
    return _VARIABLE.sub(lambda match: values[match[1]], text)


def fill(text: str, values: Mapping[str, str]) -> str:
    """``text`` with those of its variables filled that are given; for texts that may hold anything."""
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), text)


def expand_json(text: str, values: Mapping[str, str]) -> str:
    """Like :func:`expand`, for variables that stand inside the strings of a JSON document."""
    return _VARIABLE.sub(lambda match: json.dumps(values[match[1]])[1:-1], text)
