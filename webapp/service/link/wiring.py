"""Adds the Connect Link to the web application."""

from flask import Blueprint, Flask

from webapp.kit import templates
from webapp.service.domain.base.service import Service
from webapp.service.link import (
    client_document,
    embed_scripts,
    oauth_callback,
    oauth_start,
    outcome_page,
    pages,
    reconnect_mails,
    responses,
    submissions,
)


def register(app: Flask, service: Service) -> None:
    """Serve the Connect Link, the starts of sign-ins, the OAuth callback, documents of OAuth clients, the pages that
    mails link to and the embedding scripts from ``app``.

    Its forms prove themselves by the Connect token, the link session or the token of a mail, so they are exempt from a
    ``CSRFProtect`` that the application has.
    """
    templates.prepare(app.jinja_env)
    blueprint = Blueprint("link", __name__)
    responses.prepare(blueprint, service)
    for part in (pages, submissions, oauth_start, oauth_callback, outcome_page, reconnect_mails):
        part.route(blueprint, service)
    app.register_blueprint(blueprint)
    embed_scripts.register(app, service.settings.public_url)
    client_document.register(app, service)
    csrf = app.extensions.get("csrf")
    if csrf is not None:
        csrf.exempt(blueprint)
