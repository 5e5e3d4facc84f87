"""The ``patchbay`` command: a list of its parts. Results go to standard output, everything else to standard error."""

import click

from webapp.cli.options import Group

PARTS = {
    "serve": "webapp.cli.serve:serve",
    "web": "webapp.cli.serve:web",
    "worker": "webapp.cli.serve:worker",
    "init": "webapp.cli.init:init",
    "migrate": "webapp.cli.init:migrate",
    "project": "webapp.cli.projects:project",
    "client": "webapp.cli.clients:client",
    "user": "webapp.cli.users:user",
    "oauth-app": "webapp.cli.oauth_apps:oauth_app",
    "workflow": "webapp.cli.workflows:workflow",
    "catalog": "webapp.cli.catalog:catalog",
    "component": "webapp.cli.components:component",
    "keys": "webapp.cli.keys:keys",
    "backup": "webapp.cli.backups:backup",
    "restore": "webapp.cli.backups:restore",
    "audit": "webapp.cli.audit:audit",
    "check": "webapp.cli.check:check",
    "bench": "webapp.cli.bench:bench",
}


@click.group(cls=Group, parts=PARTS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="patchbay")
def main() -> None:
    """Patchbay: a self-hosted Connect service and its dashboard. Settings come from PATCHBAY_* (README lists them)."""


if __name__ == "__main__":
    main()
