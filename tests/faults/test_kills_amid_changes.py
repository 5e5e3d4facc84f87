"""Fault 8, at random: processes are killed amid deployments, changes and deletions of triggers, at a provider that does
not know a subscription once it was deleted. Afterwards every active trigger has its subscription, and nothing is left.

``PATCHBAY_FAULT_KILLS`` says how often (6; ``make faults FULL=1``: 100).
"""

import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from tests.faults.running import Running, processes_of, until_more
from tests.faults.test_killed_half_way import LOADED, SOON_S, untrue_of_triggers
from tests.faults.world import World

KILLS = int(os.environ.get("PATCHBAY_FAULT_KILLS") or "6")
VICTIMS = ("runner", "web", "worker", "supervisor", "tree")
CALLERS = 4
MOST = 5  # triggers of each caller

pytestmark = pytest.mark.faults


class Caller(threading.Thread):
    """Deploys, changes and deletes triggers of its own until ``enough``; what fails is left as it is."""

    def __init__(self, world: World, seed: int, enough: threading.Event) -> None:
        super().__init__()
        self._world, self._chance, self._enough = world, random.Random(seed), enough
        self._triggers = list[str]()
        self.statuses = Counter[str]()

    def run(self) -> None:
        """Do one after another."""
        while not self._enough.is_set():
            verb = self._chance.choice(("deploy", "change", "change", "delete"))
            try:
                self._do(verb)
            except requests.RequestException:
                self.statuses[f"{verb} cut off"] += 1
                time.sleep(0.1)
            except AssertionError:
                self.statuses[f"{verb} refused"] += 1

    def _do(self, verb: str) -> None:
        if verb == "deploy" and len(self._triggers) < MOST:
            self._triggers.append(self._world.deploy())
            self.statuses["deploy 200"] += 1
        elif verb != "deploy" and self._triggers:
            trigger_id = self._chance.choice(self._triggers)
            path = f"/deployed-triggers/{trigger_id}?external_user_id=alice"
            topic = f"{trigger_id} {self._chance.random()}"
            props = {"origin": self._world.upstream.origin, "topic": topic}
            body = {"configured_props": props} if verb == "change" else None
            answer = self._world.ask("PUT" if verb == "change" else "DELETE", path, json=body)
            self.statuses[f"{verb} {answer.status_code}"] += 1
            if answer.status_code == 404 or (verb == "delete" and answer.ok):
                self._triggers.remove(trigger_id)


def test_every_active_trigger_has_its_subscription_and_none_is_left_over(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    chance, enough = random.Random(20261124), threading.Event()
    callers = [Caller(world, seed, enough) for seed in range(CALLERS)]
    for caller in callers:
        caller.start()
    try:
        for number in range(KILLS):
            time.sleep(chance.uniform(0.1, 0.8))
            _kill(world.server, VICTIMS[number % len(VICTIMS)])
    finally:
        enough.set()
        for caller in callers:
            caller.join(60)
    began = time.monotonic()
    while (untrue := untrue_of_triggers(world, "")) and time.monotonic() < began + SOON_S * LOADED:
        time.sleep(0.1)
    done = sum((caller.statuses for caller in callers), Counter[str]())
    listed = world.ask("GET", "/deployed-triggers?external_user_id=alice&limit=100").json()["data"]
    with capsys.disabled():
        print(
            f"\n{KILLS} kills amid {dict(sorted(done.items()))}: {sum(one['active'] for one in listed)} active of "
            f"{len(listed)}, {len(world.upstream.subscriptions)} subscriptions of {world.upstream.made} that were made",
            file=sys.stderr,
        )
    assert not untrue, untrue


def _kill(server: Running, victim: str) -> None:
    """Kill one process, which is started again, or the supervisor alone, or all."""
    assert server.process is not None
    pid = server.process.pid
    if victim == "tree":
        server.kill()
        server.start()
    elif victim == "supervisor":
        with server.process:
            os.kill(pid, signal.SIGKILL)
        server.start()
        until_more(lambda: int(not _members(pid)), 1)  # the orphans have finished what they had begun
    else:
        until_more(lambda: int(_is_killed(server, victim)), 1)


def _is_killed(server: Running, victim: str) -> bool:
    """Kill the process that does ``victim``'s work; False where none does just now."""
    with suppress(ProcessLookupError, KeyError):
        os.kill(processes_of(server)[victim], signal.SIGKILL)
        return True
    return False


def _members(group: int) -> list[str]:
    """The processes of a group that are alive."""
    found = list[str]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[2] == str(group) and fields[0] != "Z":
                found.append(stat.parent.name)
    return found
