"""A component's form as one person has it: its declaration, what is filled in so far, and the accounts to choose
from.

It is opened from a draft or from what a browser sent, with 404 where app and component do not match; ``?trigger=``
in the address names a deployed trigger that it edits. What changes a form gives another one back, and
:meth:`ComponentForm.save` keeps it as the draft. A trigger is deployed with a name, a webhook URL and whether recent
events are sent, besides its props; those fields travel with the form (``t.deploy:name`` and so on), so that a draft
keeps them too. Nothing here draws anything.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from flask import request
from werkzeug.exceptions import NotFound as NoPage

from webapp.dashboard.client.components import OptionsQuery
from webapp.dashboard.client.models import components as models
from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.components import Choices, Component, Kind, Prop
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.component import drafts, prop_data
from webapp.dashboard.component.drafts import DynamicProps
from webapp.dashboard.component.prop_data import FormData, InvalidValue, MissingValue, control
from webapp.dashboard.dashboard import (
    components,
    dashboard,
    known_accounts,
    known_app,
    known_component,
    triggers,
    viewer,
)
from webapp.errors import PatchbayError
from webapp.kit.translation import gettext, translated

MAX_NAME, MAX_URL = 200, 2_000


@dataclass(frozen=True)
class ComponentForm:
    """One component as one person sees it in one request. With ``trigger`` it edits that deployed trigger."""

    app: App
    component: Component
    data: FormData
    dynamic: DynamicProps
    overview: Overview
    saved_at: int = 0
    trigger: Trigger | None = None

    @property
    def draft(self) -> str:
        """What its draft is kept under: a trigger being edited has one of its own."""
        return self.trigger.id if self.trigger else viewer().here(self.component.key)

    @cached_property
    def props(self) -> tuple[Prop, ...]:
        """The props as they are now: the reloaded ones once there are any."""
        props = models.props(self.dynamic.props) if self.dynamic.id else self.component.props
        return prop_data.labelled(props, self.app)

    @property
    def visible_props(self) -> list[Prop]:
        """The props that a person sees."""
        return [prop for prop in self.props if control(prop) and not self.leaves_out(prop)]

    def leaves_out(self, prop: Prop) -> bool:
        """Whether this is the account of an app that has none, or a schedule where nothing is scheduled."""
        if prop.type == "$.interface.timer":
            return self.component.kind == "actions"
        return prop.type == "app" and self.app.auth_type == "none" and prop.app in ("", self.app.slug)

    def accounts(self, prop: Prop) -> list[Account]:
        """The person's accounts for an ``app`` prop, broken ones last."""
        accounts = self.overview.of_app(prop.app or self.app.slug)
        return sorted(accounts, key=lambda account: account.state == "needs-you")

    def values(self) -> tuple[dict[str, Any], dict[str, str]]:
        """What the API takes, and the error of each prop that has one."""
        configured: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for prop in self.props:
            if self.leaves_out(prop):
                continue
            try:
                value = self._value(prop)
            except InvalidValue as error:
                errors[prop.name] = str(error)
            else:
                if value is not prop_data.ABSENT:
                    configured[prop.name] = value
        return configured, errors

    def shown_values(self) -> dict[str, Any]:
        """The values for showing: what is secret is replaced by its label."""
        configured, _ = self.values()
        for prop in self.props:
            if prop.name in configured and prop.secret:
                configured[prop.name] = f"<{prop.label}>"
            elif prop.name in configured and prop.type == "http_request":
                configured[prop.name] = prop_data.masked(configured[prop.name])
        return configured

    def find(self, name: str) -> Prop:
        """The visible prop called ``name``. Raises 404."""
        for prop in self.visible_props:
            if prop.name == name:
                return prop
        raise NoPage

    def options(self, query: OptionsQuery) -> Choices:
        """A page of a prop's options, from the service."""
        configured, _ = self.values()
        return components().options(self.component, query, configured, self.dynamic.id)

    def renewed(self) -> tuple["ComponentForm", str]:
        """The form with the fields that its answers call for, asked for only when they changed; and why that failed."""
        answers = self._digest()
        if answers == self.dynamic.made_from or self.wrong_answers():
            return self, ""
        if not answers:
            return self._with(DynamicProps()), ""
        configured, _ = self.values()
        try:
            reloaded = components().reload(self.component, configured, self.dynamic.id)
        except PatchbayError as error:
            return self, error.message
        if reloaded.problem:
            return self, translated(reloaded.problem)
        if not reloaded.id or not reloaded.props:
            return self._with(DynamicProps(made_from=answers)), ""
        return self._with(DynamicProps(reloaded.id, reloaded.props, answers)), ""

    def wrong_answers(self) -> dict[str, str]:
        """What is wrong with the answers that fields follow from, by prop; one that is missing is not wrong yet."""
        problems = {}
        for prop in self.props:
            try:
                if prop.reloads and not self.leaves_out(prop):
                    self._value(prop)
            except MissingValue:
                continue
            except InvalidValue as error:
                problems[prop.name] = str(error)
        return problems

    def filled(self, configured: dict[str, Any]) -> "ComponentForm":
        """The form with the values of an earlier run; what was secret then is asked for again."""
        data: dict[str, list[str]] = {}
        for prop in self.props:
            value = configured.get(prop.name)
            if value is not None and not prop.secret:
                data |= prop_data.write_value(prop, value)
        return replace(self, data=data)

    def save(self) -> bool:
        """Keep this as the draft, without what is secret. False when it is too large."""
        kept = prop_data.keepable(self.data, [*self.component.props, *self.props])
        board = dashboard()
        return drafts.save(board.store, board.clock, viewer().owner, self.draft, kept, self.dynamic)

    def _value(self, prop: Prop) -> Any:
        if control(prop) == "account":
            return self._account(prop)
        if self.trigger and prop.secret:  # the trigger keeps the one it has unless another is typed
            prop = prop.model_copy(update={"optional": True})
        return prop_data.read_value(prop, self.data)

    def _account(self, prop: Prop) -> Any:
        """The chosen account, if it is one of the person's own."""
        value = prop_data.read_value(prop, self.data)
        own = {account.id for account in self.accounts(prop)}
        if value is not prop_data.ABSENT and value["authProvisionId"] not in own:
            raise InvalidValue(gettext("Choose one of your accounts for “{label}”.").format(label=prop.label))
        return value

    def _digest(self) -> str:
        """A digest of the answers that fields follow from; "" where none do, or while a needed one is missing."""
        configured, _ = self.values()
        reloading = [prop for prop in self.props if prop.reloads]
        if not reloading or any(prop.name not in configured and not prop.optional for prop in reloading):
            return ""
        deciding = {prop.name: configured[prop.name] for prop in reloading if prop.name in configured}
        accounts = {prop.name: configured.get(prop.name) for prop in self.props if prop.type == "app"}
        text = json.dumps([deciding, accounts], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _with(self, dynamic: DynamicProps) -> "ComponentForm":
        """Other fields; answers that still fit them survive, defaults fill what is new."""
        before = {prop.name: prop for prop in self.props}
        form = replace(self, dynamic=dynamic)
        data = dict(self.data)
        for prop in form.props:
            known = before.get(prop.name)
            if known is not None and not _fits(prop, known, data):
                for name in prop_data.of_prop(data, prop):
                    del data[name]
            if not prop_data.of_prop(data, prop):
                data |= prop_data.started(prop)
        return replace(form, data=data)


def _fits(prop: Prop, known: Prop, data: FormData) -> bool:
    """Whether what was answered for ``known`` can stand for ``prop``."""
    if (prop.type, control(prop)) != (known.type, control(known)):
        return False
    if control(prop) not in ("choice", "choices"):
        return True
    offered = [choice.value for choice in prop.options]
    return all(choice.value in offered for choice in prop_data.chosen(prop, data))


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


def opened(kind: Kind, slug: str, key: str) -> ComponentForm:
    """The form as the person left it."""
    form = replace(_loaded(kind, slug, key), overview=known_accounts(fresh=True))
    if form.trigger and not form.saved_at:
        form = form.filled(form.trigger.configured)
    return replace(form, data=_with_defaults(form))


def posted(kind: Kind, slug: str, key: str) -> ComponentForm:
    """The form as a browser sent it. Fields that were not on that page keep what the draft has."""
    form = _loaded(kind, slug, key)
    drawn = set(request.form.getlist("d"))
    data = {name: texts for name, texts in form.data.items() if name.partition(".")[2] not in drawn}
    data |= prop_data.sent(request.form.lists())
    return replace(form, data=data, overview=known_accounts())


def sent_first_time() -> bool:
    """Whether the page's form is sent for the first time; ``once`` in it was made with the page."""
    board, once = dashboard(), request.form.get("once", "")[:100] or secrets.token_urlsafe(16)
    return drafts.claim_run(board.store, board.clock, viewer().owner, once)


def _loaded(kind: Kind, slug: str, key: str) -> ComponentForm:
    """The app, its component and the draft, still without accounts."""
    if not viewer().may(f"connect:{kind}:*"):
        raise NoPage
    component = known_component(kind, key)
    apps = {prop.app for prop in component.props if prop.type == "app"}
    if component.kind != kind or (apps and slug not in apps):
        raise NoPage
    trigger = triggers().find(request.args["trigger"]) if request.args.get("trigger") else None
    if trigger is not None:
        if trigger.component_key != component.key:
            raise NoPage
        component = component.model_copy(update={"props": trigger.props or component.props})
    draft = drafts.load(dashboard().store, viewer().owner, trigger.id if trigger else viewer().here(component.key))
    nobody = Overview((), 0, "")
    return ComponentForm(known_app(slug), component, draft.fields, draft.dynamic, nobody, draft.saved_at, trigger)


def _with_defaults(form: ComponentForm) -> dict[str, list[str]]:
    """Defaults where nothing was ever filled in, and an account where none of the person's is chosen."""
    data = dict(form.data)
    for prop in form.props:
        if control(prop) == "account":
            own = [account.id for account in form.accounts(prop)]
            if prop_data.first(data, "p", prop) not in own:
                data[f"p.{prop.name}"] = own[:1]
        elif not form.saved_at and not form.trigger:
            data |= prop_data.started(prop)
    return data
