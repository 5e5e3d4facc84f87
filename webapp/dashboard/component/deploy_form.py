"""What a trigger is deployed with besides its props: a name, a webhook URL, and whether recent events are sent.

The fields travel with the component's form (``t.deploy:name`` and so on), so that a draft keeps them too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.dashboard.component.desk import Desk
from webapp.dashboard.component.form_fields import Fields
from webapp.kit.translation import gettext

MAX_NAME, MAX_URL = 200, 2_000


@dataclass(frozen=True, slots=True)
class DeployForm:
    """The answers as they were given."""

    name: str
    url: str
    emit: bool

    def problems(self) -> dict[str, str]:
        """What is wrong, by field."""
        found = {}
        if len(self.name) > MAX_NAME:
            found["deploy:name"] = gettext("Use at most {count} characters.").format(count=MAX_NAME)
        if self.url and (not self.url.lower().startswith(("http://", "https://")) or len(self.url) > MAX_URL):
            found["deploy:url"] = gettext("Write the whole address, beginning with https:// or http://.")
        return found


def of(desk: Desk) -> DeployForm:
    """The form as ``desk`` has it; one that nobody touched says what the trigger being edited has."""
    trigger, fields = desk.trigger, desk.fields
    emit = fields.get("t.deploy:emit")
    return DeployForm(
        name=_text(fields, "name", trigger.name if trigger else ""),
        url=_text(fields, "url", ""),
        emit=emit[-1] == "true" if emit else (trigger.emit_on_deploy if trigger else True),
    )


def changes(desk: Desk, given: Mapping[str, Any], form: DeployForm) -> dict[str, Any]:
    """The body that redeploys the trigger being edited: an emptied answer is removed, an untouched secret stays."""
    before = desk.trigger.configured if desk.trigger else {}
    props = {prop.name: None for prop in desk.asked if not prop.secret and before.get(prop.name) is not None}
    body: dict[str, Any] = {"configured_props": props | dict(given), "emit_on_deploy": form.emit}
    if form.name:
        body["name"] = form.name
    return body | ({"dynamic_props_id": desk.dynamic.id} if desk.dynamic.id else {})


def _text(fields: Fields, name: str, default: str) -> str:
    found = fields.get(f"t.deploy:{name}")
    return found[0].strip() if found else default
