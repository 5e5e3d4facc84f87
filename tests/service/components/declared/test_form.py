"""The models of a component: what a prop may offer, and a pattern with its advice."""

import pytest
from pydantic import ValidationError

from webapp.service.components.declared.form import PropForm
from webapp.service.components.declared.request_form import Lookup


def test_options_stand_there_or_are_looked_up() -> None:
    assert PropForm.model_validate({"type": "string", "options": ["a"]}).options == ("a",)
    looked_up = PropForm.model_validate({"type": "string", "options": {"url": "/a", "value": "{$item.id}"}})
    assert isinstance(looked_up.options, Lookup)


def test_a_pattern_is_one_and_has_advice() -> None:
    with pytest.raises(ValidationError, match="belong together"):
        PropForm.model_validate({"type": "string", "advice": "Write a number."})
    with pytest.raises(ValidationError, match="no regular expression"):
        PropForm.model_validate({"type": "string", "pattern": "(", "advice": "Write a number."})
