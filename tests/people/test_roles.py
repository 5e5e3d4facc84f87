"""The roles of logins."""

import pytest

from webapp.errors import Invalid
from webapp.people import roles


def test_what_is_no_role_is_refused() -> None:
    for role in roles.ROLES:
        roles.check(role)
    with pytest.raises(Invalid, match="must be owner, developer or member"):
        roles.check("king")
