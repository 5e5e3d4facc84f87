"""``patchbay files``: prints files of the manual that operators copy, such as units for systemd."""

import click

from webapp.cli.options import JSON, table
from webapp.manual.files import FILES


@click.command()
@click.argument("name", required=False)
@JSON
def files(name: str | None, as_json: bool) -> None:
    """Print the file NAME of the manual, such as a unit for systemd; without NAME, the list of them."""
    if name is None:
        rows = [{"name": file.name, "summary": file.summary} for file in FILES.values()]
        table(rows, as_json, "files", "There are none.")
    elif name in FILES:
        click.echo(FILES[name].read(), nl=False)
    else:
        raise click.ClickException(f"There is no file {name}; `patchbay files` lists them.")
