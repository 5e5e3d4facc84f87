"""Whether an account may see an event that came to the one address of its OAuth client: as the event says, or as its
provider says when the account itself asks. What it may not see, its trigger never gets.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from webapp.errors import NotFound, PatchbayError
from webapp.service.catalog.spec import SeenBy
from webapp.service.domain.accounts import accounts, credentials
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants
from webapp.service.domain.triggers import app_hooks
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.outbound import probe
from webapp.service.outbound.outcomes import at_path
from webapp.service.outbound.probe import RefusalRules
from webapp.service.outbound.templates import TemplateError, fill


def sees(service: Service, trigger: DeployedTrigger, request: Mapping[str, Any]) -> bool | None:
    """Whether the account of ``trigger`` may see the event in ``request``; None while that cannot be told."""
    hook = app_hooks.of_trigger(service.store, trigger.id)
    if hook is None:
        return False
    try:
        account = accounts.get(service.store, trigger.scene, hook.account_id)
    except NotFound:
        return False  # nobody is left who may
    if account.dead:
        return True  # it waits for its person, and is asked again after that
    app, event = service.catalog.app(account.app), request.get("body")
    if app is None:
        return None
    facts = app.spec.events
    if facts is None:
        return app.spec.piece_events is not None  # the piece has listened with that account, and said whose event it is
    if _told_to(facts.seen_by, hook.person, event):
        return True
    if facts.seen_by.request is None:
        return False
    try:
        values = credentials.read(service, grants.fresh(service, account))
    except PatchbayError:
        return None
    told = {name: at_path(event, path) for name, path in facts.seen_by.event.items()}
    fields = values | {name: str(value) for name, value in told.items() if isinstance(value, str | int)}
    try:
        request_spec = app.request_for(facts.seen_by.request)
        sight = replace(request_spec, json=_filled(request_spec.json, fields))
    except TemplateError:
        return False
    outcome = probe.probe(service.client_for(app), sight, fields, _rules(app.refusal_rules, facts.seen_by))
    if outcome.kind == "ok" and facts.seen_by.shown:
        return at_path(outcome.body, facts.seen_by.shown) is not None
    return {"ok": True, "refused": False, "trouble": None}[outcome.kind]


def _told_to(seen_by: SeenBy, person: str, event: Any) -> bool:
    """Whether the event itself says that ``person`` may see it."""
    if seen_by.everyone:
        return True
    listed = at_path(event, seen_by.users) if seen_by.users else None
    people = [at_path(user, seen_by.user) for user in (listed if isinstance(listed, list) else [listed])]
    if person and person in [str(user) for user in people if isinstance(user, str | int)]:
        return True
    return bool(seen_by.public) and all(at_path(event, each.path) == each.equals for each in seen_by.public)


def _filled(template: Any, fields: Mapping[str, str]) -> Any:
    """The JSON ``template`` with its texts filled. Raises :class:`TemplateError` where the event lacks one."""
    if isinstance(template, Mapping):
        return {name: _filled(value, fields) for name, value in template.items()}
    return fill(template, fields) if isinstance(template, str) else template


def _rules(rules: RefusalRules, seen_by: SeenBy) -> RefusalRules:
    """What refuses sight: a status such as 404, or a code of the provider's own."""
    body = rules.body
    hidden = replace(body, refused=(*body.refused, *seen_by.hidden)) if body else None
    return RefusalRules((*rules.statuses, 403, 404), hidden)
