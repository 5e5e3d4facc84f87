"""A component on somebody's desk: its declaration, what is filled in so far, and the accounts to choose from.

:func:`opened` puts one together from the draft, :func:`posted` from a form that was sent. What changes something
(:meth:`Desk.reloaded`, :meth:`Desk.save`) gives a desk back or leaves the draft behind; nothing here draws anything.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from flask import request
from werkzeug.exceptions import NotFound as NoPage

from webapp.dashboard import overview
from webapp.dashboard.client.components import ComponentClient, OptionsQuery
from webapp.dashboard.client.models import components as component_shapes
from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.components import Choices, Component, Kind, Prop
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.component import drafts, form_fields, values
from webapp.dashboard.component.drafts import Dynamic
from webapp.dashboard.component.form_fields import Fields, control
from webapp.dashboard.dashboard import dashboard, person, service, triggers
from webapp.dashboard.overview import Overview
from webapp.dashboard.problems import Problem
from webapp.kit.translation import gettext

_NOBODY = Overview((), 0, "")


@dataclass(frozen=True, slots=True)
class Desk:
    """One component as one person sees it in one request. With ``trigger`` it is that deployed trigger being edited."""

    app: App
    component: Component
    fields: Fields
    dynamic: Dynamic
    overview: Overview
    saved_at: int = 0
    trigger: Trigger | None = None

    @property
    def draft(self) -> str:
        """What its draft is kept under: a trigger being edited has one of its own."""
        return self.trigger.id if self.trigger else self.component.key

    @property
    def props(self) -> tuple[Prop, ...]:
        """The props as they are now: the reloaded ones once there are any."""
        return component_shapes.props(self.dynamic.props) if self.dynamic.id else self.component.props

    @property
    def asked(self) -> list[Prop]:
        """The props that a person sees."""
        return [prop for prop in self.props if control(prop) and not self.left_out(prop)]

    def left_out(self, prop: Prop) -> bool:
        """Whether this is the account of an app that has none, or a schedule where nothing is scheduled."""
        if prop.type == "$.interface.timer":
            return self.component.kind == "actions"
        return prop.type == "app" and self.app.auth_type == "none" and prop.app in ("", self.app.slug)

    def accounts(self, prop: Prop) -> list[Account]:
        """The person's accounts for an ``app`` prop, broken ones last."""
        found = self.overview.of_app(prop.app or self.app.slug)
        return sorted(found, key=lambda account: account.state == "needs-you")

    def values(self) -> tuple[dict[str, Any], dict[str, str]]:
        """What the API takes, and the problem of each prop that has one."""
        given: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for prop in self.props:
            if self.left_out(prop):
                continue
            try:
                value = (
                    self._account(prop) if control(prop) == "account" else values.read(self._kept(prop), self.fields)
                )
            except Problem as problem:
                problems[prop.name] = str(problem)
            else:
                if value is not values.ABSENT:
                    given[prop.name] = value
        return given, problems

    def shown_values(self) -> dict[str, Any]:
        """The values for showing: what is secret is replaced by its label."""
        given, _ = self.values()
        for prop in self.props:
            if prop.name in given and prop.secret:
                given[prop.name] = f"<{prop.label}>"
            elif prop.name in given and prop.type == "http_request":
                given[prop.name] = _masked(given[prop.name])
        return given

    def find(self, name: str) -> Prop:
        """The prop called ``name``; 404 when it is not among those that are asked."""
        found = next((prop for prop in self.asked if prop.name == name), None)
        if found is None:
            raise NoPage
        return found

    def choices(self, asked: OptionsQuery) -> Choices:
        """A page of a prop's options, from the service."""
        given, _ = self.values()
        return components().options(self.component, asked, given, self.dynamic.id)

    @property
    def stale(self) -> bool:
        """Whether the fields follow from other answers than those that are given now."""
        return self._answers() != self.dynamic.made_from

    def reloaded(self) -> tuple["Desk", str]:
        """The desk with the fields that follow from its answers, and why that failed if it did."""
        answers = self._answers()
        if not answers:
            return self._with(Dynamic()), ""
        given, _ = self.values()
        answer = components().reload(self.component, given, self.dynamic.id)
        if answer.problem:
            return self, answer.problem
        if not answer.id or not answer.props:
            return self._with(Dynamic(made_from=answers)), ""
        return self._with(Dynamic(answer.id, answer.props, answers)), ""

    def save(self) -> bool:
        """Keep this as the draft, without what is secret. False when it is too large."""
        kept = form_fields.keepable(self.fields, [*self.component.props, *self.props])
        board = dashboard()
        return drafts.save(board.store, board.clock, person().id, self.draft, kept, self.dynamic)

    def _kept(self, prop: Prop) -> Prop:
        """A secret of a deployed trigger stays as it is unless another one is typed."""
        return prop.model_copy(update={"optional": True}) if self.trigger and prop.secret else prop

    def _account(self, prop: Prop) -> Any:
        """The chosen account, if it is one of the person's own."""
        value = values.read(prop, self.fields)
        own = {account.id for account in self.accounts(prop)}
        if value is not values.ABSENT and value["authProvisionId"] not in own:
            raise Problem(gettext("Choose one of your accounts for “{label}”.").format(label=prop.label))
        return value

    def _answers(self) -> str:
        """A digest of the answers that fields follow from; "" where none do, or while a needed one is missing."""
        given, _ = self.values()
        reloading = [prop for prop in self.props if prop.reloads]
        if not reloading or any(prop.name not in given and not prop.optional for prop in reloading):
            return ""
        deciding = {prop.name: given[prop.name] for prop in reloading if prop.name in given}
        accounts = {prop.name: given.get(prop.name) for prop in self.props if prop.type == "app"}
        text = json.dumps([deciding, accounts], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _with(self, dynamic: Dynamic) -> "Desk":
        """Other fields; answers that still fit them survive, defaults fill what is new."""
        before = {prop.name: prop for prop in self.props}
        desk = replace(self, dynamic=dynamic)
        fields = dict(self.fields)
        for prop in desk.props:
            known = before.get(prop.name)
            if known is not None and not _fits(prop, known, fields):
                for name in form_fields.of_prop(fields, prop):
                    del fields[name]
            if not form_fields.of_prop(fields, prop):
                fields |= values.started(prop)
        return replace(desk, fields=fields)


def components() -> ComponentClient:
    """The components as the signed-in person may use them."""
    return ComponentClient(dashboard().client, person().id)


def opened(kind: Kind, slug: str, key: str) -> Desk:
    """The desk as the person left it."""
    desk = _found(kind, slug, key)
    accounts = overview.read(service())
    dashboard().overviews.put(person().id, accounts)
    desk = replace(desk, overview=accounts)
    if desk.trigger and not desk.saved_at:
        desk = filled(desk, desk.trigger.configured)
    return replace(desk, fields=_prepared(desk))


def posted(kind: Kind, slug: str, key: str) -> Desk:
    """The desk as a form says it is. Fields that were not on that page keep what the draft has."""
    desk = _found(kind, slug, key)
    drawn = set(request.form.getlist("d"))
    fields = {name: texts for name, texts in desk.fields.items() if name.partition(".")[2] not in drawn}
    fields |= form_fields.sent(request.form.lists())
    known = dashboard().overviews.get(person().id)
    accounts = known or dashboard().overviews.put(person().id, overview.read(service()))
    return replace(desk, fields=fields, overview=accounts)


def filled(desk: Desk, given: Mapping[str, Any]) -> Desk:
    """The desk with the values of an earlier run; what was secret then is asked for again."""
    fields: dict[str, list[str]] = {}
    for prop in desk.props:
        value = given.get(prop.name)
        if prop.name in given and not (prop.secret or value is None):
            fields |= values.write(prop, value)
    return replace(desk, fields=fields)


def _found(kind: Kind, slug: str, key: str) -> Desk:
    """The app, its component and the draft; 404 when they do not belong together. ``?trigger=`` is the one to edit."""
    component = components().find(kind, key)
    apps = {prop.app for prop in component.props if prop.type == "app"}
    if component.kind != kind or (apps and slug not in apps):
        raise NoPage
    trigger = triggers().find(request.args["trigger"]) if request.args.get("trigger") else None
    if trigger is not None:
        if trigger.component_key != component.key:
            raise NoPage
        component = component.model_copy(update={"props": trigger.props or component.props})
    draft = drafts.load(dashboard().store, person().id, trigger.id if trigger else component.key)
    return Desk(service().app(slug), component, draft.fields, draft.dynamic, _NOBODY, draft.saved_at, trigger)


def _prepared(desk: Desk) -> dict[str, list[str]]:
    """Defaults where nothing was ever filled in, and an account where none of the person's is chosen."""
    fields = dict(desk.fields)
    for prop in desk.props:
        if control(prop) == "account":
            own = [account.id for account in desk.accounts(prop)]
            if form_fields.first(fields, "p", prop) not in own:
                fields[f"p.{prop.name}"] = own[:1]
        elif not desk.saved_at and not desk.trigger:
            fields |= values.started(prop)
    return fields


def _fits(prop: Prop, known: Prop, fields: Fields) -> bool:
    """Whether what was answered for ``known`` can stand for ``prop``."""
    if (prop.type, control(prop)) != (known.type, control(known)):
        return False
    if control(prop) not in ("choice", "choices"):
        return True
    offered = [choice.value for choice in prop.options]
    return all(choice.value in offered for choice in values.chosen(prop, fields))


def _masked(value: Any) -> Any:
    """An HTTP request without what signs it in."""
    auth = dict(value.get("auth") or {})
    for name in ("password", "token"):
        if auth.get(name):
            auth[name] = f"<{name}>"
    return {**value, "auth": auth}
