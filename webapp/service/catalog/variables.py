"""Variables ``${name}`` in the texts of apps, for values of the running installation, such as the sandbox's origin.

They are replaced when the catalog is opened, not when it is built, so that a build does not depend on settings. An app
that needs a variable without a value does not exist in that installation.
"""

import json
import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{([a-z][a-z0-9_]*)\}")


def names(text: str) -> frozenset[str]:
    """The names of the variables in ``text``."""
    return frozenset(_VARIABLE.findall(text))


def expand(text: str, values: Mapping[str, str]) -> str:
    """``text`` with its variables replaced. Raises ``KeyError`` for a variable without a value."""
    return _VARIABLE.sub(lambda match: values[match[1]], text)


def fill(text: str, values: Mapping[str, str]) -> str:
    """``text`` with the variables replaced that have a value; for texts that may contain ``${…}`` otherwise."""
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), text)


def expand_json(text: str, values: Mapping[str, str]) -> str:
    """Like :func:`expand`, for variables inside the strings of a JSON document."""
    return _VARIABLE.sub(lambda match: json.dumps(values[match[1]])[1:-1], text)
