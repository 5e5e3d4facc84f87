"""A call in words, whatever its values are."""

from collections.abc import Callable

from tests.dashboard.embedded import Embedded
from webapp.service.domain.agents.approvals import Approval


def test_values_are_shown_under_the_labels_of_their_props(studio: Embedded, ask: Callable[..., Approval]) -> None:
    ask(
        "sandbox-create-task",
        title="Call Nadia",
        labels=["a", "b"],
        urgent=True,
        empty="",
        unknown={"x": 1},
    )
    page = studio.browser().get("/agents")
    assert "Title: Call Nadia" in page and "authProvisionId" not in page and "<dt>empty" not in page
    assert "&#34;a&#34;," in page and "<dt>unknown</dt>" in page


def test_a_value_is_shown_as_it_is(studio: Embedded, ask: Callable[..., Approval]) -> None:
    ask(
        "sandbox-create-task",
        title={"__lv": {"label": "Safe", "value": "Wipe"}},
        notes={"authProvisionId": "x", "q": "Hide"},
        labels=["a\u202eb"],
    )
    ask("sandbox-create-task", title="t" * 20_001)
    page = studio.browser().get("/agents")
    assert "Wipe" in page and "Hide" in page and "a\\u202eb" in page and "\u202e" not in page
    assert "… and 1 more characters" in page


def test_a_long_call_is_cut_in_the_line_alone(studio: Embedded, ask: Callable[..., Approval]) -> None:
    ask("sandbox-create-task", title="long " * 200)
    page = studio.browser().get("/agents")
    assert "…</summary>" in page and "long " * 150 in page


def test_an_action_that_is_gone_goes_by_its_key(studio: Embedded, ask: Callable[..., Approval]) -> None:
    ask("sandbox-gone", title="x")
    assert "<b>sandbox-gone</b>" in studio.browser().get("/agents")
