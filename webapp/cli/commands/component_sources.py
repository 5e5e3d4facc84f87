"""The first versions that ``patchbay component new`` writes: an action and a trigger, to be filled in and changed."""

ACTION = '''\
"""{title}."""

from typing import Any

from webapp.service.components.authoring import Action, Context, string


class {class_name}(Action):
    name = "{title}"
    description = "Says what a person gets from it, in a sentence or two."
    annotations = {{
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }}

    text = string(label="Text", description="What to say.")

    def run(self, ctx: Context) -> Any:
        ctx.export("$summary", f"Said {{ctx.props.text}}")
        return {{"text": ctx.props.text}}
'''
TRIGGER = '''\
"""{title}."""

from webapp.service.components.authoring import Context, Trigger, service_db, timer


class {class_name}(Trigger):
    name = "{title}"
    description = "Says what it emits and when, in a sentence or two."
    dedupe = "unique"

    timer = timer(default={{"intervalSeconds": 900}})
    db = service_db()

    def run(self, ctx: Context) -> None:
        count = ctx.db.get("count", 0) + 1
        ctx.emit({{"count": count}}, id=count, summary=f"Tick {{count}}")
        ctx.db.set("count", count)
'''
