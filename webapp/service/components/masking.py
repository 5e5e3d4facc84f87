"""Taking secrets out of what a component logs and raises, in every form in which a request carries them."""

import base64
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from webapp.service.components.calls import AccountGrant, Call
from webapp.service.outbound.templates import TemplateError, apply

MASK = "••••••"
SHORTEST = 4  # a shorter value would blot out ordinary words


class Mask:
    """Replaces the secrets of one call. Threads may share it."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= SHORTEST}
        self._forms = sorted(forms, key=len, reverse=True)

    @classmethod
    def of(cls, call: Call) -> "Mask":
        """What may not be shown of ``call``: its accounts' secret fields, the credential as sent, its secret props."""
        return cls([*call.mask, *(secret for grant in call.accounts.values() for secret in _secrets(grant))])

    @classmethod
    def of_account(cls, grant: AccountGrant) -> "Mask":
        """What may not be shown of one account."""
        return cls(_secrets(grant))

    def __call__(self, text: str) -> str:
        """``text`` without the secrets."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text


def _secrets(grant: AccountGrant) -> Iterator[str]:
    names = grant.values if grant.secrets is None else grant.secrets
    yield from (grant.values[name] for name in names if name in grant.values)
    basics = [placement for placement in grant.placements if placement.kind == "basic"]
    try:
        yield from (header.removeprefix("Basic ") for header in apply(basics, grant.values).headers.values())
    except TemplateError:
        return


def _forms(secret: str) -> Iterator[str]:
    """As it is, without outer spaces, in a URL, in JSON, in base64, and line by line."""
    for text in {secret, secret.strip(), *(line.strip() for line in secret.splitlines())}:
        yield text
        yield quote(text, safe="", errors="replace")
        yield quote_plus(text, errors="replace")
        yield json.dumps(text)[1:-1]
        if len(text) >= SHORTEST:
            yield base64.b64encode(text.encode(errors="replace")).decode("ascii").rstrip("=")
