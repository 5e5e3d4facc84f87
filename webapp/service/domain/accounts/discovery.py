"""The addresses of providers that an app names by their issuer alone, looked up at first use and kept for an hour."""

from collections.abc import Mapping
from threading import Lock

from webapp.kit.clock import HOUR
from webapp.kit.text import naming
from webapp.service.catalog.app import App
from webapp.service.domain.base.service import Service
from webapp.service.outbound import oauth
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.templates import TemplateError, fill_url

KEPT, MOST = HOUR, 500
_lock = Lock()
_known: dict[tuple[str, str], tuple[int, Mapping[str, str]]] = {}


def endpoints(service: Service, app: App, values: Mapping[str, str]) -> Mapping[str, str]:
    """The addresses that the issuer of ``app`` gives, whose own address ``values`` fill.

    Raises :class:`TemplateError` with a sentence where they cannot be had.
    """
    issuer = fill_url((app.oauth and app.oauth.issuer) or "", values)
    key, now = (str(service.settings.data), issuer), service.clock()
    until, addresses = _known.get(key, (0, {}))
    if now < until <= now + KEPT:
        return addresses
    outcome = oauth.discover(service.client_for(app), issuer)
    if isinstance(outcome, Failure):
        raise TemplateError(naming(outcome.sentence, app.name))
    with _lock:
        if len(_known) >= MOST:
            _known.clear()
        _known[key] = (now + KEPT, outcome)
    return outcome
