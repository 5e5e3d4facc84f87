"""Filling the fields of an account into what an app declares: `{field}` in addresses, hosts and headers.

A field's value can never mean more than its place allows.

In the host it is one label (`https://{subdomain}.example.com`), several where a star says so
(`https://{domain*}.example.com`), or, where it is the whole host, one host name; as a port it is digits; in path, query
and fragment-free rest it is percent-encoded. Only a template that begins with the field (`{base_url}/api`) lets a
person name a whole address, which the guard then judges like any other. Where a credential goes in a request is said
in :mod:`placements`.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import parse_host, parse_port, parse_url

_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(\*?)\}")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_PARTS = re.compile(r"(?P<scheme>https?://)(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)

Fields = Mapping[str, str]


class TemplateError(ValueError):
    """A field is missing, or its value does not fit its place. The message is one sentence to show."""


def fields_in(template: str) -> tuple[str, ...]:
    """The names of the fields that a template needs, each once, in order."""
    return tuple(dict.fromkeys(name for name, _ in _FIELD.findall(template)))


def fill(template: str, fields: Fields) -> str:
    """Fill a template for a header, a parameter or a Basic part: values go in as they are, without outer spaces.

    Raises TemplateError for a missing field or a value with a line break or another control character.
    """
    return _FIELD.sub(lambda match: _plain(match[1], fields), template)


def fill_url(template: str, fields: Fields) -> str:
    """Fill a URL template; raises TemplateError when a value would leave its place."""
    if whole := re.match(r"\{([A-Za-z_][A-Za-z0-9_]*)\}", template):
        return _whole_address(whole[1], fields) + _rest(template[whole.end() :], fields)
    parts = _PARTS.fullmatch(template)
    if parts is None:
        raise TemplateError("The app's address does not begin with https://. Ask the operator to correct the app.")
    return parts["scheme"] + _authority(parts["authority"], fields) + _rest(parts["rest"], fields)


def fill_hosts(patterns: Sequence[str], fields: Fields) -> tuple[str, ...]:
    """Fill host rules (`{subdomain}.example.com`) with the same strictness as the host of a URL.

    A pattern that is a `{base_url}` field becomes that address's host and port.
    """
    return tuple(_host_rule(pattern, fields) for pattern in patterns)


def host_rule(text: str) -> str:
    """A host rule; a whole address, such as a filled variable, becomes its host and port. Raises TemplateError."""
    if "://" not in text:
        return text
    url = parse_url(text)
    if isinstance(url, Failure):
        raise TemplateError(url.sentence)
    return f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"


def _host_rule(pattern: str, fields: Fields) -> str:
    whole = _FIELD.fullmatch(pattern)
    if whole is None or "://" not in _plain(whole[1], fields):
        return _authority(pattern, fields)
    return host_rule(_whole_address(whole[1], fields))


def _authority(template: str, fields: Fields) -> str:
    host, _, port = template.partition(":") if not template.startswith("[") else (template, "", "")
    if port and _FIELD.fullmatch(port):
        port = _port(port[1:-1], fields)
    if whole := _FIELD.fullmatch(host):
        host = _host(whole[1], fields)
    else:
        host = _FIELD.sub(lambda match: _labels(match[1], fields, host, several=bool(match[2])), host)
    return f"{host}:{port}" if port else host


def _labels(name: str, fields: Fields, host: str, *, several: bool) -> str:
    value = _plain(name, fields)
    if not all(map(_LABEL.fullmatch, value.split(".") if several else [value])):
        example = _FIELD.sub("acme", host)
        raise TemplateError(f"{_title(name)} must be only the first part of the address, such as acme in {example}.")
    return value.lower()


def _host(name: str, fields: Fields) -> str:
    value = _plain(name, fields)
    host = parse_host(value)
    if isinstance(host, Failure):
        raise TemplateError(
            f"{_title(name)} must be only a host name, such as api.example.com, without https:// or a path."
        )
    return f"[{host}]" if ":" in host else host


def _port(name: str, fields: Fields) -> str:
    port = parse_port(_plain(name, fields))
    if port is None:
        raise TemplateError(f"{_title(name)} must be a number from 1 to 65535.")
    return str(port)


def _whole_address(name: str, fields: Fields) -> str:
    value = _plain(name, fields).rstrip("/")
    url = parse_url(value)
    if isinstance(url, Failure):
        raise TemplateError(url.sentence)
    if "?" in value or "#" in value:
        raise TemplateError(f"{_title(name)} must be an address without ? or #, such as https://api.example.com.")
    return value


def _rest(template: str, fields: Fields) -> str:
    return _FIELD.sub(lambda match: _segment(match[1], fields), template)


def _segment(name: str, fields: Fields) -> str:
    value = _plain(name, fields)
    if value in (".", ".."):
        raise TemplateError(f"{_title(name)} is not a name that can be used in an address. Check it.")
    return quote(value, safe="", errors="replace")


def _plain(name: str, fields: Fields) -> str:
    value = fields.get(name, "").strip()
    if not value:
        raise TemplateError(f"{_title(name)} is missing. Fill it in.")
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in value):
        raise TemplateError(f"{_title(name)} contains a line break or an invisible character. Paste it again.")
    return value


def _title(name: str) -> str:
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
