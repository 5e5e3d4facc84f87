"""The behaviours of an account: how this provider treats a grant once it was given. Data only; others act on it."""

from dataclasses import dataclass

HOUR_SECONDS = 3600
SHORT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Behaviour:
    """``access_seconds`` is the life of an access token; ``revokes`` ends the grant at its first refresh."""

    slug: str
    label: str
    words: str
    access_seconds: int = HOUR_SECONDS
    slow: bool = False
    revokes: bool = False
    trouble: bool = False


BEHAVIOURS = {
    behaviour.slug: behaviour
    for behaviour in (
        Behaviour("normal", "Normal", "Everything works."),
        Behaviour("slow", "Slow", "Tokens and the API answer after about 3 seconds.", slow=True),
        Behaviour("short-lived", "Short-lived", "Access ends after 60 seconds, and can be refreshed.", SHORT_SECONDS),
        Behaviour(
            "revoking",
            "Revoking",
            "Access ends after 60 seconds; the first refresh works, then the access is taken back.",
            SHORT_SECONDS,
            revokes=True,
        ),
        Behaviour("trouble", "Server trouble", "The API answers 503 to every request.", trouble=True),
    )
}
NORMAL = BEHAVIOURS["normal"]


def behaviour_of(slug: str) -> Behaviour:
    """The behaviour with this name; the normal one for an unknown name."""
    return BEHAVIOURS.get(slug, NORMAL)
