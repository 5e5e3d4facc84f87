"""A group of commands that imports a command's module only when that command is asked for.

Its own list of commands is written from a table, so that ``--help`` imports none of them.
"""

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click


class Part(NamedTuple):
    """Where a command is defined, as ``module:object``, and what the list of commands says of it."""

    path: str
    summary: str


class LazyGroup(click.Group):
    """A group over ``parts``, by name. An error that is the user's to solve ends a command with one sentence."""

    def __init__(self, *args: Any, parts: Mapping[str, Part], **options: Any) -> None:
        super().__init__(*args, **options)
        self._parts = parts

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the table."""
        return list(self._parts)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command ``cmd_name``, imported now."""
        if cmd_name not in self._parts:
            return None
        module, _, name = self._parts[cmd_name].path.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, part.summary) for name, part in self._parts.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except Exception as error:
            from webapp.cli.sentences import sentence_of

            sentence = sentence_of(error)
            if sentence is None:
                raise
            raise click.ClickException(sentence) from error
