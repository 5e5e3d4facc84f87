"""The ``patchbay`` command: a list of its parts. Results go to standard output, everything else to standard error.

A command's module is imported only when that command is asked for: ``--help`` is written from the table.
"""

import importlib
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
            with _ending_on_sigterm():
                return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort):  # Abort: a question was answered by no
            raise
        except KeyboardInterrupt as error:
            raise Stopped from error
        except Exception as error:
            from webapp.cli.options import sentence_of

            sentence = sentence_of(error)
            if sentence is None:
                raise
            raise click.ClickException(sentence) from error


PARTS = {
    "serve": Part("webapp.cli.serving.serve:serve", "Serve everything: web, worker and sandbox."),
    "web": Part("webapp.cli.serving.serve:web", "Serve only the dashboard, the API and the Connect Link."),
    "worker": Part("webapp.cli.serving.serve:worker", "Do only the work that is due."),
    "runner": Part("webapp.cli.serving.serve:runner", "Only run components, for web and worker beside it."),
    "init": Part("webapp.cli.commands.init:init", "Make a project and a client for scripts."),
    "demo": Part("webapp.cli.commands.demo:demo", "Fill an empty folder with a made-up product, to look around."),
    "migrate": Part("webapp.cli.commands.init:migrate", "Bring the database's schema up to date."),
    "compact": Part("webapp.cli.commands.init:compact", "Give free room in the database back to the disk."),
    "project": Part("webapp.cli.commands.projects:project", "Projects: what accounts, tokens and triggers belong to."),
    "client": Part("webapp.cli.commands.clients:client", "OAuth clients of this installation."),
    "user": Part("webapp.cli.commands.users:user", "People who sign in."),
    "oauth-app": Part("webapp.cli.commands.oauth_apps:oauth_app", "OAuth clients registered at providers."),
    "workflow": Part(
        "webapp.cli.commands.workflows:workflow", "Workflows: named URLs that triggers send their events to."
    ),
    "app": Part("webapp.cli.commands.apps:app", "Apps of OpenAPI documents and MCP servers."),
    "directory": Part("webapp.cli.commands.directory:directory", "The public directory of OpenAPI documents."),
    "piece": Part("webapp.cli.commands.pieces:piece", "Integrations that are added from npm packages."),
    "catalog": Part("webapp.cli.commands.catalog:catalog", "The apps that people can connect."),
    "component": Part("webapp.cli.commands.components:component", "Components of your own, in DATA/components."),
    "keys": Part("webapp.cli.commands.keys:keys", "The keys that seal credentials."),
    "backup": Part("webapp.cli.commands.backups:backup", "Write the database and what you added to a ZIP."),
    "restore": Part("webapp.cli.commands.backups:restore", "Put a backup in the place of what is there."),
    "move": Part("webapp.cli.commands.move:move", "Copy everything into another database."),
    "import-accounts": Part(
        "webapp.cli.commands.import_accounts:import_accounts",
        "Bring over the accounts of another service, from a file.",
    ),
    "files": Part("webapp.cli.commands.files:files", "Files to copy: units, proxies, dashboards, alerts."),
    "audit": Part("webapp.cli.commands.audit:audit", "Who did what to which account, trigger, client or key."),
    "check": Part("webapp.cli.commands.check:check", "Look at everything, and say what is wrong."),
}


class Stopped(click.ClickException):
    """Somebody ended the command."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("Stopped before it was done. What it had not finished is undone; run it again.")


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """Asked to end, a command ends as by Ctrl-C: with a sentence, and without remains."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@click.group(cls=LazyGroup, parts=PARTS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="patchbay")
def main() -> None:
    """Patchbay: a self-hosted Connect service and its dashboard. Settings are PATCHBAY_*; the manual lists them."""


if __name__ == "__main__":
    main()
