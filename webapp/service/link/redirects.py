"""Where a person goes back to. The addresses were checked when the token was made and are checked again here."""

from urllib.parse import quote, urlsplit, urlunsplit

_SAFE = "/?:@!$&'()*+,;=-._~%[]"


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
