"""What templates may look at, by where they stand."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from webapp.service.components.declared.facts import Answered, Asking, OfEach

PROPS = {"props": ["title"]}


@pytest.mark.parametrize(
    ("kind", "text", "fits"),
    [
        (Asking, "{title} {$label.title}", True),
        (Asking, "{$answer.id}", False),
        (Asking, "{other}", False),
        (Answered, "{$answer.id|or(title)}", True),
        (Answered, "{$answer.id|or(other)}", False),
        (Answered, "{$item.id}", False),
        (OfEach, "{$item.id}", True),
    ],
)
def test_names_that_are_known(kind: Any, text: str, fits: bool) -> None:
    adapter = TypeAdapter[str](kind)
    if fits:
        assert adapter.validate_python(text, context=PROPS) == text
    else:
        with pytest.raises(ValidationError, match="is not known here"):
            adapter.validate_python(text, context=PROPS)
