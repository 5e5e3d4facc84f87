"""Creates the sandbox: a small third-party product to connect to, with its own process, origin, cookie and database.

It runs only on loopback addresses, because visitors choose who they are without a password. It refuses other Host
headers, cannot be framed and runs no scripts, except on the pages of the example product that it may serve too.
"""

# Flask-WTF carries no types.
# mypy: disable-error-code="import-untyped"

import pathlib
from collections.abc import Sequence

from flask import Flask, Response, g, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import HTTPException

from webapp.kit import clock as clocks
from webapp.kit import templates as templating
from webapp.kit.crypto import derive
from webapp.sandbox import api, oauth, pages, receiver_pages
from webapp.sandbox.callers import problem
from webapp.sandbox.clients import Client
from webapp.sandbox.grants import Grants
from webapp.sandbox.people import Keys
from webapp.sandbox.product import pages as product
from webapp.sandbox.product.pages import Product
from webapp.sandbox.projects import Projects
from webapp.sandbox.receiver import Receiver
from webapp.sandbox.state import EXTENSION, Sandbox
from webapp.sandbox.store import Store, secret_of
from webapp.sandbox.tasks import Tasks
from webapp.sandbox.webhooks import Webhooks, is_loopback

MAX_BODY = 2 * 1024 * 1024
POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; "


def create_sandbox(
    data: pathlib.Path,
    public_url: str,
    client_id: str,
    client_secret: str,
    redirect_uris: Sequence[str],
    templates: pathlib.Path,
    static: pathlib.Path,
    *,
    client_name: str = "Patchbay",
    example: Product | None = None,
    clock: clocks.Clock = clocks.now,
    slow_seconds: float = 3.0,
    receiver_seconds: float = 10.0,
) -> Flask:
    """The sandbox as a WSGI application, with its state in ``data``.

    ``public_url`` is its own origin, which must be loopback (else ``ValueError``). Its only OAuth client has exactly
    the redirect URIs ``redirect_uris`` and is shown as ``client_name``. Without ``example``, the example product is not
    served. Slow accounts wait ``slow_seconds``, slow receivers ``receiver_seconds``.
    """
    public_url = public_url.rstrip("/")
    if not is_loopback(public_url):
        raise ValueError(f"The sandbox runs on loopback addresses only, not on {public_url}: switch it off there.")
    store, secret = Store(data), secret_of(data)
    sandbox = Sandbox(
        public_url=public_url,
        client=Client(client_id, client_secret, tuple(redirect_uris), client_name),
        clock=clock,
        slow_seconds=slow_seconds,
        receiver_seconds=receiver_seconds,
        grants=Grants(store, clock),
        keys=Keys(secret),
        projects=Projects(store),
        tasks=Tasks(store, clock),
        webhooks=Webhooks(store, clock, secret),
        receiver=Receiver(store, clock, secret),
    )
    app = Flask(__name__, template_folder=str(templates), static_folder=str(static), static_url_path="/static")
    _configure(app, derive(secret, "sandbox cookies"), secure=public_url.startswith("https:"))
    app.extensions[EXTENSION] = sandbox
    if example:
        app.extensions[product.EXTENSION] = example
    app.extensions[oauth.SERVER] = oauth.create_server(app, sandbox)
    _mount(app)
    return app


def _configure(app: Flask, key: bytes, *, secure: bool) -> None:
    # Cookies are not separated by port: on localhost, one of the same name would overwrite the dashboard's.
    app.config.update(
        SECRET_KEY=key,
        SESSION_COOKIE_NAME="sandbox_session",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=secure,
        MAX_CONTENT_LENGTH=MAX_BODY,
        WTF_CSRF_TIME_LIMIT=None,  # as long as the session: a page left open keeps working
    )
    templating.prepare(app.jinja_env)  # the templates shared with the dashboard need it
    app.jinja_env.filters["iso"] = clocks.iso
    app.jinja_env.filters["when"] = lambda ms: clocks.iso(ms)[:16].replace("T", " ") + " UTC"


def _mount(app: Flask) -> None:
    app.before_request(_check_host)
    csrf = CSRFProtect(app)
    for machines in (api.blueprint, oauth.endpoints, receiver_pages.inbox):
        csrf.exempt(machines)
        app.register_blueprint(machines)
    for people in (pages.blueprint, oauth.pages, receiver_pages.blueprint, product.blueprint):
        app.register_blueprint(people)
    app.after_request(_add_headers)
    app.register_error_handler(HTTPException, _http_error)


def _check_host() -> ResponseReturnValue | None:
    """Refuse host names that are not loopback, which prevents DNS rebinding."""
    return None if is_loopback(f"http://{request.host}") else ("Unknown host.\n", 400)


def _add_headers(response: Response) -> Response:
    images, form_action = g.get("images", "'self'"), g.get("form_action", "'self'")
    policy = f"{POLICY}{g.get('policy', '')}img-src {images}; form-action {form_action}"
    response.headers["Content-Security-Policy"] = policy
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    if request.endpoint != "static":
        response.headers["Cache-Control"] = "no-store"
    return response


def _http_error(error: HTTPException) -> ResponseReturnValue:
    """The response for ``error``: JSON for the API, else a page. A response that a view aborted with is unchanged."""
    if error.response is not None:
        return error.response
    status = error.code or 500
    if request.path.startswith(("/api/", "/oauth/token", "/oauth/revoke")):
        response = problem(status, error.name.lower().replace(" ", "_"), error.description or error.name)
        response.headers.update({name: value for name, value in error.get_headers() if name != "Content-Type"})
        return response
    why = "The form is from another session. Go back, reload the page and send it again."
    words = why if isinstance(error, CSRFError) else error.description
    return render_template("sandbox/refused.html", title=error.name, why=words), status
