"""What is wrong with an answer, as one sentence for the person; and JSON that people type."""

import json
from typing import Any

from webapp.kit.translation import gettext


class Problem(Exception):
    """An answer that cannot be taken. ``str()`` is the sentence."""


def parse_json(label: str, text: str) -> Any:
    """What somebody typed as JSON. Raises :class:`Problem` that says where it breaks."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        sentence = gettext("“{label}” is not valid JSON (line {line}, column {column}). Text goes in double quotes.")
        raise Problem(sentence.format(label=label, line=error.lineno, column=error.colno)) from error
    except (ValueError, RecursionError) as error:
        sentence = gettext("“{label}” is not JSON that can be sent. Use plain numbers and less nesting.")
        raise Problem(sentence.format(label=label)) from error


def _refuse(constant: str) -> Any:
    raise ValueError(constant)
