"""The operator's own components of the tests, as files: what a data folder's ``components`` would hold."""

from pathlib import Path

HEAD = "from webapp.service.components.authoring import *\n"
ANNOTATIONS = "dict(readOnlyHint=False, destructiveHint=False, idempotentHint=False, openWorldHint=True)"

MAKE_TASK = f"""
def projects(ctx):
    found = [f"Project {{n}}" for n in range(200) if ctx.query.lower() in f"project {{n}}"]
    start = ctx.previous.get("start", ctx.page * 50)
    items = [Option(label, f"p{{label.split()[1]}}") for label in found[start:start + 50]]
    ctx.log("looked up", ctx.auth.get("api_key"))
    return Options(items, {{"start": start + 50, "account": ctx.auth["region"]}})

def columns(ctx):
    return Options(["red", "green"])

class MakeTask(Action):
    name = "Make task"
    description = "Makes a task in a project."
    annotations = {ANNOTATIONS}

    account = app("tinykeys")
    project_id = string(label="Project", options=projects, use_query=True, reload_props=True, with_label=True)
    title = string(label="Title")
    urgent = boolean(label="Urgent", optional=True, default=False)
    token = string(label="Token", secret=True, optional=True)

    def reload(self, ctx):
        ctx.log("reloading for", ctx.props.project_id)
        if ctx.props.project_id == "p13":
            raise ComponentError("Project 13 cannot be read.")
        return {{
            "colour": string(label="Colour", options=columns),
            "size": integer(label="Size", min=1, max=9, optional=True),
        }}

    def run(self, ctx):
        me = ctx.http.get("/me").json()
        ctx.log("working for", me["name"], "with", ctx.props.token)
        ctx.export("$summary", f"Made {{ctx.props.title}} with {{ctx.props.token}}")
        ctx.export("echo", ctx.props.token)
        return {{
            "me": me, "title": ctx.props.title, "urgent": ctx.props.urgent, "label": ctx.label("project_id"),
            "extra": ctx.extra, "fields": sorted(ctx.auth),
        }}
"""

OLD = f"""
class MakeTask(Action):
    name = "Make task"
    description = "Makes a task, as it used to."
    annotations = {ANNOTATIONS}
    title = string(label="Title")

    def run(self, ctx):
        return {{"old": ctx.props.title}}
"""

EVERY_TYPE = f"""
class EveryType(Action):
    name = "Every type"
    description = "Has a prop of each type."
    annotations = {ANNOTATIONS}

    note = alert("Mind the gap.")
    account = app("tinykeys", optional=True)
    text = string(label="Text", optional=True, options=["a", "b"])
    texts = string_list(label="Texts", optional=True)
    number = integer(label="Number", optional=True, min=1, max=5)
    numbers = integer_list(label="Numbers", optional=True)
    flag = boolean(label="Flag", optional=True)
    thing = object_(label="Thing", optional=True)
    anything = any_(label="Anything", optional=True)
    statement = sql("account", label="Statement", optional=True)
    request = http_request(label="Request", optional=True)
    store = data_store(label="Store", optional=True)
    folder = dir_("read")
    hook = http_interface()
    clock = timer(default={{"intervalSeconds": 900}})
    events = apphook("account", ["made"])
    memory = service_db()
    base = airtable_base("account", label="Base", optional=True)
    table = airtable_table("base", label="Table", optional=True)
    view = airtable_view("table", label="View", optional=True)
    field = airtable_field("table", label="Field", optional=True)
    channel = discord_channel("account", label="Channel", optional=True)
    channels = discord_channel_list("account", label="Channels", optional=True)

    def run(self, ctx):
        return dict(ctx.props)
"""

FAILS = f"""
class Fails(Action):
    name = "Fail"
    description = "Always fails."
    annotations = {ANNOTATIONS}
    token = string(label="Token", secret=True)

    def run(self, ctx):
        ctx.log("about to fail")
        raise ComponentError(f"It failed with {{ctx.props.token}}.")
"""

WATCH = """
def lists(ctx):
    raise ComponentError("The lists cannot be read.")

class Watch(Trigger):
    name = "Watch"
    description = "Watches a list."
    account = app("tinykeys")
    list_id = string(label="List", options=lists)
    kind = string(label="Kind", options=[Option("Open tasks", "open"), Option("Closed tasks", "closed")])

    def run(self, ctx):
        ctx.emit({})
"""

QUERY = f"""
class Query(Action):
    name = "Query"
    description = "Asks a database."
    annotations = {ANNOTATIONS}
    account = app("postgresql")
    statement = sql("account", label="Statement")

    def run(self, ctx):
        return ctx.props.statement
"""

WHO = f"""
class WhoAmI(Action):
    name = "Who am I"
    description = "Tells whose account it is."
    annotations = {ANNOTATIONS}
    account = app("tinyoauth")

    def run(self, ctx):
        return {{"name": ctx.http.get("/me").json()["name"], "fields": sorted(ctx.auth)}}
"""

FILES = {
    "make-task/1.0.0.py": OLD,
    "make-task/1.1.0.py": MAKE_TASK,
    "every-type/0.1.0.py": EVERY_TYPE,
    "fail/1.0.0.py": FAILS,
    "watch/1.0.0.py": WATCH,
    "query/1.0.0.py": QUERY,
    "who-am-i/1.0.0.py": WHO,
}


def stock(folder: Path) -> Path:
    """Put the components into ``folder``."""
    for place, text in FILES.items():
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(HEAD + text, "utf-8")
    return folder
