"""E-mail addresses, by which people sign in."""

import re
import unicodedata

from webapp.errors import Detail
from webapp.kit.translation import gettext

MAX_EMAIL = 254  # RFC 5321 section 4.5.3.1.3, without the angle brackets
_EMAIL = re.compile(r"[^\s@\x00-\x1f\x7f<>()\[\],;:\\\"]{1,64}@[^\s@\x00-\x1f\x7f<>()\[\],;:\\\"]+")


def normal(email: str) -> str:
    """``email`` as it is stored and compared: trimmed, composed (NFC) and lower-cased."""
    storable = email.encode("utf-8", "replace").decode()
    return unicodedata.normalize("NFC", storable.strip()).lower()


def checked(email: str) -> tuple[str, list[Detail]]:
    """``email`` as it is stored, and what is wrong with it."""
    email = normal(email)
    if not email:
        return email, [Detail("email", gettext("Enter your e-mail address."))]
    if len(email) > MAX_EMAIL or not _EMAIL.fullmatch(email):
        sentence = gettext("That is not an e-mail address; write it as name@example.com.")
        return email, [Detail("email", sentence)]
    return email, []
