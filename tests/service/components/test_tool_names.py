"""The names that agents know actions by: such as strict clients take, each of one action alone."""

import re

from webapp.service.components.tool_names import SEARCH, ToolNames


def test_a_name_is_the_key_with_underscores() -> None:
    names = ToolNames([("sandbox-create-task", "sandbox"), ("~/make-task", "tinykeys")])
    assert names.by_key["sandbox-create-task"].name == "sandbox_create_task"
    assert names.by_name["make_task"].key == "~/make-task"


def test_keys_that_would_share_a_name_and_long_ones_get_names_that_stay() -> None:
    long = "an-app-" + "long-" * 20 + "action"
    keys = ["a-b-c", "a-b_c", "~/a-b-c", long, "search-tools"]
    names = ToolNames((key, None) for key in keys)
    assert len(names.by_name) == len(keys) and names.by_key["a-b-c"].name == "a_b_c"
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in names.by_name) and SEARCH not in names.by_name
    again = ToolNames((key, None) for key in [*keys, "b-c"])
    assert {key: again.by_key[key].name for key in keys} == {key: names.by_key[key].name for key in keys}


def test_the_actions_of_some_apps_come_by_name() -> None:
    names = ToolNames([("b-two", "b"), ("a-one", "a"), ("b-one", "b"), ("loose", None)])
    assert [action.key for action in names.of_apps(["b", "a", "b"])] == ["a-one", "b-one", "b-two"]
    assert len(names.of_apps([])) == 4 and names.of_apps(["gone"]) == []
