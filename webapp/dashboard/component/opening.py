"""Opens a component's form: as its person left it, or as a browser sent it. 404 where app and component do not match.

``?trigger=`` in the address names a deployed trigger that the form edits.
"""

import secrets
from dataclasses import replace

from flask import request
from werkzeug.exceptions import NotFound as NoPage

from webapp.dashboard.client.models.components import Kind
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.component import drafts, form_data, values
from webapp.dashboard.component.form import ComponentForm
from webapp.dashboard.component.form_data import control
from webapp.dashboard.dashboard import dashboard, known_accounts, known_app, known_component, triggers, viewer


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
    data |= form_data.sent(request.form.lists())
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
            if form_data.first(data, "p", prop) not in own:
                data[f"p.{prop.name}"] = own[:1]
        elif not form.saved_at and not form.trigger:
            data |= values.started(prop)
    return data
