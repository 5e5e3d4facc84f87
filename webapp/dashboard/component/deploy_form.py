"""What a trigger is deployed with besides its props: a name, a webhook URL, and whether recent events are sent.

The fields travel with the component's form (``t.deploy:name`` and so on), so that a draft keeps them too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.dashboard.component.form import ComponentForm
from webapp.dashboard.component.form_data import FormData
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
        problems = {}
        if len(self.name) > MAX_NAME:
            problems["deploy:name"] = gettext("Use at most {count} characters.").format(count=MAX_NAME)
        if self.url and (not self.url.lower().startswith(("http://", "https://")) or len(self.url) > MAX_URL):
            problems["deploy:url"] = gettext("Write the whole address, beginning with https:// or http://.")
        return problems


def of(form: ComponentForm) -> DeployForm:
    """The answers in ``form``; where nobody touched them, what the trigger being edited has."""
    trigger, data = form.trigger, form.data
    emit = data.get("t.deploy:emit")
    return DeployForm(
        name=_text(data, "name", trigger.name if trigger else ""),
        url=_text(data, "url", ""),
        emit=emit[-1] == "true" if emit else (trigger.emit_on_deploy if trigger else True),
    )


def changes(form: ComponentForm, configured: Mapping[str, Any], deployment: DeployForm) -> dict[str, Any]:
    """The body that redeploys the trigger being edited: an emptied answer is removed, an untouched secret stays."""
    before = form.trigger.configured if form.trigger else {}
    props = {prop.name: None for prop in form.visible_props if not prop.secret and before.get(prop.name) is not None}
    body: dict[str, Any] = {"configured_props": props | dict(configured), "emit_on_deploy": deployment.emit}
    if deployment.name:
        body["name"] = deployment.name
    return body | ({"dynamic_props_id": form.dynamic.id} if form.dynamic.id else {})


def _text(data: FormData, name: str, default: str) -> str:
    texts = data.get(f"t.deploy:{name}")
    return texts[0].strip() if texts else default
