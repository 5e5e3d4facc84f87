"""What settings follow from others, and which contradict each other: ports beside ports, addresses below addresses."""

import ipaddress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from webapp.setting_values import LAST_PORT, BadSetting, is_ip_address

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether ``host`` (a name, or an address without brackets) is this machine alone."""
    if host in LOOPBACK_NAMES or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def complete(values: dict[str, Any]) -> dict[str, Any]:
    """Fill in what depends on other settings. Raises :class:`BadSetting` for what contradicts itself."""
    port, host = values["port"], values["host"]
    if values["sandbox_port"] is None:
        values["sandbox_port"] = port + 1
    if values["sandbox_port"] == port:
        raise BadSetting("PATCHBAY_SANDBOX_PORT must differ from PATCHBAY_PORT.")
    if values["public_url"] is None:
        shown = "localhost" if host in ("0.0.0.0", "::", "") or is_loopback(host) else host  # noqa: S104
        shown = f"[{shown}]" if ":" in shown else shown
        values["public_url"] = f"http://{shown}:{port}"
    loopback = is_loopback(urlsplit(values["public_url"]).hostname or "")
    if values["sandbox"] is None:
        values["sandbox"] = loopback
    elif values["sandbox"] and not loopback:
        raise BadSetting("PATCHBAY_SANDBOX can only be on while PATCHBAY_PUBLIC_URL is a loopback address.")
    if values["sandbox"] and values["sandbox_port"] > LAST_PORT:
        raise BadSetting("PATCHBAY_SANDBOX_PORT is PATCHBAY_PORT + 1 unless you set it, and that port does not exist.")
    _complete_mail(values)
    _complete_oidc(values)
    remote = [name for name in ("connect_url", "connect_client_id", "connect_client_secret") if values[name]]
    if remote and (len(remote) < 3 or not values["project"]):
        raise BadSetting(
            "To work with another Connect service, set PATCHBAY_CONNECT_URL, PATCHBAY_CONNECT_CLIENT_ID, "
            "PATCHBAY_CONNECT_CLIENT_SECRET and PATCHBAY_PROJECT together."
        )
    values["data"] = Path(values["data"]).expanduser().absolute()
    values["runner"] = Path(values["runner"]).expanduser().absolute() if values["runner"] else None
    return values


def _complete_oidc(values: dict[str, Any]) -> None:
    """The provider at which people sign in: named wholly, or not at all."""
    parts = [name for name in ("oidc_issuer", "oidc_client_id", "oidc_client_secret") if values[name]]
    if parts and len(parts) < 3:
        raise BadSetting(
            "For people to sign in at an OpenID provider, set PATCHBAY_OIDC_ISSUER, PATCHBAY_OIDC_CLIENT_ID and "
            "PATCHBAY_OIDC_CLIENT_SECRET together."
        )
    if not parts and (values["oidc_required"] or values["oidc_roles"]):
        raise BadSetting("PATCHBAY_OIDC_REQUIRED and PATCHBAY_OIDC_ROLES need PATCHBAY_OIDC_ISSUER.")
    if "openid" not in values["oidc_scopes"]:
        raise BadSetting("PATCHBAY_OIDC_SCOPES must have openid among its scopes.")
    if values["oidc_name"] is None:
        values["oidc_name"] = urlsplit(values["oidc_issuer"] or "").netloc


def _complete_mail(values: dict[str, Any]) -> None:
    """Where mail for triggers arrives: a port beside the others, at addresses under the public host."""
    taken = (values["port"], values["sandbox_port"] if values["sandbox"] else None)
    if values["mail_port"] is None:
        port = values["port"] + 25 if values["port"] + 25 <= LAST_PORT else values["port"] - 25
        values["mail_port"] = port + 2 if port in taken else port
    elif values["mail"] and values["mail_port"] in taken:
        raise BadSetting("PATCHBAY_MAIL_PORT must differ from PATCHBAY_PORT and PATCHBAY_SANDBOX_PORT.")
    if values["mail_domain"] is None:
        values["mail_domain"] = _mail_domain(urlsplit(values["public_url"]).hostname or "localhost")


def _mail_domain(host: str) -> str:
    """``host`` as it stands behind the @; a bare address is written in brackets (RFC 5321 section 4.1.3)."""
    if not is_ip_address(host):
        return host.lower()
    return f"[IPv6:{host}]" if ":" in host else f"[{host}]"
