"""The triggers that get events of an OAuth app (table ``event_listeners``): those with a prop
``$.interface.apphook``.

A trigger that is switched on asks its account's provider for the provider's own id of the account, by which events find
the trigger. If an account has several ids, such as one for each installation that it may see, they are asked for again
every six hours. No trigger needs an address and a secret of its own.

A trigger that polls is listed too, where that is possible, if it names events that let it poll at once. One whose app
has one URL for all pushes to a client is listed by the id of its subscription instead (:func:`listen_to_hook`): a
notification of that subscription lets it poll.

A trigger gets an event only if its account may see it, by the event itself or by a request to the provider with the
account's credential. What a piece's trigger listens to is decided by its code when it is switched on.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from webapp.errors import Invalid, NotFound, PatchbayError
from webapp.kit.clock import HOUR
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import Request, SeenBy
from webapp.service.domain.accounts import accounts, credentials, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants, prop_values
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.outbound import probe
from webapp.service.outbound.bodies import at_path
from webapp.service.outbound.probe import RefusalRules
from webapp.service.outbound.templates import TemplateError, fill
from webapp.store.contract import Reader, Tx

TYPE = "$.interface.apphook"
ASKED_EVERY = 6 * HOUR
AT_ONCE = 50
log = logging.getLogger(__name__)
_NO_IDENTIFIER = "The app did not say which account these events belong to. Reconnect the account, then try again."


@dataclass(frozen=True, slots=True)
class EventListener:
    """A trigger that receives an OAuth client's events. ``person`` is the account's user id at the provider; an empty
    ``event_names`` means all events.
    """

    trigger_id: str
    account_id: str
    person: str
    event_names: tuple[str, ...]

    def receives(self, name: str) -> bool:
        """Whether it receives events called ``name``."""
        return not self.event_names or name in self.event_names


@dataclass(frozen=True, slots=True)
class PieceListener:
    """The names of events to receive for the account that the piece calls ``identifier``, which is empty if unknown."""

    events: tuple[str, ...]
    identifier: str


def listen(
    service: Service,
    trigger: DeployedTrigger,
    configured: Mapping[str, Any],
    listeners: Sequence[PieceListener] | None = None,
) -> None:
    """Let ``trigger`` receive events of the account in ``configured`` from now on.

    The names of events come from the trigger's declaration, or from ``listeners`` if a piece names them. A piece gives
    identifiers only for an app that it added.

    Raises :class:`Invalid`, :class:`NotFound` or :class:`account_grants.AccountUnusable` if it cannot.
    """
    prop = next((prop for prop in trigger.props if prop["type"] == TYPE), None)
    if prop is None:
        return  # it does not receive events of its app
    values = prop_values.checked(trigger.props, configured, whole=True)
    chosen = account_grants.find_accounts(service, trigger.scene, trigger.external_id, trigger.props, values.accounts)
    account = chosen.get(prop["appProp"])
    if account is None:
        raise Invalid("Choose the account whose events this trigger receives.")
    app = accounts.app_of(service, account)
    if trigger.polls_at_events:
        _listen_if_possible(service, trigger, app, account, prop)
        return
    _check_ready(service, app, account)
    names = tuple(prop.get("eventNames") or ()) if listeners is None else listener_names(listeners)
    listener, asked_at = EventListener(trigger.id, account.id, "", names), None
    if app.spec.events is None:
        by_identifier = listener_names_by_identifier(listeners or ())
        by_key = {key: replace(listener, event_names=events) for key, events in by_identifier.items()}
    else:
        answer = _answer(service, app, account_grants.fresh(service, account))
        listener = replace(listener, person=_person(app, answer))
        by_key = dict.fromkeys(_keys(app, answer), listener)
        asked_at = service.clock() if _changes(app) else None
    with service.store.write() as tx:
        if deployed_triggers.find(tx, trigger.id) is None:
            raise NotFound("This trigger was deleted meanwhile.")
        _replace(tx, trigger.id, by_key, asked_at)


def _listen_if_possible(
    service: Service, trigger: DeployedTrigger, app: App, account: Account, prop: Mapping[str, Any]
) -> None:
    """Let ``trigger`` poll at events about ``account`` from now on, if its app sends any about such an account.

    The client's secret for events may be entered later.
    """
    by_key, asked_at = dict[str, EventListener](), None
    if app.spec.events is not None and account.oauth_app_id is not None:
        listener = EventListener(trigger.id, account.id, "", tuple(prop.get("eventNames") or ()))
        try:
            by_key = dict.fromkeys(_keys(app, _answer(service, app, account_grants.fresh(service, account))), listener)
            asked_at = service.clock() if _changes(app) else None
        except Invalid as error:
            log.warning("%s only polls at its times: %s", trigger.id, error.message)
    with service.store.write() as tx:
        if deployed_triggers.find(tx, trigger.id) is not None:
            _replace(tx, trigger.id, by_key, asked_at)


def listen_to_hook(tx: Tx, trigger_id: str, account_id: str, hook: Any) -> None:
    """Let the trigger poll when its app notifies the account's client of the subscription ``hook``; None ends that."""
    listener = EventListener(trigger_id, account_id, "", ())
    _replace(tx, trigger_id, {hook_key(hook): listener} if hook is not None else {}, None)


def hook_key(hook: Any) -> str:
    """The key of the subscription ``hook`` among the provider's ids of accounts."""
    return f"hook:{hook}"


def shares_hook(reader: Reader, trigger_id: str) -> bool:
    """Whether another trigger that is on is notified of the same subscription of the same client."""
    row = reader.one(
        "SELECT 1 FROM event_listeners own JOIN accounts ON accounts.id = own.account_id "
        "JOIN event_listeners other ON other.account_key = own.account_key AND other.trigger_id <> own.trigger_id "
        "JOIN accounts theirs ON theirs.id = other.account_id AND theirs.oauth_app_id = accounts.oauth_app_id "
        "JOIN deployed_triggers ON deployed_triggers.id = other.trigger_id AND deployed_triggers.active = 1 "
        "WHERE own.trigger_id = :id AND substr(own.account_key, 1, 5) = :hook LIMIT 1",
        {"id": trigger_id, "hook": hook_key("")},
    )
    return row is not None


def of_event(reader: Reader, oauth_app_id: str, account_keys: frozenset[str], name: str) -> list[EventListener]:
    """The listeners for an event called ``name`` about one of ``account_keys``, whose accounts use the client
    ``oauth_app_id``.
    """
    by_trigger: dict[str, EventListener] = {}
    for key in sorted(account_keys):
        rows = reader.all(
            "SELECT event_listeners.* FROM event_listeners JOIN accounts ON accounts.id = account_id "
            "WHERE account_key = :key AND accounts.oauth_app_id = :client ORDER BY trigger_id",
            {"client": oauth_app_id, "key": key},
        )
        by_trigger |= {row["trigger_id"]: _read(row) for row in rows}
    return [listener for listener in by_trigger.values() if listener.receives(name)]


def of_trigger(reader: Reader, trigger_id: str) -> EventListener | None:
    """How the trigger gets events; None if it gets none."""
    row = reader.one("SELECT * FROM event_listeners WHERE trigger_id = :id LIMIT 1", {"id": trigger_id})
    return _read(row) if row else None


def renew(service: Service) -> int:
    """Look up again whose events each trigger receives, where that can change; return the number of triggers."""
    now = service.clock()
    rows = service.store.all(
        "SELECT DISTINCT trigger_id, account_id, person, event_names, asked_at FROM event_listeners "
        "WHERE asked_at NOT BETWEEN :limit AND :now ORDER BY trigger_id LIMIT :most",
        {"limit": now - ASKED_EVERY, "now": now, "most": AT_ONCE},
    )
    for row in rows:
        listener, keys = _read(row), list[str]()
        try:
            trigger = deployed_triggers.find(service.store, listener.trigger_id)
            if trigger is not None:
                account = accounts.get(service.store, trigger.scene, listener.account_id)
                app = accounts.app_of(service, account)
                keys = _keys(app, _answer(service, app, account_grants.fresh(service, account)))
        except PatchbayError as error:  # such as a provider that is down: what is known is used until the next time
            log.info("The provider could not be asked whose events %s receives: %s", listener.trigger_id, error.message)
        with service.store.write() as tx:
            params = {"now": service.clock(), "id": listener.trigger_id, "before": row["asked_at"]}
            sql = "UPDATE event_listeners SET asked_at = :now WHERE trigger_id = :id AND asked_at = :before"
            if tx.run(sql, params) and keys:  # else it was replaced meanwhile, such as for another account
                _replace(tx, listener.trigger_id, dict.fromkeys(keys, listener), params["now"])
    return len(rows)


def _check_ready(service: Service, app: App, account: Account) -> None:
    if app.spec.event_webhook is None:
        raise Invalid(f"{app.name} sends no events.")
    if account.oauth_app_id is None:
        raise Invalid(f"{app.name} sends no events about this kind of account. Connect an account by signing in.")
    if oauth_apps.get(service.store, account.oauth_app_id).events_sealed is None:
        raise Invalid(f"The events of {app.name} are not set up yet. Ask whoever runs this service.")


def _answer(service: Service, app: App, account: Account) -> Any:
    """The provider's answer to the question whose events ``account`` gets. Raises :class:`Invalid`."""
    declared = app.spec.events.account.request if app.spec.events else None
    request = app.request_for(declared) if declared else app.identity_request
    if request is None:
        return None
    values = credentials.read(service, account)
    outcome = probe.probe(service.client_for(app), request, values, app.refusal_rules)
    if outcome.kind != "ok":
        raise Invalid(f"{app.name} did not identify the account. {outcome.sentence}")
    return outcome.body


def _keys(app: App, answer: Any) -> list[str]:
    """The provider's ids of the account. Raises :class:`Invalid` if there are none."""
    keys = app.spec.events.account.keys_in(answer) if app.spec.events else []
    if not keys and _changes(app):
        raise Invalid(f"{app.name} is not installed anywhere that this account can see. Install it, then try again.")
    if not keys:
        raise Invalid(f"{app.name} did not identify the account. Try again in a few minutes.")
    return keys


def _person(app: App, answer: Any) -> str:
    path = app.spec.events.seen_by.of if app.spec.events else ""
    person = at_path(answer, path) if path else None
    return "" if person is None else str(person)


def _changes(app: App) -> bool:
    return app.spec.events is not None and app.spec.events.account.request is not None


def _replace(tx: Tx, trigger_id: str, by_key: Mapping[str, EventListener], asked_at: int | None) -> None:
    """Replace the listeners of the trigger by these, each under the provider's id of an account."""
    tx.run("DELETE FROM event_listeners WHERE trigger_id = :id", {"id": trigger_id})
    for key, listener in by_key.items():
        tx.run(
            "INSERT INTO event_listeners (trigger_id, account_key, account_id, person, event_names, asked_at) "
            "VALUES (:trigger, :key, :account, :person, :names, :asked)",
            {
                "trigger": trigger_id,
                "key": key,
                "account": listener.account_id,
                "person": listener.person,
                "names": orjson.dumps(listener.event_names).decode(),
                "asked": asked_at,
            },
        )


def _read(row: Mapping[str, Any]) -> EventListener:
    return EventListener(
        trigger_id=row["trigger_id"],
        account_id=row["account_id"],
        person=row["person"],
        event_names=tuple(orjson.loads(row["event_names"])),
    )


def account_sees(service: Service, trigger: DeployedTrigger, request: Mapping[str, Any]) -> bool | None:
    """Whether the account of ``trigger`` may see the event in ``request``; None while that is unknown."""
    listener = of_trigger(service.store, trigger.id)
    if listener is None:
        return False
    try:
        account = accounts.get(service.store, trigger.scene, listener.account_id)
    except NotFound:
        return False  # it was disconnected
    if account.dead:
        return True  # the event waits until the person reconnects, and is checked again then
    app, event = accounts.find_app(service, account), request.get("body")
    if app is None:
        return None
    facts = app.spec.events
    if facts is None:
        return app.spec.piece_events is not None  # the piece named the account when it began to listen
    if _names_person(facts.seen_by, listener.person, event):
        return True
    if facts.seen_by.request is None:
        return False
    return _provider_shows(service, app, account, facts.seen_by, facts.seen_by.request, event)


def _provider_shows(
    service: Service, app: App, account: Account, seen_by: SeenBy, question: Request, event: Any
) -> bool | None:
    """Whether the provider shows the event to ``account`` when the account itself asks; None without an answer."""
    try:
        values = credentials.read(service, account_grants.fresh(service, account))
    except PatchbayError:
        return None
    of_event = {name: at_path(event, path) for name, path in seen_by.event.items()}
    fields = values | {name: str(value) for name, value in of_event.items() if isinstance(value, str | int)}
    try:
        request_spec = app.request_for(question)
        request = replace(request_spec, json=_filled(request_spec.json, fields))
    except TemplateError:
        return False
    outcome = probe.probe(service.client_for(app), request, fields, _rules(app.refusal_rules, seen_by))
    if outcome.kind == "ok" and seen_by.shown:
        return at_path(outcome.body, seen_by.shown) is not None
    return {"ok": True, "refused": False, "trouble": None}[outcome.kind]


def _names_person(seen_by: SeenBy, person: str, event: Any) -> bool:
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
    """The rules for a refusal: a status such as 404, or a code of the provider."""
    body = rules.body
    hidden = replace(body, refused=(*body.refused, *seen_by.hidden)) if body else None
    return RefusalRules((*rules.statuses, 403, 404), hidden)


def listeners_of(value: Any) -> list[PieceListener]:
    """The listeners in the value that a piece's ``activate`` returned."""
    listed = value.get("listeners") if isinstance(value, dict) else None
    return [
        PieceListener(tuple(map(str, each["events"])), str(each.get("identifier") or ""))
        for each in (listed if isinstance(listed, list) else [])
    ]


def listener_names(listeners: Sequence[PieceListener]) -> tuple[str, ...]:
    """The names of all their events, each once. Raises :class:`Invalid` where there are none."""
    if names := tuple({name: None for listener in listeners for name in listener.events}):
        return names
    raise Invalid(_NO_IDENTIFIER)


def listener_names_by_identifier(listeners: Sequence[PieceListener]) -> dict[str, tuple[str, ...]]:
    """The names of the events of each identifier. Raises :class:`Invalid` if there is none."""
    by_identifier = dict[str, tuple[str, ...]]()
    for listener in listeners:
        if listener.identifier:
            by_identifier[listener.identifier] = (*by_identifier.get(listener.identifier, ()), *listener.events)
    if not by_identifier:
        raise Invalid(_NO_IDENTIFIER)
    return by_identifier
