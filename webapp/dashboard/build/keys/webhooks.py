"""Webhooks that get notifications about accounts, and the project's own: their states and the signing key."""

from typing import Any

from flask import abort, flash, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import words
from webapp.dashboard.build import project_list
from webapp.dashboard.build.keys import sections
from webapp.dashboard.build.keys.sections import blueprint
from webapp.dashboard.client.build.webhooks import GeneralWebhook, Webhooks
from webapp.dashboard.client.models.deliveries import Endpoint
from webapp.dashboard.dashboard import viewer
from webapp.errors import Invalid
from webapp.kit.translation import gettext

PROJECT = "project"  # stands for the project's own webhook where the others have an id


def context() -> dict[str, Any]:
    """The context of the list; ``general_webhooks`` is ``None`` if the service does not list them."""
    webhooks = _webhooks()
    return {
        "general_webhooks": webhooks.general(),
        "project_webhook": webhooks.of_project(),
        "projects": project_list.names(),
        "states": words.ENDPOINT_STATES,
        "tones": words.ENDPOINT_TONES,
    }


@blueprint.get("/webhooks/new")
def new_webhook() -> str:
    """Ask for the address of a new webhook for notifications."""
    return _form()


@blueprint.post("/webhooks")
def add_webhook() -> AnyResponse | tuple[str, int]:
    """Add a webhook for notifications."""
    url = request.form.get("url", "").strip()
    try:
        _webhooks().add(url, url.partition("://")[2][:100] or url[:100])
    except Invalid as error:
        return _form(url, _why(error)), 422
    return _done(gettext("{url} is now notified of account events.").format(url=url))


@blueprint.get("/project-webhook/edit")
def edit_project_webhook() -> str:
    """Ask for the project's own address."""
    webhook = _webhooks().of_project()
    return _form(webhook.url if webhook else "", of_project=True)


@blueprint.post("/project-webhook")
def set_project_webhook() -> AnyResponse | tuple[str, int]:
    """Keep the project's own address."""
    url = request.form.get("url", "").strip()
    try:
        _webhooks().set_of_project(url)
    except Invalid as error:
        return _form(url, _why(error), of_project=True), 422
    return _done(gettext("Events of triggers without a webhook URL of their own are sent to {url}.").format(url=url))


@blueprint.get("/webhooks/<webhook_id>/removal")
def ask_webhook_removal(webhook_id: str) -> str:
    """Ask for confirmation before a webhook is removed."""
    text = gettext("{url} receives nothing more, not even pending deliveries.").format(url=_get(webhook_id).url)
    return sections.question(
        "webhooks",
        heading=gettext("Remove this webhook?"),
        text=text,
        button=gettext("Remove"),
        tone="danger",
        confirm_url=url_for("dashboard.build_keys.remove_webhook", webhook_id=webhook_id),
    )


@blueprint.post("/webhooks/<webhook_id>/removal")
def remove_webhook(webhook_id: str) -> AnyResponse:
    """Remove a webhook."""
    webhook = _get(webhook_id)
    if isinstance(webhook, GeneralWebhook):
        _webhooks().remove(webhook.id)
    else:
        _webhooks().remove_of_project()
    return _done(gettext("{url} is removed.").format(url=webhook.url))


@blueprint.post("/webhooks/<webhook_id>/reset")
def reset_webhook(webhook_id: str) -> AnyResponse:
    """Enable a webhook that failed or was switched off."""
    webhook = _get(webhook_id)
    if isinstance(webhook, GeneralWebhook):
        _webhooks().reset(webhook.id)
    else:
        _webhooks().set_of_project(webhook.url)
    return _done(gettext("Deliveries to {url} resume; pending ones are on their way.").format(url=webhook.url))


@blueprint.post("/webhooks/<webhook_id>/test")
def test_webhook(webhook_id: str) -> AnyResponse:
    """Send a test notification."""
    webhook = _get(webhook_id)
    if not isinstance(webhook, GeneralWebhook):
        abort(404)
    _webhooks().test(webhook.id)
    return _done(gettext("A test is on its way to {url}.").format(url=webhook.url))


@blueprint.post("/signing-key")
def reveal_signing_key() -> AnyResponse:
    """Show the key that signs what these addresses get."""
    key = _webhooks().signing_key()
    if key is None:
        abort(404)
    sections.show_once(gettext("This is the signing key. Verify the signature of every delivery with it."), key)
    return sections.back("webhooks")


@blueprint.get("/signing-key/rotation")
def ask_key_rotation() -> str:
    """Ask for confirmation before the key is replaced."""
    return sections.question(
        "webhooks",
        heading=gettext("Create a new signing key?"),
        text=gettext(
            "From then on, everything that these webhooks get is signed with the new key. Receivers refuse it until "
            "you put the new key there."
        ),
        button=gettext("Create a new key"),
        tone="",
        confirm_url=url_for("dashboard.build_keys.rotate_signing_key"),
    )


@blueprint.post("/signing-key/rotation")
def rotate_signing_key() -> AnyResponse:
    """Make a new key; the page that follows shows it."""
    sentence = gettext("This is the new signing key. Use it where your server verifies signatures.")
    sections.show_once(sentence, _webhooks().rotate_key())
    return sections.back("webhooks")


def _webhooks() -> Webhooks:
    return Webhooks(viewer().client)


def _get(webhook_id: str) -> GeneralWebhook | Endpoint:
    if webhook_id != PROJECT:
        return _webhooks().get(webhook_id)
    return _webhooks().of_project() or abort(404)


def _why(error: Invalid) -> str:
    return error.details[0].message if error.details else error.message


def _form(url: str = "", error: str = "", *, of_project: bool = False) -> str:
    return sections.question(
        "webhooks", "dashboard/build/keys/address.html", url=url, error=error, of_project=of_project
    )


def _done(sentence: str) -> AnyResponse:
    flash(sentence, "ok")
    return sections.back("webhooks")
