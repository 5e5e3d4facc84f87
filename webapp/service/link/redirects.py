"""The way back to the product: the addresses that the token names, or the page that opened the link from one of the
token's origins (``returnTo``), each with what came of it.
"""

from urllib.parse import quote, urlsplit, urlunsplit

from webapp.kit.origins import origin_of
from webapp.service.domain.base.service import Service
from webapp.service.link.visit import Visit

_SAFE = "/?:@!$&'()*+,;=-._~%[]"


def success(current: Visit | None, account_id: str) -> str | None:
    """The URL to redirect to with a connected account; None without one, and in a window or frame of the product."""
    uri = _return_url(current, current.success_uri) if current else None
    return with_parameter(uri, "account_id", account_id)


def failure(current: Visit | None, code: str) -> str | None:
    """The URL to redirect to after a failure, or None."""
    uri = _return_url(current, current.error_uri) if current else None
    return with_parameter(uri, "error", code)


def foreign_host(service: Service, uri: str | None) -> str:
    """The host of ``uri`` if it is not ours, to show before the person goes there."""
    host = host_of(uri)
    return "" if host == host_of(service.settings.public_url) else host


def back_name(service: Service, current: Visit | None, uri: str | None) -> str:
    """The name of what ``uri`` leads to: a foreign host, or the product for our own."""
    return foreign_host(service, uri) or (current.project.app_name if current else "")


def with_parameter(uri: str | None, name: str, value: str) -> str | None:
    """``uri`` with one more query parameter, its own query and fragment kept as they are (RFC 3986 section 3).

    None when there is no address, or it is not an http or https one.
    """
    try:
        parts = urlsplit(uri or "")
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    added = f"{name}={quote(value, safe='')}"
    query = f"{parts.query}&{added}" if parts.query else added
    path = quote(parts.path or "/", safe=_SAFE)
    return urlunsplit((parts.scheme, parts.netloc, path, quote(query, safe=_SAFE), quote(parts.fragment, safe=_SAFE)))


def host_of(uri: str | None) -> str:
    """The host, and the port where it is not the usual one, that ``uri`` leads to; to be shown to a person."""
    try:
        return urlsplit(uri or "").netloc.rpartition("@")[2]
    except ValueError:
        return ""


def _return_url(current: Visit, uri: str | None) -> str | None:
    """``uri``, else the page that opened the link, if it is of an origin that the token allows."""
    if uri or current.embedded:
        return None if current.embedded else uri
    opener = current.parameters.get("returnTo", "")
    return opener if current.token.allows(origin_of(opener)) else None  # as browsers write it, and no other
