"""GitLab's actions are the same wherever GitLab stands, but for the account that they take first."""

import pytest

from webapp.service.catalog.sources import BUILT_IN
from webapp.service.components import loader

ACTIONS = sorted(folder.name for folder in (BUILT_IN / "gitlab" / "actions").iterdir())


@pytest.mark.parametrize("action", ACTIONS)
def test_both_apps_have_each_action_with_an_account_of_their_own(action: str) -> None:
    props = {}
    for slug in ("gitlab", "gitlab_self_managed"):
        component = loader.load(BUILT_IN / slug / "actions" / action / "0.0.1.py")
        declared = loader.to_json(loader.props_of(component))
        assert (declared[0]["name"], declared[0]["type"], declared[0]["app"]) == ("gitlab", "app", slug)
        props[slug] = declared[1:]
    assert props["gitlab"] == props["gitlab_self_managed"] != []
