"""What the fields of a project must hold."""

import re

from webapp.errors import Detail
from webapp.kit.contrast import MAX_HUE

MAX_NAME = 100
_EMAIL = re.compile(r"[^\s@\x00-\x1f\x7f<>]{1,64}@[^\s@\x00-\x1f\x7f<>]{1,190}")


def problems(name: str, app_name: str, email: str, hue: int) -> list[Detail]:
    """What is wrong with them, by field."""
    details = [
        Detail(field, f"Use 1 to {MAX_NAME} printable characters.")
        for field, text in (("name", name), ("app_name", app_name))
        if not text or len(text) > MAX_NAME or not text.isprintable()
    ]
    if not _EMAIL.fullmatch(email):
        details.append(Detail("support_email", "Use an e-mail address such as help@example.com."))
    if not 0 <= hue <= MAX_HUE:
        details.append(Detail("brand_hue", f"Use a whole number from 0 to {MAX_HUE}."))
    return details
