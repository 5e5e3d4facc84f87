"""The ``patchbay`` command: a list of its parts. Results go to standard output, everything else to standard error."""

import click

from webapp.cli.group import LazyGroup, Part

PARTS = {
    "serve": Part("webapp.cli.serving.serve:serve", "Serve everything: web, worker and sandbox."),
    "web": Part("webapp.cli.serving.serve:web", "Serve the dashboard, the API and the Connect Link alone."),
    "worker": Part("webapp.cli.serving.serve:worker", "Do the work that is due, alone."),
    "init": Part("webapp.cli.commands.init:init", "Make a project and a client for scripts."),
    "migrate": Part("webapp.cli.commands.init:migrate", "Bring the database's schema up to date."),
    "project": Part("webapp.cli.commands.projects:project", "Projects: what accounts, tokens and triggers belong to."),
    "client": Part("webapp.cli.commands.clients:client", "OAuth clients of this installation."),
    "user": Part("webapp.cli.commands.users:user", "People who sign in."),
    "oauth-app": Part("webapp.cli.commands.oauth_apps:oauth_app", "OAuth clients registered at providers."),
    "workflow": Part(
        "webapp.cli.commands.workflows:workflow", "Workflows: named URLs that triggers send their events to."
    ),
    "catalog": Part("webapp.cli.commands.catalog:catalog", "The apps that people can connect."),
    "component": Part("webapp.cli.commands.components:component", "Components of your own, in DATA/components."),
    "keys": Part("webapp.cli.commands.keys:keys", "The keys that seal credentials."),
    "backup": Part("webapp.cli.commands.backups:backup", "Write the database and your own apps to a ZIP."),
    "restore": Part("webapp.cli.commands.backups:restore", "Put a backup in the place of what is there."),
    "audit": Part("webapp.cli.commands.audit:audit", "Who did what to which account, trigger, client or key."),
    "check": Part("webapp.cli.commands.check:check", "Look at everything, and say what is wrong."),
}


@click.group(cls=LazyGroup, parts=PARTS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="patchbay")
def main() -> None:
    """Patchbay: a self-hosted Connect service and its dashboard. Settings are PATCHBAY_*; the manual lists them."""


if __name__ == "__main__":
    main()
