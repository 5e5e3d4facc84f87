"""A component's form for one person: its declaration, its values, and the accounts to choose from.

It is loaded from a draft or from a browser's request, with 404 if app and component do not match; ``?trigger=`` selects
a deployed trigger to edit. Changes return a new form, which :meth:`ComponentForm.save` stores as the draft. The form
also has the fields for deploying a trigger (``t.deploy:name`` and others): its name, a webhook URL, and whether recent
events are sent. Rendering is left to :mod:`.rendering`.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from flask import request
from werkzeug.datastructures import FileStorage
from werkzeug.exceptions import NotFound as NoPage

from webapp import body_limits
from webapp.dashboard.client.components import OptionsQuery
from webapp.dashboard.client.models import components as models
from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.components import Choices, Component, Kind, Option, Prop
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.component import drafts, prop_values
from webapp.dashboard.component.drafts import DynamicProps
from webapp.dashboard.component.prop_values import (
    DEPLOY,
    DEPLOY_PART,
    SHOWN,
    VALUE,
    FormData,
    InvalidValue,
    MissingValue,
    control,
    field_name,
)
from webapp.dashboard.dashboard import (
    components,
    dashboard,
    known_accounts,
    known_app,
    known_component,
    triggers,
    viewer,
)
from webapp.errors import Invalid, PatchbayError, TooLarge
from webapp.kit.translation import gettext, size, translated

DEPLOY_FIELDS: Mapping[str, str] = {"name": f"{DEPLOY}name", "webhook_url": f"{DEPLOY}url"}
"""The fields of a deployment that are no prop's, by what the API calls them."""


@dataclass(frozen=True)
class ComponentForm:
    """The form of a component for one person and request. With ``trigger`` it edits that deployed trigger."""

    app: App
    component: Component
    data: FormData
    dynamic: DynamicProps
    overview: Overview
    saved_at: int = 0
    trigger: Trigger | None = None
    refused_files: Mapping[str, str] = field(default_factory=dict)
    """Why the files that came with the request were not taken, by prop."""

    @property
    def draft(self) -> str:
        """The key of its draft; a trigger that is edited has its own."""
        return self.trigger.id if self.trigger else viewer().here(self.component.key)

    @cached_property
    def props(self) -> tuple[Prop, ...]:
        """The current props: the reloaded ones, if there are any."""
        props = models.props(self.dynamic.props) if self.dynamic.id else self.component.props
        return prop_values.labelled(props, self.app)

    @property
    def visible_props(self) -> list[Prop]:
        """The visible props."""
        return [prop for prop in self.props if control(prop) and not self.leaves_out(prop)]

    def leaves_out(self, prop: Prop) -> bool:
        """Whether the prop is the account of an app without accounts, or an unused schedule."""
        if prop.type == "$.interface.timer":
            return self.component.kind == "actions"
        return prop.type == "app" and self.app.auth_type == "none" and prop.app in ("", self.app.slug)

    def accounts(self, prop: Prop) -> list[Account]:
        """The person's accounts for an ``app`` prop, newest first: those that work before those that do not."""
        accounts = self.overview.of_app(prop.app or self.app.slug)
        newest_first = sorted(accounts, key=lambda account: account.created_at or "", reverse=True)
        return sorted(newest_first, key=lambda account: account.state != "working")

    def values(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The values for the API, and the errors by prop."""
        configured: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for prop in self.props:
            if prop.name in self.refused_files:
                errors[prop.name] = self.refused_files[prop.name]
                continue
            if self.leaves_out(prop):
                continue
            try:
                value = self._value(prop)
            except InvalidValue as error:
                errors[prop.name] = str(error)
            else:
                if value is not prop_values.ABSENT:
                    configured[prop.name] = value
        return configured, errors

    def shown_values(self) -> dict[str, Any]:
        """The values for code samples, with secrets replaced by their labels."""
        configured, _ = self.values()
        for prop in self.props:
            if prop.name in configured and prop.secret:
                configured[prop.name] = f"<{prop.label}>"
            elif prop.name in configured and prop.type == "http_request":
                configured[prop.name] = prop_values.masked(configured[prop.name])
        return configured

    def find(self, name: str) -> Prop:
        """The visible prop ``name``. Aborts with 404 if there is none."""
        for prop in self.visible_props:
            if prop.name == name:
                return prop
        raise NoPage

    def options(self, query: OptionsQuery) -> Choices:
        """A page of a prop's options, from the service."""
        configured, _ = self.values()
        return components().options(self.component, query, configured, self.dynamic.id)

    def renewed(self) -> tuple["ComponentForm", str]:
        """The form with reloaded fields, if the values they depend on have changed; and why reloading failed, if so."""
        digest = self._digest()
        if digest == self.dynamic.made_from or self.wrong_answers():
            return self, ""
        if not digest:
            return self._with(DynamicProps()), ""
        configured, _ = self.values()
        try:
            reloaded = components().reload(self.component, configured, self.dynamic.id)
        except PatchbayError as error:
            return self, error.message
        if reloaded.problem:
            return self, translated(reloaded.problem)
        if not reloaded.id or not reloaded.props:
            return self._with(DynamicProps(made_from=digest)), ""
        return self._with(DynamicProps(reloaded.id, reloaded.props, digest)), ""

    def wrong_answers(self) -> dict[str, str]:
        """The errors by prop of the values that dynamic fields depend on, except missing values."""
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
        """The form with the values of an earlier run, without secrets."""
        data: dict[str, list[str]] = {}
        for prop in self.props:
            value = configured.get(prop.name)
            if value is not None and not prop.secret:
                data |= prop_values.write_value(prop, value)
        return replace(self, data=data)

    def save(self) -> bool:
        """Store the form as the draft, without secrets. Returns False if it is too large."""
        kept = prop_values.keepable(self.data, [*self.component.props, *self.props])
        board = dashboard()
        return drafts.save(board.store, board.clock, viewer().owner, self.draft, kept, self.dynamic)

    def _value(self, prop: Prop) -> Any:
        if control(prop) == "account":
            return self._account(prop)
        if self.trigger and prop.secret:  # the trigger keeps its secret unless a new one is typed
            prop = prop.model_copy(update={"optional": True})
        return prop_values.read_value(prop, self.data)

    def _account(self, prop: Prop) -> Any:
        """The selected account, if it is one of the person's own."""
        value = prop_values.read_value(prop, self.data)
        own = {account.id for account in self.accounts(prop)}
        if value is not prop_values.ABSENT and value["authProvisionId"] not in own:
            raise InvalidValue(gettext("Choose one of your accounts for “{label}”.").format(label=prop.label))
        return value

    def _digest(self) -> str:
        """A digest of the values that dynamic fields depend on; "" without any, or if a required one is missing."""
        configured, _ = self.values()
        reloading = [prop for prop in self.props if prop.reloads]
        if not reloading or any(prop.name not in configured and not prop.optional for prop in reloading):
            return ""
        deciding = {prop.name: configured[prop.name] for prop in reloading if prop.name in configured}
        accounts = {prop.name: configured.get(prop.name) for prop in self.props if prop.type == "app"}
        text = json.dumps([deciding, accounts], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _with(self, dynamic: DynamicProps) -> "ComponentForm":
        """The form with other fields: values that still fit are kept, and new fields have defaults."""
        before = {prop.name: prop for prop in self.props}
        form = replace(self, dynamic=dynamic)
        data = dict(self.data)
        for prop in form.props:
            known = before.get(prop.name)
            if known is not None and not _fits(prop, known, data):
                for name in prop_values.of_prop(data, prop):
                    del data[name]
            if not prop_values.of_prop(data, prop):
                data |= prop_values.started(prop)
        return replace(form, data=data)


def _fits(prop: Prop, known: Prop, data: FormData) -> bool:
    """Whether the value of ``known`` can be used for ``prop``."""
    if (prop.type, control(prop)) != (known.type, control(known)):
        return False
    if control(prop) not in ("choice", "choices"):
        return True
    offered = [choice.value for choice in prop.options]
    return all(choice.value in offered for choice in prop_values.chosen(prop, data))


@dataclass(frozen=True, slots=True)
class DeployForm:
    """The values of the fields for deploying a trigger."""

    name: str
    url: str
    emit: bool

    def problems(self) -> dict[str, str]:
        """The errors by field; how long a name or an address may be is left to the service."""
        if not self.url or self.url.lower().startswith(("http://", "https://")):
            return {}
        return {f"{DEPLOY}url": gettext("Write the whole address, beginning with https:// or http://.")}


def deploy_form(form: ComponentForm) -> DeployForm:
    """The values in ``form``, or those of the trigger that is edited if they were not changed.

    It has no name of its own while it has its component's, which pages show in the reader's language.
    """
    trigger, data = form.trigger, form.data
    emit = data.get(field_name(f"{DEPLOY}emit", DEPLOY_PART))
    return DeployForm(
        name=_text(data, "name", trigger.name if trigger and trigger.name != form.component.name else ""),
        url=_text(data, "url", ""),
        emit=emit[-1] == "true" if emit else (trigger.emit_on_deploy if trigger else True),
    )


def redeployment_body(form: ComponentForm, configured: Mapping[str, Any], deployment: DeployForm) -> dict[str, Any]:
    """The body that redeploys the trigger that is edited: emptied values are removed, unchanged secrets are kept."""
    before = form.trigger.configured if form.trigger else {}
    props = {prop.name: None for prop in form.visible_props if not prop.secret and before.get(prop.name) is not None}
    body: dict[str, Any] = {"configured_props": props | dict(configured), "emit_on_deploy": deployment.emit}
    body["name"] = deployment.name or form.component.name
    return body | ({"dynamic_props_id": form.dynamic.id} if form.dynamic.id else {})


def _text(data: FormData, name: str, default: str) -> str:
    texts = data.get(field_name(f"{DEPLOY}{name}", DEPLOY_PART))
    return texts[0].strip() if texts else default


def from_draft(kind: Kind, slug: str, key: str) -> ComponentForm:
    """The form with the draft's values."""
    form = replace(_loaded(kind, slug, key), overview=known_accounts(fresh=True))
    if form.trigger and not form.saved_at:
        form = form.filled(form.trigger.configured)
    return replace(form, data=_with_defaults(form))


def from_request(kind: Kind, slug: str, key: str) -> ComponentForm:
    """The form with the values of the request. Fields that were not on the page keep the draft's values."""
    form = _loaded(kind, slug, key)
    shown = set(request.form.getlist(SHOWN))
    data = {name: texts for name, texts in form.data.items() if name.partition(".")[2] not in shown}
    data |= prop_values.sent(request.form.lists())
    return _with_uploads(replace(form, data=data, overview=known_accounts()))


def uploaded(sent: FileStorage) -> Option:
    """The file ``sent`` as the value of a prop, once the stash has it. Raises :class:`PatchbayError`."""
    content = sent.stream.read(body_limits.FILE + 1)
    if not content:
        raise Invalid(gettext("“{name}” is empty.").format(name=sent.filename))
    if len(content) > body_limits.FILE:
        raise TooLarge(gettext("“{name}” is larger than 10 MiB. Choose a smaller file.").format(name=sent.filename))
    file = components().upload(sent.filename or "", content)
    if file is None:
        raise Invalid(gettext("This service takes no files. Give an address instead."))
    return Option(f"{file.name} · {size(file.size)}", file.key)


def _with_uploads(form: ComponentForm) -> ComponentForm:
    """``form`` with the files that came with the request itself, as they do without JavaScript."""
    refused = {}
    for prop in form.visible_props:
        for sent in request.files.getlist(f"file.{prop.name}"):
            if not sent.filename or control(prop) != "file":
                continue
            try:
                form = replace(form, data=prop_values.with_file(prop, form.data, uploaded(sent)))
            except (Invalid, TooLarge) as error:
                refused[prop.name] = error.message
    return replace(form, refused_files=refused)


def sent_first_time() -> bool:
    """Whether the page's form is sent for the first time, by its token ``once``."""
    board, once = dashboard(), request.form.get("once", "")[:100] or secrets.token_urlsafe(16)
    return drafts.claim_run(board.store, board.clock, viewer().owner, once)


def _loaded(kind: Kind, slug: str, key: str) -> ComponentForm:
    """The form with the app, its component and the draft, but without accounts."""
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
    """The form's values, with defaults for an empty draft, and an account if none of the person's is selected."""
    data = dict(form.data)
    for prop in form.props:
        if control(prop) == "account":
            own = [account.id for account in form.accounts(prop)]
            if prop_values.first(data, VALUE, prop) not in own:
                data[field_name(prop.name)] = own[:1]
        elif not form.saved_at and not form.trigger:
            data |= prop_values.started(prop)
    return data
