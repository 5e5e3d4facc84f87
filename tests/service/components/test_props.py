"""What props of every type share, as the wire has it, and how a shared prop is adapted."""

import pytest

from webapp.service.components import prop_types as p
from webapp.service.components.options import Option, Options


def test_what_all_props_share() -> None:
    prop = p.string(
        label="L", description="D", optional=True, disabled=True, read_only=True, hidden=True, reload_props=True,
        use_query=True, with_label=True, options=lambda ctx: Options([]),
    )  # fmt: skip
    assert prop.to_json("it") == {
        "name": "it", "type": "string", "label": "L", "description": "D", "optional": True, "disabled": True,
        "readOnly": True, "hidden": True, "reloadProps": True, "useQuery": True, "withLabel": True,
        "remoteOptions": True,
    }  # fmt: skip


def test_static_options_are_label_and_value() -> None:
    prop = p.integer(options=[Option("One", 1), 2])
    assert prop.to_json("it")["options"] == [{"label": "One", "value": 1}, {"label": "2", "value": 2}]
    assert prop.find_options is None
    assert p.sql("postgresql", tables=lambda ctx: Options([])).to_json("q")["remoteOptions"] is True


def test_a_shared_definition_is_adapted_where_it_is_used() -> None:
    shared = p.string(label="Project", options=lambda ctx: Options([]))
    adapted = shared.but(optional=True, label="Other project")
    assert adapted.find_options is shared.find_options
    assert (adapted.label, adapted.optional, shared.optional) == ("Other project", True, False)
    with pytest.raises(TypeError):
        shared.but(colour="red")
