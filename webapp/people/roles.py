"""What each role may do: the roles of the people who sign in, and one question for each thing that not all of them may.

Pages, the API and agents ask these questions, and compare no role themselves. Who has which role, and that an owner
remains, is left to :mod:`webapp.people.users`. What a Connect token or an OAuth client may do is decided by its scopes;
whoever sees a page by a token has none of these roles, so every answer for them is no.
"""

from typing import Literal, get_args

from webapp.errors import Detail, Invalid

Role = Literal["owner", "developer", "member"]
ROLES: tuple[Role, ...] = get_args(Role)
"""From the one that may do most to the one that may do least."""

OWNERS = ("owner",)
DEVELOPERS = ("owner", "developer")
DEFAULT: Role = "member"
"""The role of a person for whom no other is chosen."""


def check(role: str) -> None:
    """Raise :class:`Invalid` unless ``role`` is one of :data:`ROLES`."""
    if role not in ROLES:
        raise Invalid(f"The role must be {', '.join(ROLES[:-1])} or {ROLES[-1]}.", [Detail("role", "Unknown role.")])


def is_owner(role: str) -> bool:
    """Whether it is that of owners, one of whom always remains, and who may do everything."""
    return role in OWNERS


def may_build(role: str) -> bool:
    """Whether it sees Build, signing keys, webhook URLs with their keys, the calls of pages and the audit log.

    Which pages of Build are for owners only is the table of the menu there, by :data:`OWNERS` or :data:`DEVELOPERS`.
    """
    return role in DEVELOPERS


def may_choose_scene(role: str) -> bool:
    """Whether it may work in any project and environment; others are in the dashboard's own."""
    return role in DEVELOPERS


def may_manage_webhooks(role: str) -> bool:
    """Whether it may manage webhooks of the workspace, which get data of all users."""
    return role in DEVELOPERS


def may_set_up_apps(role: str) -> bool:
    """Whether it may give an app its OAuth client, and extend the app by its whole API."""
    return role in OWNERS


def may_ask_for_apps(role: str) -> bool:
    """Whether it may ask the owners to set up an app, which they can do themselves."""
    return role in ROLES and not may_set_up_apps(role)


def may_change_projects(role: str) -> bool:
    """Whether it may change and delete projects."""
    return role in OWNERS


def may_give_all_scopes(role: str) -> bool:
    """Whether it may create, change and delete OAuth clients of this service whose scope is ``*``."""
    return role in OWNERS


def may_see_key_holders(role: str) -> bool:
    """Whether it sees who else has a user API key."""
    return role in OWNERS


def may_invite(role: str) -> bool:
    """Whether it may invite people; an invitation ends with this right of whoever sent it."""
    return role in OWNERS


def may_share_demos(role: str) -> bool:
    """Whether it may create links by which strangers try an action of a demo."""
    return role in OWNERS
