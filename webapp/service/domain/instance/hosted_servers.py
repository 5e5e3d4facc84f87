"""The MCP servers that providers host, as apps that nobody has to add: where people sign in is asked of the server when
the first of them does, and its tools are read when the first account is there.

What the server says then becomes an app of the operator's with the same slug, as for a server that an owner adds by its
address (:mod:`mcp_servers`), once for all projects: of people who are the first at the same time, each waits for the
server only, and what it answered first is taken up. A tool that changes later goes on, which the app's page says, and
agents ask their people first.
"""

import logging
from collections.abc import Callable

from webapp.errors import Invalid, PatchbayError
from webapp.service.catalog.app import App
from webapp.service.catalog.importing.records import Options
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.failures import ProviderDown
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import mcp_servers
from webapp.service.domain.instance.mcp_servers import Asker

LOCK = ".hosted-server-{slug}"
_NOWHERE = "{app} does not say right now where people sign in. Try again in a few minutes."
log = logging.getLogger(__name__)


def prepared(service: Service, app: App) -> App:
    """``app``, whose server has said where people sign in, and knows a client of this installation unless somebody has
    to make one there. Other apps are returned as they are.

    Raises :class:`ProviderDown` where the server does not say it.
    """
    if app.server not in ("registers", "client") or app.own:
        return app
    try:
        _add(service, app, Asker(), lambda app: app.own)
    except Invalid as error:
        log.warning("The server of %s cannot be connected: %s", app.slug, error.message)
        raise ProviderDown(_NOWHERE.format(app=app.name)) from error
    return service.app(app.slug)


def read_tools(service: Service, account: Account) -> None:
    """List the tools of the account's server, if it is one whose tools are not known yet.

    The account is connected in any case: a server that does not answer is asked again with the next one.
    """
    app = service.catalog.app(account.app)
    if app is None or not app.server or app.actions:
        return
    try:
        _add(service, app, Asker(account_id=account.id, scene=account.scene), lambda app: app.actions > 0)
    except PatchbayError as error:
        log.warning("The tools of %s cannot be read: %s", account.app, error.message)


def _add(service: Service, app: App, asker: Asker, is_done: Callable[[App], bool]) -> None:
    """Take up what the app's server says, unless another process or thread has, which ``is_done`` tells of the app."""
    service.catalog.refresh()
    if is_done(service.app(app.slug)):
        return
    answered = mcp_servers.ask(service, app.spec.mcp.url if app.spec.mcp else "", app.slug, asker, Options())
    with catalog_file.one_at_a_time(service.settings.data / LOCK.format(slug=app.slug)):
        service.catalog.refresh()
        if not is_done(service.app(app.slug)):
            mcp_servers.take(service, app.slug, answered)
