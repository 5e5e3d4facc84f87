"""The names that agents know actions by: such as strict clients take, each of one action alone."""

import re

from webapp.service.components.tool_names import SEARCH, ToolNames


def test_a_name_is_the_key_with_underscores() -> None:
    names = ToolNames([("sandbox-create-task", "sandbox"), ("~/make-task", "tinykeys")])
    assert names.of_key("sandbox-create-task") == names.of_name("sandbox_create_task")
    made = names.of_name("make_task")
    assert made == ("make_task", "~/make-task", "tinykeys") == names.of_key("~/make-task")
    assert names.of_key("sandbox-create") is names.of_name("sandbox_create") is names.of_name("zz") is None


def test_keys_that_would_share_a_name_and_long_ones_get_names_that_stay() -> None:
    long = "an-app-" + "long-" * 20 + "action"
    keys = ["a-b-c", "a-b_c", "~/a-b-c", long, "search-tools"]
    names = ToolNames((key, None) for key in keys)
    every = [action.name for action in names.of_apps([])]
    assert len(set(every)) == len(keys) and every == sorted(every) and "a_b_c" in every
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in every) and SEARCH not in every
    assert [names.of_name(name) for name in every] == [*names.of_apps([])]
    again = ToolNames((key, None) for key in [*keys, "b-c"])
    assert [again.of_key(key) for key in keys] == [names.of_key(key) for key in keys]
    assert (first := names.of_name("a_b_c")) and first.key == "a-b-c"


def test_the_actions_of_some_apps_come_by_name() -> None:
    names = ToolNames([("b-two", "b"), ("a-one", "a"), ("b-one", "b"), ("loose", None)])
    assert [action.key for action in names.of_apps(["b", "a", "b"])] == ["a-one", "b-one", "b-two"]
    assert len(names.of_apps([])) == 4 and names.of_apps(["gone"]) == []
    assert [action.key for action in names.without_app] == ["loose"]


def test_what_is_in_no_list_has_a_name_all_the_same() -> None:
    names = ToolNames([("a-one", "a"), ("a-two", "a"), ("a-three", "a")], ["a-one"], {"a-two"})
    assert (
        [action.key for action in names.of_apps([])[:2]]
        == [action.key for action in names.of_apps(["a"])]
        == ["a-three"]
    )
    assert [action and action.key for action in map(names.of_name, ("a_one", "a_two"))] == ["a-one", "a-two"]
    assert names.is_searched(["a"]) and names.is_searched([]) and not names.is_searched(["b"])
