"""The Connect Link in an application: its addresses, and forms that the application's own guard leaves alone."""

# Flask-WTF carries no types.
# mypy: disable-error-code="import-untyped"

from typing import Any

from flask import Flask
from flask_wtf.csrf import CSRFProtect

from webapp.kit import assets
from webapp.service.link import wiring


def wired(world: Any) -> Flask:
    """An application that guards its forms, with the link and a form of its own."""
    app = Flask("guarded", template_folder=str(assets.templates_dir()), static_folder=str(assets.static_dir()))
    app.secret_key = "k" * 40
    CSRFProtect(app)
    app.post("/own")(lambda: "taken")
    wiring.register(app, world.service)
    return app


def test_every_address_of_the_link_is_served(world: Any) -> None:
    rules = [rule for rule in wired(world).url_map.iter_rules() if rule.endpoint.startswith("link.")]
    assert {(rule.rule, *sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})) for rule in rules} == {
        ("/_static/connect.html", "GET"),
        ("/_static/connect/<handle>", "GET"),
        ("/_static/connect", "POST"),
        ("/_static/connect/keys", "POST"),
        ("/_static/connect/status", "POST"),
        ("/_static/connect/state", "POST"),
        ("/_static/connect/answer", "POST"),
        ("/connect/oauth/answer/<attempt_id>", "POST"),
        ("/_static/connect/start/<secret>", "GET"),
        ("/connect/oauth/callback", "GET"),
        ("/connect/oauth/callback/<server>", "GET"),
        ("/connect/oauth/ended/<attempt_id>", "GET"),
        ("/connect/reconnect", "GET"),
        ("/connect/reconnect", "POST"),
        ("/connect/reconnect/<link_id>", "GET"),
        ("/connect/reconnect/<link_id>", "POST"),
        ("/connect/mails/stop", "GET"),
        ("/connect/mails/stop", "POST"),
    }


def test_its_forms_are_exempt_from_the_applications_guard_and_others_are_not(world: Any) -> None:
    client = wired(world).test_client()
    own = client.post("/own")
    assert own.status_code == 400 and "The CSRF token is missing." in own.text
    chosen = client.post("/_static/connect", data={"token": world.token(), "app": "sandbox_keys"})
    assert chosen.status_code == 200 and 'name="cf_api_key"' in chosen.text
    unproved = client.post("/_static/connect/keys", data={"session": "ls_1", "proof": "guessed"})
    assert unproved.status_code == 403
    assert "It was opened in another browser, or its cookie was deleted." in unproved.text
