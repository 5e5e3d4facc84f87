"""Every prop type and every field of it, as the wire has them (contract "Props", "Prop types")."""

from typing import Any

import pytest

from webapp.service.components import prop_types as p
from webapp.service.components.props import Prop

SQL_DEFAULT = {"value": "", "query": "", "params": [], "usePreparedStatements": True}


@pytest.mark.parametrize(
    ("prop", "own"),
    [
        (p.app("github"), {"type": "app", "app": "github"}),
        (p.alert("Mind this.", "warning"), {"type": "alert", "content": "Mind this.", "alertType": "warning"}),
        (p.string(default="a"), {"type": "string", "default": "a"}),
        (p.string(secret=True, format="file-ref"), {"type": "string", "secret": True, "format": "file-ref"}),
        (p.string_list(default=("a",)), {"type": "string[]", "default": ["a"]}),
        (p.integer(min=0, max=9, default=0), {"type": "integer", "min": 0, "max": 9, "default": 0}),
        (p.integer_list(default=[1]), {"type": "integer[]", "default": [1]}),
        (p.boolean(default=False), {"type": "boolean", "default": False}),
        (p.object_(default={"a": 1}), {"type": "object", "default": {"a": 1}}),
        (p.any_(default=1), {"type": "any", "default": 1}),
        (p.sql("postgresql"), {"type": "sql", "auth": {"app": "postgresql"}, "default": SQL_DEFAULT}),
        (p.http_request(default={"url": "/"}), {"type": "http_request", "default": {"url": "/"}}),
        (p.data_store(), {"type": "data_store"}),
        (p.dir_("read", sync=True), {"type": "dir", "accessMode": "read", "sync": True}),
        (p.http_interface(custom_response=True), {"type": "$.interface.http", "customResponse": True}),
        (
            p.timer(default={"intervalSeconds": 9}, static={"intervalSeconds": 8}, choices=[{"intervalSeconds": 7}]),
            {
                "type": "$.interface.timer", "default": {"intervalSeconds": 9}, "static": {"intervalSeconds": 8},
                "options": [{"intervalSeconds": 7}],
            },
        ),
        (
            p.apphook("github", ["push"], remote=True),
            {"type": "$.interface.apphook", "appProp": "github", "eventNames": ["push"], "remote": True},
        ),
        (p.service_db(), {"type": "$.service.db"}),
        (p.airtable_base("a"), {"type": "$.airtable.baseId", "appProp": "a", "remoteOptions": True}),
        (p.airtable_table("b"), {"type": "$.airtable.tableId", "baseIdProp": "b", "remoteOptions": True}),
        (p.airtable_view("t"), {"type": "$.airtable.viewId", "tableIdProp": "t", "remoteOptions": True}),
        (p.airtable_field("t"), {"type": "$.airtable.fieldId", "tableIdProp": "t", "remoteOptions": True}),
        (p.discord_channel("d"), {"type": "$.discord.channel", "appProp": "d"}),
        (p.discord_channel_list("d"), {"type": "$.discord.channel[]", "appProp": "d"}),
    ],
)  # fmt: skip
def test_a_prop_on_the_wire(prop: Prop, own: dict[str, Any]) -> None:
    assert prop.to_json("it") == {"name": "it", **own}
