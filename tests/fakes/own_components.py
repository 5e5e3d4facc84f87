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

    reads_secrets = True
    account = app("tinykeys")
    project_id = string(label="Project", options=projects, use_query=True, reload_props=True, with_label=True)
    title = string(label="Title")
    urgent = boolean(label="Urgent", optional=True, default=False)
    token = string(label="Token", secret=True, optional=True)

    def reload(self, ctx):
        ctx.log("reloading for", ctx.props.project_id)
        if ctx.props.project_id == "p13":
            raise ComponentError("Project 13 cannot be read.")
        if ctx.props.project_id == "p14":
            return {{"size": integer(label="Size", default="many")}}
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

POLL = """
class Poll(Trigger):
    name = "Poll"
    description = "Emits the ids that it is configured with, and tells its account's app of each hook."
    dedupe = "unique"
    account = app("tinykeys", optional=True)
    timer = timer(default={"intervalSeconds": 60})
    db = service_db()
    ids = string_list(label="Ids", optional=True)
    fail = string(label="What fails", optional=True)
    token = string(label="Token", secret=True, optional=True)

    def hook(self, ctx, name):
        ctx.db.set("hooks", [*ctx.db.get("hooks", []), name])
        if ctx.accounts:
            ctx.http.get(f"/me?{name}={','.join(ctx.props.ids or [])}")
        if name in (ctx.props.fail or ""):
            raise ComponentError(f"The app refused to {name}.")

    def deploy(self, ctx):
        self.hook(ctx, "deploy")
        ctx.emit({"old": True}, id="old", summary="Was there before")

    def activate(self, ctx):
        self.hook(ctx, "subscribe")

    def deactivate(self, ctx):
        self.hook(ctx, "leave")

    def run(self, ctx):
        n = ctx.db.get("n", 0) + 1
        ctx.db.set("n", n)
        ctx.log("run", n, ctx.props.token)
        for one in ctx.props.ids or [f"{n}"]:
            ctx.emit({"id": one, "n": n, "tick": ctx.event}, id=one, summary=f"Number {one}")
        if "run" in (ctx.props.fail or ""):
            raise ComponentError("The app does not answer.")
"""

ECHO = """
class Echo(Trigger):
    name = "Echo"
    description = "Emits what it is sent, and answers with its own address."
    http = http_interface(custom_response=True)
    db = service_db()

    def run(self, ctx):
        ctx.emit(ctx.event["body"], id=ctx.event["body"].get("id"))
        ctx.db.set("count", ctx.db.get("count", 0) + 1)
        ctx.respond(202, {"endpoint": ctx.endpoint})
        if ctx.event["body"].get("fail"):
            raise ComponentError("It could not be read.")
"""

FOLLOW_OLD = """
class Follow(Trigger):
    name = "Follow"
    description = "Follows everything, as it used to."
    http = http_interface()

    def run(self, ctx):
        ctx.emit(ctx.event["body"])
"""

FOLLOW = """
class Follow(Trigger):
    name = "Follow"
    description = "Follows one thing; which one depends on its kind."
    http = http_interface()
    kind = string(label="Kind", optional=True, reload_props=True)

    def reload(self, ctx):
        return {f"{ctx.props.kind}_id": string(label="Which one")}

    def run(self, ctx):
        ctx.emit(ctx.extra)
"""

WRITES = f"""
class Writes(Action):
    name = "Writes files"
    description = "Writes what it is told, and counts what stood there before."
    annotations = {ANNOTATIONS}
    stash = "optional"
    names = string_list(label="Names")
    size = integer(label="Size", default=3)

    def run(self, ctx):
        before = sorted(path.name for path in ctx.files.path("any").parent.iterdir())
        ctx.files.path("any").parent.joinpath("stray.tmp").write_bytes(b"not by ctx.files")
        for name in ctx.props.names:
            ctx.files.write(name, b"x" * ctx.props.size)
        return before
"""

MEASURES = f"""
class Measures(Action):
    name = "Measures files"
    description = "Says how large each file is that it gets."
    annotations = {ANNOTATIONS}
    file = string(label="File", format="file-ref")
    more = string_list(label="More files", format="file-ref", optional=True)

    def run(self, ctx):
        places = [ctx.props.file, *(ctx.props.more or ())]
        paths = [ctx.files.path(place.rpartition("/")[2]) for place in places]
        ctx.export("$summary", f"Measured {{len(paths)}}.")
        return [dict(place=place, size=path.stat().st_size) for place, path in zip(places, paths)]
"""

FILES = {
    "make-task/1.0.0.py": OLD,
    "make-task/1.1.0.py": MAKE_TASK,
    "every-type/0.1.0.py": EVERY_TYPE,
    "fail/1.0.0.py": FAILS,
    "watch/1.0.0.py": WATCH,
    "poll/1.0.0.py": POLL,
    "echo/1.0.0.py": ECHO,
    "follow/1.0.0.py": FOLLOW_OLD,
    "follow/1.1.0.py": FOLLOW,
    "query/1.0.0.py": QUERY,
    "who-am-i/1.0.0.py": WHO,
    "writes/1.0.0.py": WRITES,
    "measures/1.0.0.py": MEASURES,
}


def stock(folder: Path) -> Path:
    """Put the components into ``folder``."""
    for place, text in FILES.items():
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(HEAD + text, "utf-8")
    return folder
