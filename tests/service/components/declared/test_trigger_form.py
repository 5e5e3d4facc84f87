"""The models of triggers: one way to be set off, and a signature over the body."""

from typing import Any

import pytest
from pydantic import ValidationError

from webapp.service.components.declared.trigger_form import Signature, TriggerForm

FACTS = {"name": "Note", "version": "1.0.0", "description": "Notes.", "id": "{$item.id}", "summary": "{$item.id}"}
POLL = {"poll": {"url": "/notes"}}
WEBHOOK = {"webhook": {"subscribe": {"url": "/hooks"}, "unsubscribe": {"url": "/hooks"}}}
APPHOOK = {"apphook": {"events": ["note"]}}


def test_a_trigger_has_one_way_to_be_set_off() -> None:
    ways: list[dict[str, Any]] = [POLL, WEBHOOK, APPHOOK]
    for way in ways:
        TriggerForm.model_validate({**FACTS, **way}, context={"props": []})
    for wrong in ({}, {**POLL, **WEBHOOK}, {**WEBHOOK, **APPHOOK}):
        with pytest.raises(ValidationError, match="either"):
            TriggerForm.model_validate({**FACTS, **wrong}, context={"props": []})


def test_what_is_signed_holds_the_body() -> None:
    with pytest.raises(ValidationError):
        Signature.model_validate({"header": "X-Sig", "signed": "{$time}"})
