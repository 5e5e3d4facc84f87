"""Debian's Firefox by WebDriver BiDi, as much of it as the tests need: pages, windows, frames, clicks, expressions.

Third-party cookies are blocked altogether. Every wait ends after thirty seconds.
"""

import contextlib
import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMMAND = "firefox-esr"
PREFERENCES = {
    "network.cookie.cookieBehavior": 1,  # none of third parties
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "dom.disable_open_during_load": True,  # blocks windows that no click opens
}
PATIENCE_S = 30
_LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Context:
    """A tab, a window or a frame."""

    def __init__(self, firefox: "Firefox", name: str) -> None:
        self.firefox, self.name = firefox, name

    def goto(self, url: str) -> None:
        self.firefox.ask("browsingContext.navigate", context=self.name, url=url, wait="complete")

    def value(self, expression: str) -> Any:
        """What a JavaScript expression is, awaited, by way of JSON."""
        answer = self.firefox.ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify((await ({expression})) ?? null))()",
            target={"context": self.name}, awaitPromise=True,
        )  # fmt: skip
        if answer["type"] == "exception":
            raise AssertionError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def wait_for(self, expression: str) -> Any:
        """The value of ``expression`` as soon as it is true."""
        return eventually(lambda: self.value(expression), expression)

    def click(self, selector: str) -> None:
        """Click what ``selector`` finds first and is visible, as a person does."""
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        visible = f"{found}.findIndex((e) => e.checkVisibility())"
        index = self.wait_for(f"document.readyState === 'complete' && ({visible} + 1)") - 1
        self.value(f"{found}[{index}].scrollIntoView({{ block: 'center' }})")
        locator = {"type": "css", "value": selector}
        nodes = self.firefox.ask("browsingContext.locateNodes", context=self.name, locator=locator)["nodes"]
        element = {"type": "element", "element": {"sharedId": nodes[index]["sharedId"]}}
        steps = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": element},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.firefox.ask(
            "input.performActions",
            context=self.name,
            actions=[{"type": "pointer", "id": "mouse", "actions": steps}],
        )

    def frame(self) -> "Context":
        """Its one frame, once it is there."""
        tree = lambda: self.firefox.ask("browsingContext.getTree", root=self.name)["contexts"][0]["children"]  # noqa: E731
        return Context(self.firefox, eventually(tree, "a frame")[0]["context"])

    def resize(self, width: int, height: int) -> None:
        viewport = {"width": width, "height": height}
        self.firefox.ask("browsingContext.setViewport", context=self.name, viewport=viewport)


class Firefox:
    """The browser behind its socket; ``ask`` sends a command and gives its result."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._ids = socket, itertools.count(1)

    def ask(self, method: str, **parameters: Any) -> Any:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=2 * PATIENCE_S))
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}: {answer.get('message')}")
                return answer["result"]

    def tab(self) -> Context:
        return Context(self, self.ask("browsingContext.create", type="tab")["context"])

    def contexts(self) -> list[str]:
        """The names of all tabs and windows."""
        return [one["context"] for one in self.ask("browsingContext.getTree", maxDepth=0)["contexts"]]

    @contextlib.contextmanager
    def expect_window(self) -> Iterator[list[Context]]:
        """A window or tab that opens within the block; it is the one item of the list afterwards."""
        before, opened = set(self.contexts()), list[Context]()
        yield opened
        new = eventually(lambda: set(self.contexts()) - before, "a window")
        opened.append(Context(self, new.pop()))


def eventually(look: Any, what: str) -> Any:
    """What ``look`` gives, once it is true; a page that is just changing is asked again."""
    ends = time.monotonic() + PATIENCE_S
    problem = None
    while time.monotonic() < ends:
        try:
            if value := look():
                return value
        except AssertionError as error:
            problem = error
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}; {problem}")


@contextlib.contextmanager
def running(profile: Path) -> Iterator[Firefox]:
    """Firefox without a window, over a new profile."""
    from websockets.sync.client import connect

    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
    (profile / "user.js").write_text("".join(lines))
    command = [COMMAND, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    log = profile / "log"
    with log.open("w") as out:
        browser = subprocess.Popen(command, stdout=out, stderr=out, env={"HOME": str(profile), "PATH": "/usr/bin:/bin"})
    try:
        url = eventually(lambda: _LISTENING.search(log.read_text()), "Firefox")[1]
        with connect(f"{url}/session", max_size=None) as socket:
            firefox = Firefox(socket)
            firefox.ask("session.new", capabilities={})
            yield firefox
    finally:
        browser.terminate()
        browser.wait(timeout=PATIENCE_S)
        shutil.rmtree(profile, ignore_errors=True)
