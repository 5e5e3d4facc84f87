"""What a call holds is not shown."""

from webapp.service.components.calls import AccountGrant, Call


def test_nothing_secret_is_printed() -> None:
    call = Call(path="p", props={"a": "canary"}, accounts={"a": AccountGrant({"k": "canary"})}, mask=("canary",))
    assert "canary" not in repr(call)
