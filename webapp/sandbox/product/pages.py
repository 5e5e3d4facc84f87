"""Acme Desk, an example of a product: its settings page, on which the user who is signed in connects accounts.

The page and its script are all that a product needs in a browser, :mod:`.server` all that it needs on its server; the
page shows both as they run.
"""

import inspect
import pathlib
from dataclasses import dataclass
from typing import Any, cast

import requests
from flask import Blueprint, abort, current_app, g, jsonify, redirect, render_template, request
from flask.typing import ResponseReturnValue

from webapp.sandbox.product import server
from webapp.sandbox.product.server import Connect
from webapp.sandbox.state import current

blueprint = Blueprint("product", __name__, url_prefix="/product")

USER, NAME = "acme-desk-ada", "Ada"  # who is signed in, as the product's server knows them
APP = "sandbox"
EXTENSION = "sandbox_product"
SCRIPT = "js/sandbox/product.js"


@dataclass(frozen=True, slots=True)
class Product:
    """What Acme Desk was given: Patchbay's public address, and the way to call it."""

    service_url: str
    connect: Connect


@blueprint.before_request
def need_client() -> None:
    """Without a client of Patchbay's there is no such product."""
    if EXTENSION not in current_app.extensions:
        abort(404)


@blueprint.get("")
def page() -> ResponseReturnValue:
    """The settings page, with what is connected."""
    service_url = _product().service_url
    g.policy = f"script-src 'self' {service_url}; frame-src {service_url}; connect-src 'self' {service_url}; "
    g.form_action = g.images = f"'self' {service_url}"
    static = pathlib.Path(current_app.static_folder or "")
    return render_template(
        "sandbox/product/page.html",
        accounts=_accounts(),
        name=NAME,
        service_url=service_url,
        server_code=inspect.getsource(server).strip(),
        page_code=(static / SCRIPT).read_text("utf-8").strip(),
        script=SCRIPT,
        outcome=_outcome(),
    )


@blueprint.post("/token")
def token() -> ResponseReturnValue:
    """What the page's script asks for: a token for whoever is signed in."""
    try:
        return jsonify(_token())
    except (requests.RequestException, LookupError):
        return jsonify(error="Patchbay does not answer as it should."), 502


@blueprint.post("/connect")
def connect() -> ResponseReturnValue:
    """The same without a script: on to the Connect Link in this tab."""
    try:
        return redirect(f"{_token()['connect_link_url']}&app={APP}", 303)
    except (requests.RequestException, LookupError):
        return redirect("/product?error=unreachable", 303)


def _product() -> Product:
    return cast(Product, current_app.extensions[EXTENSION])


def _token() -> Any:
    origin = current().public_url
    return _product().connect.token(USER, origin, f"{origin}/product")


def _accounts() -> Any:
    """The accounts of the user; None while Patchbay has no project or does not answer."""
    try:
        return _product().connect.accounts(USER)
    except (requests.RequestException, LookupError):
        return None


def _outcome() -> str:
    """What came of a visit to the Connect Link, which it adds to this page's address."""
    if request.args.get("account_id"):
        return "The account is connected."
    return "No account was connected." if request.args.get("error") else ""
