"""What commands share: the settings, the opened service, and how a result or an error is shown."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from webapp.errors import PatchbayError
from webapp.setting_values import BadSetting
from webapp.settings import Settings

if TYPE_CHECKING:
    from webapp.service.domain.base.service import Service

JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def settings_from_env(port: int | None = None) -> Settings:
    """The settings of the environment; ``port`` wins over its own. Raises :class:`webapp.settings.BadSetting`."""
    return Settings.from_env() if port is None else Settings.from_env(port=port)


@contextmanager
def opened() -> "Iterator[Service]":
    """The service over the data folder, as another process beside ``serve``; imported when it is opened."""
    from webapp import audit
    from webapp.cli.serving.logs import configure
    from webapp.service.domain.instance.opening import close_service, open_service

    settings = settings_from_env()
    configure(settings.log_level, form=settings.log_format)
    service = open_service(settings)
    command = click.get_current_context().command_path
    try:
        with audit.acting(audit.Actor("command", command)):
            yield service
    finally:
        close_service(service)


def show(result: Mapping[str, Any], as_json: bool, sentence: str | None = None) -> None:
    """Print ``result`` as one JSON object, or as ``sentence`` and one line for each value."""
    if as_json:
        click.echo(json.dumps(result))
        return
    if sentence:
        click.echo(sentence)
    width = max(map(len, result), default=0)
    for name, value in result.items():
        click.echo(f"  {name:<{width}}  {_plain(value)}")


def table(rows: Sequence[Mapping[str, Any]], as_json: bool, name: str, empty: str) -> None:
    """Print ``rows`` as ``{name: [...]}``, or in columns, or as the sentence ``empty``."""
    if as_json:
        click.echo(json.dumps({name: list(rows)}))
        return
    if not rows:
        click.echo(empty)
        return
    texts = [[title.replace("_", " ") for title in rows[0]], *([_plain(v) for v in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for line in texts:
        click.echo("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def sentence_of(error: BaseException) -> str | None:
    """The one sentence that answers the person at the keyboard; None when ``error`` is a bug, whose traceback helps."""
    from webapp.service.domain.base.keyring import WrongKey
    from webapp.service.domain.base.token_scopes import UnknownScope

    if isinstance(error, PatchbayError):
        return error.message
    if isinstance(error, BadSetting | WrongKey | UnknownScope):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return (
            f"{error.filename} cannot be used ({(error.strerror or 'no reason given').lower()}); check PATCHBAY_DATA."
        )
    if isinstance(error, OSError) and error.errno is not None:
        return f"The system refused: {(error.strerror or str(error)).lower()}."
    return None


def _plain(value: Any) -> str:
    if value in (None, "", [], ()):
        return "–"
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
