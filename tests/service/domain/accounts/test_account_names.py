"""What accounts are called: by their people, else by their identities, and no two alike by themselves."""

from typing import Any

import pytest

from webapp.errors import Invalid
from webapp.service.domain.accounts import account_names, account_state


def test_a_name_is_a_line_of_at_most_200_characters() -> None:
    assert (
        account_names.checked("  Work ") == "Work" and account_names.checked(" ") is account_names.checked(None) is None
    )
    assert account_names.checked("x" * 200)
    for bad in ("x" * 201, "a\nb", "a\0"):
        with pytest.raises(Invalid) as caught:
            account_names.checked(bad)
        assert [detail.field for detail in caught.value.details] == ["name"]


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ({"id": "u1", "name": "Ada", "email": "ada@acme.example"}, "ada@acme.example"),
        ({"id": "u1", "name": "Ada", "email": None}, "Ada"),
        ({"id": "u1"}, "u1"),
    ],
)
def test_an_account_is_called_by_its_identity_and_numbered(bench: Any, identity: dict[str, Any], name: str) -> None:
    bench.acme.identity = identity
    first, second, third = (bench.connect() for _ in range(3))
    assert [account.name for account in (first, second, third)] == [name, f"{name} (2)", f"{name} (3)"]
    assert bench.connect(token=bench.token("bob")).name == name  # another user's are not in the way
    assert bench.connect(account_id=second.id).name == f"{name} (2)"
    account_state.rename(bench.service, second, "Work")
    assert bench.connect(account_id=second.id).name == "Work"
    assert bench.connect().name == f"{name} (2)"


def test_a_long_identity_leaves_room_for_its_number(bench: Any) -> None:
    bench.acme.identity = {"id": "u1", "name": "x" * 500}
    names = [bench.connect().name for _ in range(2)]
    assert len(set(names)) == 2
    assert all(account_names.checked(name) == name for name in names)
