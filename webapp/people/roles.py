"""What people may do: the role of each login."""

from webapp.errors import Detail, Invalid

ROLES = ("owner", "developer", "member")


def check(role: str) -> None:
    """Raise :class:`Invalid` for what is no role."""
    if role not in ROLES:
        raise Invalid(f"The role must be {', '.join(ROLES[:-1])} or {ROLES[-1]}.", [Detail("role", "Unknown role.")])
