"""The ``auth`` value that a piece gets for an account, in the form of the second version of a piece's context.

The account may belong to a built-in app, whose fields have other names: the component's file maps its fields to the
parts of the piece's value.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from webapp.service.components.calls import AccountGrant
from webapp.service.components.errors import ComponentError
from webapp.service.components.pieces.form import AccountField, AuthForm, PieceForm
from webapp.service.components.pieces.values import decoded
from webapp.service.outbound.templates import TemplateError, fields_in, fill_hosts

Accounts = Mapping[str, AccountGrant]


def auth(piece: PieceForm, accounts: Accounts) -> dict[str, Any] | None:
    """The auth value of a call of ``piece`` with ``accounts``, by app prop; None if it needs no account.

    Raises :class:`ComponentError` for an account of an app that the piece does not know.
    """
    chosen = _chosen(piece, accounts)
    return None if chosen is None else of_account(*chosen)


def index(piece: PieceForm, accounts: Accounts) -> int | None:
    """The index of the account's auth type among those of the piece; None without an account."""
    chosen = _chosen(piece, accounts)
    return None if chosen is None else chosen[0].index


def hosts(piece: PieceForm, accounts: Accounts) -> tuple[str, ...]:
    """The host rules that follow from the account, such as its server, for this call only.

    Rules with a field that is empty or names no server are left out. Raises :class:`ComponentError`.
    """
    chosen = _chosen(piece, accounts)
    return () if chosen is None else hosts_of(*chosen)


def hosts_of(form: AuthForm, values: Mapping[str, str]) -> tuple[str, ...]:
    """The host rules that follow from an account with these ``values``."""
    rules = [rule for rule in form.hosts if all(values.get(name) for name in fields_in(rule))]
    return tuple(dict.fromkeys(host for rule in rules for host in _filled(rule, values)))


def _filled(rule: str, values: Mapping[str, str]) -> tuple[str, ...]:
    with suppress(TemplateError):
        return fill_hosts([rule], values)
    return ()


def of_account(form: AuthForm, values: Mapping[str, str]) -> dict[str, Any]:
    """The auth value of an account with these ``values``."""
    fields = {name: value for name, field in form.fields.items() if (value := _value(field, values)) is not None}
    if form.type == "SECRET_TEXT":
        return {"type": form.type, "secret_text": fields.get("secret_text", "")}
    if form.type == "BASIC_AUTH":
        return {"type": form.type, "username": fields.get("username", ""), "password": fields.get("password", "")}
    if form.type == "CUSTOM_AUTH":
        return {"type": form.type, "props": fields}
    return {
        "type": form.type,
        "access_token": values.get(form.token, ""),
        "token_type": "Bearer",
        "scope": values.get("oauth_scope", ""),
        "client_id": values.get("oauth_client_id", ""),
        "data": _nested({path: values[field] for path, field in form.data.items() if field in values}),
        "props": fields,
    }


def _chosen(piece: PieceForm, accounts: Accounts) -> tuple[AuthForm, Mapping[str, str]] | None:
    grant = accounts.get(piece.account) if piece.account else None
    if grant is None:
        return None
    form = piece.auth.get(grant.app)
    if form is None:
        raise ComponentError(f"{piece.package} cannot work with an account of {grant.app}. Choose another account.")
    return form, grant.values


def _value(field: AccountField, values: Mapping[str, str]) -> Any:
    """The value of a field in the piece's form; None if it is empty."""
    text = values.get(field.field) or field.value
    if text is None:
        return None
    if field.kind == "choice":
        return decoded(text)
    if field.kind == "boolean":
        return text.strip().lower() in ("true", "1", "yes", "on")
    if field.kind == "number":
        try:
            number = float(text)
        except ValueError:
            return text
        return int(number) if number.is_integer() else number
    return text


def _nested(paths: Mapping[str, str]) -> dict[str, Any]:
    """``{"team.id": "T1"}`` as ``{"team": {"id": "T1"}}``."""
    tree: dict[str, Any] = {}
    for path, value in paths.items():
        *steps, last = path.split(".")
        place = tree
        for step in steps:
            inner = place.setdefault(step, {})
            place = inner if isinstance(inner, dict) else place
        place[last] = value
    return tree
