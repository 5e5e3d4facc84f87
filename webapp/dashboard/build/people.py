"""Build: People. The people who may sign in, their roles, and invitations.

``webapp.people`` stores logins and invitations, and records in the audit log which owner changed them. Changes of a
login are left to :mod:`.logins`, those of an invitation to :mod:`.invitations`.
"""

from collections.abc import Sequence
from typing import Any

from flask import Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.gate import person
from webapp.dashboard.pages import fragment, go, wants_fragment
from webapp.dashboard.words import ROLES
from webapp.kit.text import holds
from webapp.kit.translation import gettext
from webapp.people import invitations, passkeys, roles, totp, users

blueprint = menu.blueprint("people")

EVERYBODY = tuple(reversed(roles.ROLES))
MOST_SHOWN = 100
MAX_QUERY = 254


@blueprint.get("")
def page() -> AnyResponse:
    """The page."""
    return show()


def show(
    *,
    links: Sequence[tuple[str, str]] = (),
    reset: tuple[str, str, int] | None = None,
    emails: str = "",
    invited_as: str = roles.DEFAULT,
    error: str = "",
    code: int = 200,
) -> Response:
    """The page.

    ``links`` are the addresses just invited and their links, ``reset`` a link for a new password: both are shown only
    once. ``error`` is the error of the ``emails`` of the form.
    """
    page = render_template(
        "dashboard/build/people/page.html", new_links=links, reset=reset, emails=emails, invited_as=invited_as,
        error=error, rights=_rights(), **_list(),
    )  # fmt: skip
    return make_response(page, code)


def changed(sentence: str, tone: str, code: int = 200) -> AnyResponse:
    """The updated people with a message; without JavaScript a redirect to the page."""
    if not wants_fragment():
        flash(sentence, tone)
        return go(url_for("dashboard.build_people.page"))
    body = fragment("dashboard/build/people/_changed.html", sentence=sentence, tone=tone, **_list())
    return make_response(body, code)


def _list() -> dict[str, Any]:
    """The context of the lists of people and invitations; of many people those whose address matches the search."""
    board, query = dashboard(), request.values.get("q", "")[:MAX_QUERY]
    everybody, waiting = users.all_users(board.store), invitations.list_open(board.store)
    owners = [user.id for user in everybody if user.enabled and roles.is_owner(user.role)]
    matching = [user for user in everybody if holds(user.email, query)]
    return {
        "query": query,
        "total": len(everybody),
        "matching": len(matching),
        "people": matching[:MOST_SHOWN],
        "me": person(),
        "only_owner": owners[0] if len(owners) == 1 else "",
        "guarded": totp.user_ids(board.store) | passkeys.user_ids(board.store),
        "waiting": [(row, invitations.is_valid(board.store, board.clock(), row)) for row in waiting],
        "email_of": {user.id: user.email for user in everybody},
        "roles": [(name, ROLES[name]) for name in EVERYBODY],
        "roles_by": board.oidc.name if board.oidc and board.settings.oidc_roles else "",
    }


def _rights() -> list[tuple[str, tuple[str, ...]]]:
    """The roles, and what each may do."""
    pages: dict[tuple[str, ...], list[str]] = {}
    for item in menu.PAGES.values():
        pages.setdefault(item.roles, []).append(str(item.label))
    return [
        (gettext("Connect, run, watch"), EVERYBODY),
        (gettext("See signing keys and the audit log"), roles.DEVELOPERS),
        *(
            (gettext("Build: {pages}").format(pages=", ".join(labels)), who)
            for who, labels in sorted(pages.items(), key=lambda row: -len(row[0]))
        ),
    ]
