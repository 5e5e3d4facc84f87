"""``patchbay keys``: rotates the keys that seal credentials."""

import sys

import click

from webapp.cli.options import JSON, opened, settings_from_env, show
from webapp.kit.clock import now
from webapp.service.domain.instance import instance_key, rotation
from webapp.settings import Settings


@click.group()
def keys() -> None:
    """The keys that seal credentials."""


@keys.command("rotate")
@click.option("--instance", is_flag=True, help="Replace the instance key, which wraps the data keys, instead.")
@JSON
def rotate(instance: bool, as_json: bool) -> None:
    """Seal everything with new data keys and delete the old ones; Patchbay may run meanwhile.

    With --instance, which Patchbay must be stopped for, the instance key itself is replaced: the file DATA/keys, or
    PATCHBAY_SECRET_KEY, whose new value is asked for or read from standard input.
    """
    if instance:
        _rotate_instance(settings_from_env(), as_json)
        return
    with opened() as service:
        report = rotation.rotate(service)
    sentence = "An interrupted rotation was finished" if report.resumed else "Everything is sealed with new keys"
    result = {"resumed": report.resumed, "owners": report.owners, **report.resealed, "unreadable": report.unreadable}
    show(result, as_json, f"{sentence}; the old keys are deleted. Sealed again:")


def _rotate_instance(settings: Settings, as_json: bool) -> None:
    new = None if settings.secret_key is None else Settings.from_env({"PATCHBAY_SECRET_KEY": _asked()}).secret_key
    instance_key.rotate(settings, now, new)
    place = "PATCHBAY_SECRET_KEY" if settings.secret_key else str(settings.data / "keys")
    sentence = (
        f"The new key is in {place}." if new is None else "Set PATCHBAY_SECRET_KEY to the new key before you start."
    )
    show(
        {"instance_key": place, "replaced": True},
        as_json,
        f"{sentence} Access tokens have ended, `patchbay init` prints a new secret, and older backups open with the "
        "old key only: make a new one.",
    )


def _asked() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("New PATCHBAY_SECRET_KEY", hide_input=True, confirmation_prompt=True, err=True))
    return sys.stdin.readline().strip()
