"""What a component is called: by its app and its name."""

import pytest

from webapp.service.catalog.component_keys import OWN, key_of, name_of


@pytest.mark.parametrize(
    ("app", "name", "key"), [("slack", "send-message", "slack-send-message"), (None, "my-job", "~/my-job")]
)
def test_a_key_has_the_app_before_the_name(app: str | None, name: str, key: str) -> None:
    assert key_of(app, name) == key
    assert name_of(key, app) == name
    assert key.startswith(OWN) is (app is None)
