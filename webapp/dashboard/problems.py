"""What is wrong with an answer, as one sentence for the person; and JSON that people type."""

import json
from typing import Any


class Problem(Exception):
    """An answer that cannot be taken. ``str()`` is the sentence."""


def parse_json(label: str, text: str) -> Any:
    """What somebody typed as JSON. Raises :class:`Problem` that says where it breaks."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise Problem(
            f"“{label}” is not valid JSON (line {error.lineno}, column {error.colno}). Text goes in double quotes."
        ) from error
    except (ValueError, RecursionError) as error:
        raise Problem(f"“{label}” is not JSON that can be sent. Use plain numbers and less nesting.") from error


def _refuse(constant: str) -> Any:
    raise ValueError(constant)
