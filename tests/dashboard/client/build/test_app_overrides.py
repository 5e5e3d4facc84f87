"""App overrides over the API, as the dashboard's own client sees them."""

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.build.app_overrides import AppOverrides
from webapp.errors import Forbidden, NotFound

OVERRIDE = {"id": "aov_1", "name": "Ours", "app": {"name_slug": "zendesk"}, "oauth_app_id": None, "cfmap": {"a": "b"}}


def test_overrides_are_listed_made_changed_and_deleted() -> None:
    recorder = Recorder({"data": [OVERRIDE]}, OVERRIDE, OVERRIDE, OVERRIDE, None)
    overrides = AppOverrides(recorder)
    page = overrides.list()
    assert page is not None and (page.items[0].values, page.items[0].oauth_app_id) == ({"a": "b"}, "")
    assert overrides.get("aov_1").app.slug == "zendesk"
    overrides.create("zendesk", {"name": "Ours"})
    overrides.change("aov_1", {"name": "Mine"})
    overrides.delete("aov_1")
    assert [call[1:3] for call in recorder.calls] == [
        ("GET", "P/app_overrides"), ("GET", "P/app_overrides/aov_1"), ("POST", "P/app_overrides"),
        ("PUT", "P/app_overrides/aov_1"), ("DELETE", "P/app_overrides/aov_1"),
    ]  # fmt: skip
    assert recorder.calls[2][3] == {"body": {"app": "zendesk", "name": "Ours"}}


@pytest.mark.parametrize("refusal", [NotFound("No."), Forbidden("No.")])
def test_a_service_without_the_list_has_none(refusal: Exception) -> None:
    assert AppOverrides(Recorder(refusal)).list() is None
