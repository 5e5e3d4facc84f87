"""``patchbay`` in the tests' own process, which spares every command the start of a Python."""

import json
import logging
from dataclasses import dataclass
from typing import Any

from click.testing import CliRunner, Result

from webapp.cli.main import main


@dataclass
class Commands:
    """Runs commands with the settings ``env``, where None takes one away. A bug in a command is the test's error."""

    env: dict[str, str | None]

    def run(self, *words: str, input: str | None = None) -> Result:
        """What became of the command ``words``; ``input`` stands at its standard input."""
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        root.handlers.clear()  # a command puts its own in their place, and closes those that it finds
        try:
            return CliRunner().invoke(
                main, words, input=input, env=self.env, catch_exceptions=False, prog_name="patchbay"
            )
        finally:
            root.handlers[:] = handlers
            root.setLevel(level)

    def json(self, *words: str, input: str | None = None) -> dict[str, Any]:
        """What the command prints as JSON when all goes well."""
        done = self.run(*words, "--json", input=input)
        assert done.exit_code == 0, done.stderr
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed

    def refused(self, *words: str, input: str | None = None) -> str:
        """The one sentence with which a command refuses."""
        done = self.run(*words, input=input)
        assert done.exit_code != 0
        assert done.stdout == ""
        return done.stderr.strip().splitlines()[-1]
