"""Whether an answer is one that its model admits."""

import functools
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError


def misfits(answer: Any, body: bytes) -> Iterator[str]:
    """What ``answer``, a model, has against ``body``; nothing when it fits."""
    try:
        _adapter(answer).validate_json(body)
    except ValidationError as error:
        yield str(error)


@functools.cache
def _adapter(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)
