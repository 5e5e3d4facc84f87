"""All of ``patchbay serve``, the real one: its processes, who signs in, what is delivered, and its cost at rest."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from urllib.parse import urlencode

from tests.bench.calls import Request
from tests.bench.meter import Client, Server, children_of, pss_mb, spent_s
from tests.bench.scene import PASSWORD, Scenery
from tests.fakes.ports import free_port
from webapp import quotas

MEMORY_TARGET_MB, IDLE_TARGET = 250.0, 1.0
PROCESSES = ("runner", "web", "worker", "sandbox")  # in the order in which they are started
BESIDE = (1, 25)  # the sandbox and mail, beside the dashboard and the API
SETTLED_S = 1.0
PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Rest:
    """``memory_mb``: proportional set size in MB of each process, after ``requests`` and as many ``events`` accepted
    and delivered; CPU in percent of one processor, over ``idle_s`` seconds in which nothing is asked or due."""

    requests: int
    events: int
    memory_mb: dict[str, float]
    total_mb: float
    idle_s: float
    idle_worker_percent: float
    idle_all_percent: float

    def text(self) -> str:
        """The lines to print."""
        shares = ", ".join(f"{name} {size:.0f}" for name, size in self.memory_mb.items())
        return (
            f"all of serve after {self.requests:,} requests and {self.events:,} delivered events: {self.total_mb:.0f} "
            f"MB PSS ({shares}), to reach < {MEMORY_TARGET_MB:g} MB, {_verdict(self.total_mb < MEMORY_TARGET_MB)}\n"
            f"idle for {self.idle_s:g} s: the worker takes {self.idle_worker_percent:.2f} % of a processor, to reach "
            f"< {IDLE_TARGET:g} %, {_verdict(self.idle_worker_percent < IDLE_TARGET)}; all of serve "
            f"{self.idle_all_percent:.2f} %"
        )


class Serve(Server):
    """``patchbay serve``."""

    def __init__(self, port: int, supervisor: int) -> None:
        super().__init__(port, lambda: [supervisor, *children_of(supervisor)])
        self.supervisor = supervisor

    def memory_mb(self) -> float:
        """The proportional set size of all its processes, in MB."""
        return sum(map(pss_mb, [self.supervisor, *children_of(self.supervisor)]))

    def at_rest(self, requests: int, events: int, idle_s: float) -> Rest:
        """What its processes hold and take once they have nothing to do, after so many requests and events."""
        time.sleep(SETTLED_S)
        children = zip(PROCESSES, children_of(self.supervisor), strict=True)
        processes = {"supervisor": self.supervisor, **dict(children)}
        memory = {name: round(pss_mb(pid), 1) for name, pid in processes.items()}
        before = {name: spent_s(pid) for name, pid in processes.items()}
        time.sleep(idle_s)
        idle = {name: (spent_s(pid) - before[name]) / idle_s * 100 for name, pid in processes.items()}
        return Rest(
            requests=requests,
            events=events,
            memory_mb=memory,
            total_mb=round(sum(memory.values()), 1),
            idle_s=idle_s,
            idle_worker_percent=round(idle["worker"], 3),
            idle_all_percent=round(sum(idle.values()), 3),
        )

    def sign_in(self, email: str) -> str:
        """The cookies of one of the people whom the scene has, as a browser keeps them from their first page on."""
        with closing(self.client()) as client:
            headers, page = client.answer(Request("GET", "/sign-in"))
            kept = _kept({}, headers)
            token = re.search(rb'name="csrf_token" value="([^"]+)"', page)
            if token is None:
                raise RuntimeError("the page to sign in has no form")
            fields = urlencode({"csrf_token": token[1].decode(), "email": email, "password": PASSWORD})
            posted = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": _cookie(kept)}
            headers, _ = client.answer(Request("POST", "/sign-in", posted, fields.encode(), 303))
            kept = _kept(kept, headers)
            headers, _ = client.answer(Request("GET", "/settings", {"Cookie": _cookie(kept)}))
        return _cookie(_kept(kept, headers))


@dataclass(frozen=True, slots=True)
class Listener:
    """A trigger that listens at ``path`` and delivers to a receiver."""

    scenery: Scenery
    external_id: str
    id: str
    path: str

    def delivered(self, client: Client) -> int:
        """How many of its events have arrived."""
        query = urlencode({"external_user_id": self.external_id})
        path = f"{self.scenery.base}/deployed-triggers/{self.id}/stats?{query}"
        return int(json.loads(client.ask(Request("GET", path, self.scenery.headers)))["data"]["delivered"])

    def wait(self, client: Client, count: int) -> None:
        """Until ``count`` events have arrived. Raises ``RuntimeError`` when none do for :data:`PATIENCE_S` seconds."""
        before, ends = -1, 0.0
        while (arrived := self.delivered(client)) < count:
            if arrived > before:
                before, ends = arrived, time.monotonic() + PATIENCE_S
            elif time.monotonic() > ends:
                raise RuntimeError("the events were not delivered")
            time.sleep(0.2)


def deploy(client: Client, scenery: Scenery, external_id: str, url: str | None) -> Listener:
    """Deploy a trigger of the user ``external_id`` that listens, and delivers to ``url``, if anywhere."""
    body = {"id": "http-new-requests", "external_user_id": external_id, **({"webhook_url": url} if url else {})}
    headers = {**scenery.headers, "Content-Type": "application/json"}
    posted = Request("POST", f"{scenery.base}/triggers/deploy", headers, json.dumps(body).encode())
    trigger = json.loads(client.ask(posted))["data"]
    return Listener(scenery, external_id, trigger["id"], "/h/" + trigger["endpoint_url"].partition("/h/")[2])


def unbounded() -> dict[str, str]:
    """Settings with which no quota is met."""
    return {f"PATCHBAY_{quota.name}": str(quota.most) for quota in quotas.TABLE if quota.window_s or quota.unit > 1}


@contextmanager
def serving(data: Path, netloc: str, **settings: str) -> Iterator[Serve]:
    """``patchbay serve`` over ``data`` in a child, which may reach ``netloc``. No quota is met."""
    port = free_port(*BESIDE)
    own = {"PATCHBAY_DATA": str(data), "PATCHBAY_PORT": str(port), "PATCHBAY_ALLOW_HOSTS": netloc,
           "PATCHBAY_LOG_LEVEL": "error", **unbounded(), **settings}  # fmt: skip
    env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")} | own
    command = [sys.executable, "-m", "webapp.cli.main", "serve"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError("the server did not start")
            yield Serve(port, process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _kept(cookies: Mapping[str, str], headers: Message) -> dict[str, str]:
    """``cookies`` by name, as a browser has them after an answer with ``headers``: an empty one is deleted."""
    pairs = (line.partition(";")[0].partition("=") for line in headers.get_all("Set-Cookie", []))
    return {name: value for name, value in {**cookies, **{name: value for name, _, value in pairs}}.items() if value}


def _cookie(cookies: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def _verdict(reached: bool) -> str:
    return "yes" if reached else "no"
