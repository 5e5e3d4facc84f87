"""The Configuration tab of a trigger: each answer that it was deployed with, in words. Secrets are not shown.

Editing them is done on the component's page (:mod:`webapp.dashboard.component.page`).
"""

from typing import Any

from webapp.dashboard.client.models import components
from webapp.dashboard.client.models.components import Prop
from webapp.dashboard.component.form_data import control
from webapp.dashboard.component.schedule_words import in_words
from webapp.dashboard.trigger.frame import Frame
from webapp.kit.translation import gettext


def answers(frame: Frame) -> list[tuple[str, str]]:
    """Label and value of everything that a person was asked."""
    return [
        (prop.label, _shown(frame, prop)) for prop in frame.trigger.props if control(prop) not in ("", "alert", "fixed")
    ]


def _shown(frame: Frame, prop: Prop) -> str:
    trigger = frame.trigger
    value = trigger.configured.get(prop.name)
    if prop.secret:
        return gettext("Kept secret")
    if prop.type == "app":
        account_id = value.get("authProvisionId") if isinstance(value, dict) else None
        account = next((account for account in frame.accounts if account.id == account_id), None)
        return account.title if account else str(account_id or gettext("None"))
    if prop.type == "$.interface.timer":
        return in_words(value or trigger.schedule) or gettext("As the app decides")
    if value is None:
        return gettext("Not set")
    return _plain(prop, value)


def _plain(prop: Prop, value: Any) -> str:
    labels = {choice.value: choice.label for choice in prop.options if isinstance(choice.value, (str, int))}
    if isinstance(value, dict) and "__lv" in value:
        value = value["__lv"]
    items = value if isinstance(value, list) else [value]
    options = [components.option(item) for item in items]
    shown = [labels.get(value, label) if isinstance(value, str | int) else label for label, value in options]
    return ", ".join(shown) or gettext("Empty")
