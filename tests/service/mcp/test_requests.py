"""A tool's arguments as a request of its action."""

from typing import Any


def test_the_id_of_further_arguments_is_text_and_the_persons_own(world: Any) -> None:
    world.account()
    agent = world.agent()
    assert agent.text("make_task", dynamic_props_id=5).startswith("Send these arguments to begin_configuration")
    unknown = agent.text("make_task", title="A", project_id="p1", dynamic_props_id="dyp_none")
    assert "reload its props again" in unknown


def test_files_that_an_action_writes_come_with_links(world: Any) -> None:
    told = world.agent().text("writes", names=["a.txt"])
    assert "get_url" in told


def test_a_label_of_an_agent_says_nothing(world: Any) -> None:
    agent = world.agent()
    labelled = agent.text("every_type", number={"__lv": {"label": "Four", "value": 3}}, __lv={"label": "x", "value": 1})
    assert '"number":3' in labelled and "Four" not in labelled
