"""Masks secrets in log lines, errors and responses, in each encoding in which a request may carry them."""

import base64
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from webapp.service.components.calls import AccountGrant, Call
from webapp.service.outbound.placements import apply
from webapp.service.outbound.templates import TemplateError

MASK = "••••••"
SHORTEST = 4  # a shorter value would mask ordinary words
SHORTEST_IN_BODY = 12


class Mask:
    """Replaces the secrets of one call. Threads may share it."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= SHORTEST}
        self.forms = sorted(forms, key=len, reverse=True)

    @classmethod
    def of(cls, call: Call) -> "Mask":
        """The mask for ``call``: its accounts' secret fields, the credential as sent, and its secret props."""
        return cls([*call.mask, *(secret for grant in call.accounts.values() for secret in _secrets(grant))])

    @classmethod
    def of_account(cls, grant: AccountGrant) -> "Mask":
        """The mask for the secrets of one account."""
        return cls(_secrets(grant))

    def __call__(self, text: str) -> str:
        """``text`` with the secrets masked."""
        for form in self.forms:
            if form in text:
                text = text.replace(form, MASK)
        return text


class BodyMask:
    """Masks a stream of blocks. A secret is replaced with as many stars, so that the length stays the same.

    Short secrets are not masked, because they would also match other data.
    """

    def __init__(self, mask: Mask) -> None:
        self._forms = [form.encode() for form in mask.forms if len(form) >= SHORTEST_IN_BODY]

    def __call__(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """``blocks`` with the secrets masked.

        Bytes that may begin a secret are held back until the next block decides.
        """
        held = b""
        for block in blocks:
            text = held + block
            for form in self._forms:
                text = text.replace(form, b"*" * len(form))
            end = len(text) - max((_begun(text, form) for form in self._forms), default=0)
            held = text[end:]
            if end:
                yield text[:end]
        if held:
            yield held


def _begun(text: bytes, form: bytes) -> int:
    """How many bytes at the end of ``text`` are a prefix of ``form``."""
    start = text.find(form[:1], max(0, len(text) - len(form) + 1))
    while start >= 0:
        if form.startswith(text[start:]):
            return len(text) - start
        start = text.find(form[:1], start + 1)
    return 0


def _secrets(grant: AccountGrant) -> Iterator[str]:
    names = grant.values if grant.secrets is None else grant.secrets
    yield from (grant.values[name] for name in names if name in grant.values)
    basics = [placement for placement in grant.placements if placement.kind == "basic"]
    try:
        yield from (header.removeprefix("Basic ") for header in apply(basics, grant.values).headers.values())
    except TemplateError:
        return


def _forms(secret: str) -> Iterator[str]:
    """``secret`` unchanged, stripped, URL-encoded, JSON-encoded, in base64, and line by line."""
    for text in {secret, secret.strip(), *(line.strip() for line in secret.splitlines())}:
        yield text
        yield quote(text, safe="", errors="replace")
        yield quote_plus(text, errors="replace")
        yield json.dumps(text)[1:-1]
        if len(text) >= SHORTEST:
            yield base64.b64encode(text.encode(errors="replace")).decode("ascii").rstrip("=")
