"""Whether an app that is there already connects as a piece does: then the piece works with its accounts.

The kinds have to agree, and all that the piece needs of an account has to be there: by its name, or because the
addresses of the app say what it is.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from webapp.service.catalog.app import App
from webapp.service.catalog.spec import AppSpec
from webapp.service.components.pieces.form import AccountField, AuthForm
from webapp.service.outbound.templates import fields_in
from webapp.service.pieces.connecting import fields
from webapp.service.pieces.connecting.connections import CLIENT_CREDENTIALS
from webapp.service.pieces.metadata import Auth

_HOLE = re.compile(r"\{\{?\s*(?:props\.)?([A-Za-z_$][\w$]*)\s*\}?\}")
_MOST_HOLES = 3
_ONE_FIELD = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def agreeing(app: App, auths: Iterable[tuple[int, Auth]]) -> AuthForm | None:
    """How accounts of ``app`` become the value of the first of ``auths`` that agrees; None where none does."""
    forms = (_agrees(app.spec, index, auth) for index, auth in auths)
    return next((form for form in forms if form is not None), None)


def _agrees(spec: AppSpec, index: int, auth: Auth) -> AuthForm | None:
    if auth.type == "OAUTH2" and auth.grant != CLIENT_CREDENTIALS:
        return _oauth(spec, index, auth) if spec.auth_type == "oauth" else None
    if spec.auth_type != "keys" or spec.session is not None:
        return None
    own = {"SECRET_TEXT": _secret, "BASIC_AUTH": _basic, "CUSTOM_AUTH": _custom}.get(auth.type)
    of_piece = own(spec, auth) if own else None
    if of_piece is None:
        return None
    hosts = tuple(rule for rule in spec.allowed_hosts if "{" in rule)
    return AuthForm.model_validate({"type": auth.type, "index": index, "fields": of_piece, "hosts": hosts})


def _oauth(spec: AppSpec, index: int, auth: Auth) -> AuthForm | None:
    oauth = spec.oauth
    if oauth is None or oauth.request_token_url is not None or not (oauth.authorize_url and oauth.token_url):
        return None
    pairs = ((auth.authorize_url, oauth.authorize_url), (auth.token_url, oauth.token_url))
    known = [_solved(told, ours) for told, ours in pairs]
    if known[1] is None:
        return None
    values = {**(known[0] or {}), **known[1]}
    by_name = _by_name(spec, auth)
    of_piece: dict[str, AccountField] = {}
    for own, described in auth.props.items():
        if own in by_name or own in values:
            of_piece[own] = by_name.get(own) or AccountField(value=values[own])
        elif isinstance(described, Mapping) and described.get("required") is True:
            return None
    data = {path: name for name, path in oauth.keep.items()}
    if oauth.token_at:
        data[f"{oauth.token_at}.access_token"] = "oauth_access_token"
    hosts = tuple(rule for rule in spec.allowed_hosts if "{" in rule)
    return AuthForm.model_validate({"type": "OAUTH2", "index": index, "fields": of_piece, "data": data, "hosts": hosts})


def _solved(told: str, ours: str) -> dict[str, str] | None:
    """What the holes of the piece's address are, so that it is at the host of ``ours``; None where it is elsewhere."""
    host, own = urlsplit(_HOLE.sub(r"{\1}", told)).netloc, urlsplit(ours).netloc
    if host.count("{") > _MOST_HOLES:
        return None
    if "{" in own:
        return {} if _HOLE.sub("", host).lstrip(".") == _HOLE.sub("", own).lstrip(".") else None
    pattern = "".join(
        f"(?P<{part[1:-1]}>[a-z0-9.-]+)" if part.startswith("{") and index == host.find(part) else re.escape(part)
        for part, index in _parts(host)
    )
    match = re.fullmatch(pattern, own)
    return None if match is None else dict(match.groupdict())


def _parts(host: str) -> list[tuple[str, int]]:
    """The holes of ``host`` and what is between them, each with its place."""
    return [(match[0], match.start()) for match in re.finditer(r"\{\w+\}|[^{}]+", host)]


def _secret(spec: AppSpec, _: Auth) -> Mapping[str, AccountField] | None:
    secrets = [field.name for field in spec.fields if field.secret]
    return {"secret_text": AccountField(field=secrets[0])} if len(secrets) == 1 else None


def _basic(spec: AppSpec, _: Auth) -> Mapping[str, AccountField] | None:
    for credential in spec.credentials:
        name, password = _ONE_FIELD.fullmatch(credential.username), _ONE_FIELD.fullmatch(credential.password)
        if credential.place == "basic" and name and password:
            return {"username": AccountField(field=name[1]), "password": AccountField(field=password[1])}
    return None


def _custom(spec: AppSpec, auth: Auth) -> Mapping[str, AccountField] | None:
    by_name = dict(_by_name(spec, auth))
    secrets = [field.name for field in spec.fields if field.secret]
    own = [name for name, each in auth.props.items() if isinstance(each, Mapping) and each.get("type") == "SECRET_TEXT"]
    if len(secrets) == len(own) == 1:
        by_name[own[0]] = AccountField(field=secrets[0])
    for name, described in auth.props.items():
        if name not in by_name and isinstance(described, Mapping) and described.get("required") is True:
            return None
    needed = {name for text in (spec.base_url or "", *spec.allowed_hosts) for name in fields_in(text)}
    return by_name if by_name and needed <= {field.field for field in by_name.values()} else None


def _by_name(spec: AppSpec, auth: Auth) -> dict[str, AccountField]:
    """The app's fields by the piece's names, where both are the same but for how they are written."""
    own = {field.name.replace("_", ""): field.name for field in spec.fields}
    entered = fields.of_props(auth).of_piece or {}
    return {
        name: AccountField(field=own[field.field.replace("_", "")], kind=field.kind)
        for name, field in entered.items()
        if field.field.replace("_", "") in own
    }
