"""What each role may do, in one table: a right that moves to another role is seen here."""

from collections.abc import Callable

import pytest

from webapp import setting_values
from webapp.errors import Invalid
from webapp.people import roles

OWNER, DEVELOPER, MEMBER = roles.ROLES
STRANGER = "portal"  # no role of a login
RIGHTS: dict[Callable[[str], bool], set[str]] = {
    roles.is_owner: {OWNER},
    roles.may_build: {OWNER, DEVELOPER},
    roles.may_choose_scene: {OWNER, DEVELOPER},
    roles.may_manage_webhooks: {OWNER, DEVELOPER},
    roles.may_set_up_apps: {OWNER},
    roles.may_ask_for_apps: {DEVELOPER, MEMBER},
    roles.may_change_projects: {OWNER},
    roles.may_give_all_scopes: {OWNER},
    roles.may_see_key_holders: {OWNER},
    roles.may_invite: {OWNER},
    roles.may_share_demos: {OWNER},
}


def test_each_role_may_what_it_may() -> None:
    asked = {question: {role for role in (*roles.ROLES, STRANGER) if question(role)} for question in RIGHTS}
    assert asked == RIGHTS


def test_no_right_is_missing_from_the_table() -> None:
    questions = {value for name, value in vars(roles).items() if name.startswith(("may_", "is_"))}
    assert questions == set(RIGHTS)


def test_what_is_no_role_is_refused() -> None:
    for role in roles.ROLES:
        roles.check(role)
    with pytest.raises(Invalid, match="must be owner, developer or member"):
        roles.check("king")


def test_a_setting_may_name_each_role() -> None:
    groups = ", ".join(f"{role}s={role}" for role in roles.ROLES)
    assert setting_values.roles("PATCHBAY_OIDC_ROLES", groups) == tuple((f"{role}s", role) for role in roles.ROLES)
