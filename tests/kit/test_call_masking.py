"""What is kept of a call: enough to make it again, and nothing that may be secret."""

from typing import Any

import pytest

from webapp.kit.call_masking import HIDDEN, masked, without_values

TYPED = "canary-typed"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ({"id": "a-b", "external_user_id": "u", "page": 2}, {"id": "a-b", "external_user_id": "u", "page": 2}),
        ({"client_secret": TYPED, "check": True}, {"client_secret": HIDDEN, "check": True}),
        ({"cfmap_json": {"k": TYPED}, "anything_new": TYPED}, {"cfmap_json": HIDDEN, "anything_new": HIDDEN}),
        ({"webhook_url": f"https://u:{TYPED}@a.example:444/{TYPED}?k={TYPED}"}, {"webhook_url": "https://a.example/…"}),
        ({"urls": [f"http://a.example/{TYPED}", f"http://[{TYPED}"]}, {"urls": ["http://a.example/…", HIDDEN]}),
        ({"workflow_ids": ["wf_1"], "name": None}, {"workflow_ids": ["wf_1"], "name": None}),
        ({"id": {"deep": TYPED}}, {"id": HIDDEN}),
        (
            {"configured_props": {"app": {"authProvisionId": "apn_1", "x": TYPED}, "id": TYPED, "n": 5, "on": True}},
            {"configured_props": {"app": {"authProvisionId": "apn_1"}, "id": HIDDEN, "n": HIDDEN, "on": True}},
        ),
        ({"configured_props": {"h": {TYPED: TYPED}, "l": [TYPED]}}, {"configured_props": {"h": HIDDEN, "l": HIDDEN}}),
        ({"configured_props": TYPED}, {"configured_props": HIDDEN}),
    ],
)  # fmt: skip
def test_what_is_kept_of_a_body(body: dict[str, Any], kept: dict[str, Any]) -> None:
    assert masked(body) == kept
    assert TYPED not in str(masked(body))


def test_the_sentence_repeats_nothing_that_was_typed() -> None:
    body = {"id": "http-get", "configured_props": {"id": TYPED, "to": ["second-one"]}}
    assert without_values(f"“{TYPED}” is wrong. second-one is none of http-get.", body) == (
        "“…” is wrong. … is none of http-get."
    )
