"""Questions before a step lead back to the page."""

from typing import Any

from webapp.dashboard.build.apps import frame


def test_a_question_has_a_way_back(stage: Any) -> None:
    with stage.request("/build/apps/oa_1/removal"):
        page = frame.question(
            heading="Delete <it>?", text="It goes.", stops=["A thing"], blocked="", button="Delete", confirm_url="/x"
        )
        assert "Delete &lt;it&gt;?" in page and 'href="/build/apps"' in page and 'action="/x"' in page
        assert frame.back("clients").headers["Location"] == "/build/apps#clients"
