"""Warms the runner up: runs once what most calls do, so that children share loaded libraries and their caches.

Database drivers take a quarter of the runner's memory, so they are imported with the first call that may need them.
"""

import gc
import importlib
import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path

import orjson

from webapp.service.components import limits
from webapp.service.components.brokered_http import BrokerLine
from webapp.service.components.child_calls import AccountFields, ChildCall
from webapp.service.components.context import Context
from webapp.service.components.loader import declaration, load, props_of
from webapp.service.components.wire import frame

FEEDS = ("feedparser",)
DRIVERS = ("webapp.service.outbound.mysql", "webapp.service.outbound.postgres")
"""Slow to import, used by some components."""
_SOURCE = """
from webapp.service.components.authoring import Action, app, string

class Warm(Action):
    account = app("warm")
    text = string(label="Text")

    def run(self, ctx):
        ctx.log("warm")
        ctx.export("$summary", "Warm")
        return ctx.http.post("/warm", params={"text": ctx.props.text}, json={"a": [1]}).json()
"""
_HEAD = {"status": 200, "headers": [["Content-Type", "application/json"]], "url": "https://warm.invalid/", "size": 2}


@cache
def preload(names: tuple[str, ...]) -> None:
    """Import the modules ``names`` that are installed, once for all later children."""
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)
    limits.own_bytes.cache_clear()
    gc.freeze()


def warm_up(folder: Path) -> None:
    """Run a built-in action, written below ``folder``, and answer its single HTTP request here."""
    path = folder / "warm" / "actions" / "warm" / "1.0.0.py"
    path.parent.mkdir(parents=True)
    path.write_text(_SOURCE)
    near, far = socket.socketpair()
    with near, far:
        far.sendall(frame(orjson.dumps(_HEAD)) + b"{}")
        component = load(path)
        declaration(component)
        call = ChildCall(str(path), props={"text": "warm"}, accounts={"account": AccountFields()})
        messages: list[object] = []
        component().run(Context(call, props_of(component), BrokerLine(near.fileno()), messages.append))
    path.unlink()
    os.removedirs(path.parent)
