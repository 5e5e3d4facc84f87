"""The names of accounts: what a person calls one, else what its identity is called at the provider.

Clients' pickers show only the name, so no two accounts of one app and user get the same one by themselves. Which member
of a provider's answer names an identity is decided in :mod:`webapp.service.outbound.probe`.
"""

import itertools
from collections.abc import Mapping, Sequence

from webapp.errors import Detail, Invalid
from webapp.kit.text import one_line
from webapp.service.catalog.app import App
from webapp.store.contract import Reader

MAX_NAME = 200


def checked(name: str | None) -> str | None:
    """``name`` without surrounding spaces; None if empty. Raises :class:`Invalid`."""
    name = (name or "").strip() or None
    if name and (len(name) > MAX_NAME or not name.isprintable()):
        message = f"Use at most {MAX_NAME} printable characters."
        raise Invalid(f"The name is not valid: {message}", [Detail("name", message)])
    return name


def free(reader: Reader, user_id: str, app: str, text: str | None, *, but: str) -> str | None:
    """``text`` as a name that no account of ``app`` of the user has yet: ``ada``, then ``ada (2)``. ``but`` is the
    account that it is for."""
    if not text:
        return None
    sql = "SELECT name FROM accounts WHERE external_user_id = :user AND app = :app AND name IS NOT NULL AND id <> :but"
    taken = {name for (name,) in reader.tuples(sql, {"user": user_id, "app": app, "but": but})}
    base = one_line(text, MAX_NAME - 10)  # leaves room for a number
    numbered = (f"{base} ({number})" for number in itertools.count(2))
    return next(name for name in itertools.chain([base], numbered) if name not in taken)


def at_site(app: App, text: str | None, site: Mapping[str, str], sites: Sequence[Mapping[str, str]]) -> str | None:
    """``text``, a name of an identity, with that of the site, where its sign-in leads to several."""
    return f"{text} · {site[app.site_label].removeprefix('https://')}" if text and len(sites) > 1 else text
