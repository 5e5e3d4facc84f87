"""Every type of prop and every flag on one form, to see how a form draws them; running it gives the values back."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import (
    Action,
    Context,
    Option,
    Options,
    Prop,
    airtable_base,
    airtable_field,
    airtable_table,
    airtable_view,
    alert,
    any_,
    app,
    apphook,
    boolean,
    data_store,
    dir_,
    discord_channel,
    discord_channel_list,
    http_interface,
    http_request,
    integer,
    integer_list,
    object_,
    service_db,
    sql,
    string,
    string_list,
    timer,
)

from .. import common

FLAVOURS = [Option("Vanilla", "v"), Option("Chocolate", "c"), Option("Lemon", "l")]
TABLES = {"tasks": {"metadata": {"rowCount": 3}, "schema": {"title": {"dataType": "text", "isNullable": False}}}}


def _find_fields(ctx: Context) -> Options:
    """The custom fields of the project that plays the base."""
    fields = ctx.http.get(common.in_project(ctx.props.base, "fields")).json()["data"]
    return Options([Option(field["label"], field["key"]) for field in fields])


def _find_base_tasks(ctx: Context) -> Options:
    """The tasks of the project that plays the base."""
    tasks = ctx.http.get(common.in_project(ctx.props.base, "tasks")).json()["data"]
    return Options([Option(task["title"], task["id"]) for task in tasks])


def _count_up(ctx: Context) -> Options:
    """Three pages of numbers without end: each page is told by the context of the one before."""
    first = ctx.previous.get("next", 1)
    return Options([str(number) for number in range(first, first + 10)] if first < 30 else [], {"next": first + 10})


def _show_tables(ctx: Context) -> Options:
    """What there would be to query."""
    return Options([], {"dbInfo": TABLES})


class ShowAllProps(Action):
    name = "Show all props"
    description = (
        "Show every type of field that a component may ask for, and give back what you filled in. "
        "[See the documentation](${sandbox}/)"
    )
    annotations = READS

    account = app("sandbox")

    info = alert("Nothing here is sent anywhere; the result shows what the action was given.")
    neutral = alert("A neutral note.", "neutral")
    warning = alert("A note to take care.", "warning")
    error = alert("A note about what does not work.", "error")

    text = string(label="Text", description="Required, and with a default.", default="Hello")
    text_optional = string(label="Optional text", optional=True)
    text_secret = string(label="Secret text", description="Masked, and sealed when kept.", secret=True, optional=True)
    text_file = string(label="File", description="An address or a path.", format="file-ref", optional=True)
    text_disabled = string(label="Disabled text", disabled=True, optional=True, default="Cannot be changed now")
    text_read_only = string(label="Read-only text", read_only=True, optional=True, default="Can only be read")
    text_hidden = string(label="Hidden text", hidden=True, optional=True, default="Not shown")
    choice = string(label="One of a few", options=FLAVOURS, default="v")
    project = common.project.but(label="Searched on the server", optional=True)
    number_of_many = string(label="More on demand", options=_count_up, optional=True)
    texts = string_list(label="Several texts", optional=True, default=["one", "two"])
    choices = string_list(label="Several of a few", options=FLAVOURS, with_label=True, optional=True)

    number = integer(label="Whole number", min=1, max=10, default=3)
    number_choice = integer(label="One of a few numbers", options=[15, 30, 60], optional=True)
    numbers = integer_list(label="Several whole numbers", min=0, optional=True)
    yes = boolean(label="Yes or no", optional=True, default=True)
    fields = object_(label="Object", optional=True, default={"colour": "green"})
    anything = any_(label="Anything", description="Any JSON value.", optional=True)

    query = sql("sandbox", tables=_show_tables, label="SQL", optional=True)
    request = http_request(label="HTTP request", optional=True)
    store = data_store(label="Data store", optional=True)

    base = airtable_base("account", label="Airtable base", options=common.find_projects, optional=True)
    table = airtable_table("base", label="Airtable table", options=_find_base_tasks, optional=True)
    view = airtable_view("table", label="Airtable view", options=_find_fields, optional=True)
    field = airtable_field("table", label="Airtable field", options=_find_fields, optional=True)
    channel = discord_channel("account", label="Discord channel", options=common.find_projects, optional=True)
    channels = discord_channel_list("account", label="Discord channels", options=common.find_projects, optional=True)

    more = integer(label="More fields", description="So many appear below.", min=0, max=5, default=0, reload_props=True)

    folder = dir_("read-write", sync=True, label="Folder")
    address = http_interface(custom_response=True)
    schedule = timer(default={"intervalSeconds": 900})
    hook = apphook("account", ["task.created"])
    memory = service_db()

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        count = range(1, (ctx.props.more or 0) + 1)
        return {f"field_{number}": string(label=f"Field {number}", optional=True) for number in count}

    def run(self, ctx: Context) -> Any:
        values = {name: value for name, value in {**ctx.props, **ctx.extra}.items() if value is not None}
        if "text_secret" in values:
            values["text_secret"] = f"{len(values['text_secret'])} characters"
        ctx.export("$summary", f"Received {len(values)} values")
        return {"values": values, "labels": {name: label for name in values if (label := ctx.label(name))}}
