"""The ``patchbay`` command: a list of its parts. Results go to standard output, everything else to standard error."""

import click

from webapp.cli.options import Group

PARTS = {
    "serve": "webapp.cli.serving.serve:serve",
    "web": "webapp.cli.serving.serve:web",
    "worker": "webapp.cli.serving.serve:worker",
    "init": "webapp.cli.commands.init:init",
    "migrate": "webapp.cli.commands.init:migrate",
    "project": "webapp.cli.commands.projects:project",
    "client": "webapp.cli.commands.clients:client",
    "user": "webapp.cli.commands.users:user",
    "oauth-app": "webapp.cli.commands.oauth_apps:oauth_app",
    "workflow": "webapp.cli.commands.workflows:workflow",
    "catalog": "webapp.cli.commands.catalog:catalog",
    "component": "webapp.cli.commands.components:component",
    "keys": "webapp.cli.commands.keys:keys",
    "backup": "webapp.cli.commands.backups:backup",
    "restore": "webapp.cli.commands.backups:restore",
    "audit": "webapp.cli.commands.audit:audit",
    "check": "webapp.cli.commands.check:check",
}


@click.group(cls=Group, parts=PARTS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="patchbay")
def main() -> None:
    """Patchbay: a self-hosted Connect service and its dashboard. Settings come from PATCHBAY_* (README lists them)."""


if __name__ == "__main__":
    main()
