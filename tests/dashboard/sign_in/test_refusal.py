from typing import Any

from webapp.dashboard.sign_in.refusal import refused


def test_it_says_why_and_leads_to_the_sign_in_page(stage: Any) -> None:
    with stage.app.test_request_context("/"):
        answers = [refused("No <way>", "It is gone.", code=429), refused("No", "Gone.", way_on="Back")]
    texts = [answer.get_data(as_text=True) for answer in answers]
    assert [answer.status_code for answer in answers] == [429, 403]
    assert "No &lt;way&gt;" in texts[0] and "It is gone." in texts[0]
    assert 'href="/sign-in"' in texts[0] and "Sign in instead" in texts[0]
    assert "Back" in texts[1] and "Sign in instead" not in texts[1]
