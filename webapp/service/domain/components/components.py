"""Calls of a component's methods for an external user: configure, reload, run (contract "Components").

Everything is checked before anything runs: the values against the declaration, the accounts against their owner. An
error of the component, or of an account, is part of the answer and never an exception. Options (contract "Options")
come from the component or from its declaration; those of a ``sql`` prop are the tables of a database
(:mod:`webapp.service.domain.components.database_info`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from webapp.errors import Detail, Invalid, NotFound, about
from webapp.service.catalog import variants
from webapp.service.components.calls import Call, Observation, Reply
from webapp.service.components.limits import CONFIGURE_S, RUN_S
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import (
    account_grants,
    component_calls,
    component_requests,
    database_info,
    dynamic_props,
    held_tools,
    piece_stores,
    prop_values,
    prop_warnings,
    run_files,
    runs,
)
from webapp.service.domain.components.account_grants import AccountUnusable
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.prop_values import Values, option_value

Prop = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OptionsQuery:
    """Which options are asked for; ``page`` counts from 0, ``previous`` is the context of the page before."""

    prop: str
    page: int = 0
    query: str | None = None
    previous: Mapping[str, Any] = field(default_factory=dict)


def configure(service: Service, request: ComponentRequest, lookup: OptionsQuery) -> dict[str, Any]:
    """One page of the options of a prop (contract "Configure").

    What is wrong with values or accounts is an error of the answer. Raises :class:`Invalid` for an unknown prop,
    :class:`NotFound` for an unknown ``dynamic_props_id``.
    """
    props = component_requests.props(service, request, needed=component_requests.asks_for_dynamic(request, lookup.prop))
    prop = next((prop for prop in props if prop["name"] == lookup.prop), None)
    if prop is None:
        raise Invalid.of("prop_name", f"{request.component.name} has no prop of that name.")
    try:
        if not _has_options(prop):
            raise Invalid("That prop has no options to look up; ask the person for its value.")
        answer = _options(service, request, lookup, props, prop)
    except (Invalid, NotFound) as error:
        answer = {"options": None, "stringOptions": None, **_value_problems(error), "context": None}
    return {**answer, **prop_warnings.warned(request, props)}


def reload(service: Service, request: ComponentRequest) -> dict[str, Any]:
    """The props that follow from the values so far, stored under a new id (contract "Reload").

    What is wrong with values or accounts is an error of the answer. Raises :class:`NotFound` for an unknown
    ``dynamic_props_id``.
    """
    props = component_requests.props(service, request, needed=False)
    try:
        values = prop_values.checked(props, request.configured, whole=False)
        if not request.component.has_reload:
            return {
                **_reloaded(service, request, request.component.props, Reply(None)),
                **prop_warnings.warned(request, props),
            }
        reply = _call(service, request, props, values, "reload")
    except (Invalid, NotFound) as error:
        return {**_value_problems(error), "dynamicProps": None}
    if reply.error is not None:
        return {**_option_problems(reply), "dynamicProps": None}
    reloaded = variants.reloaded(reply.value, request.component.props)
    warned = prop_warnings.warned(request, [*props, *reloaded], all_known=True)
    return {**_reloaded(service, request, reloaded, reply), **warned}


def run(service: Service, request: ComponentRequest) -> dict[str, Any]:
    """Run an action, and keep the run (contract "Run"). Raises :class:`Invalid`, :class:`NotFound`."""
    props = component_requests.props_to_fill(service, request)
    values = prop_values.checked(props, request.configured, whole=True)
    accounts = _accounts(service, request, props, values)
    files = run_files.given(service, request, props, values.props)
    request, values = replace(request, configured=files.configured), replace(values, props=files.props)
    run = runs.Run(
        external_id=request.external_id,
        component_id=request.component.id,
        component_key=request.component.key,
        component_version=request.component.version,
        app=request.component.app,
        started_at=service.clock(),
        agent=request.agent,
    )
    kept, masked = prop_values.without_secrets(props, request.configured)
    inputs = {"configured_props": kept, "masked_props": masked, "dynamic_props_id": request.dynamic_props_id}
    runs.begin(service, request.scene, run, inputs)
    reply = _call(service, request, props, values, "run", accounts=accounts, files=files.contents)
    held_tools.note(service, request.component, reply)
    reply = piece_stores.kept(service, request, reply, run.id)
    reply, uploads = run_files.kept_files(service, request.scene, request.external_id, request.stash_id, reply)
    warned = prop_warnings.warned(request, props)
    noted = [Observation("warning", run.started_at, warning["message"]) for warning in warned.get("warnings", ())]
    outputs = {
        "exports": dict(reply.exports),
        "os": [line.to_json() for line in (*noted, *reply.observations)],
        "ret": reply.value if reply.error is None else None,
    }
    summary = reply.exports.get("$summary")
    ended = replace(
        run,
        took_ms=reply.took_ms,
        ok=reply.error is None,
        summary=summary if isinstance(summary, str) else None,
        error=reply.error.message if reply.error else None,
    )
    written = [{"name": upload["path"], "s3_key": upload["s3Key"]} for upload in uploads]
    secrets = prop_values.secrets_in(props, values.props)
    runs.end(service, request.scene, ended, outputs=outputs, files=written, secrets=secrets)
    if request.stash_id is None:
        return {**outputs, **warned}
    exports = {**reply.exports, run_files.EXPORT: uploads}
    return {**outputs, **warned, "exports": exports, "stash_id": request.stash_id}


def _options(
    service: Service, request: ComponentRequest, lookup: OptionsQuery, props: list[dict[str, Any]], prop: Prop
) -> dict[str, Any]:
    """The options of ``prop``. Raises :class:`Invalid` for values or accounts that do not fit, :class:`NotFound`."""
    others = [other for other in props if other["name"] != lookup.prop]
    values = prop_values.checked(others, request.configured, whole=False)
    if not _is_looked_up(prop):
        return static_options(prop, lookup.query)
    _check_accounts(props, prop, values)
    account_prop = database_info.account_prop(service, props, prop)
    if account_prop is not None:
        return _database_info(service, request, account_prop, values)
    reply = _call(service, request, props, values, "options", lookup)
    return options_answer(prop, reply)


def _has_options(prop: Prop) -> bool:
    return _is_looked_up(prop) or prop.get("options") is not None


def _is_looked_up(prop: Prop) -> bool:
    return bool(prop.get("remoteOptions")) or prop["type"] == "sql"


def _call(
    service: Service,
    request: ComponentRequest,
    props: list[dict[str, Any]],
    values: Values,
    method: Literal["options", "reload", "run"],
    lookup: OptionsQuery | None = None,
    accounts: Mapping[str, Account] | None = None,
    files: Mapping[str, str] | None = None,
) -> Reply:
    """Let the runner call the component; an account that cannot be used is a failed reply too."""
    component = request.component
    if accounts is None:
        accounts = _accounts(service, request, props, values)
    return component_calls.call(
        service,
        Call(
            path=str(component.path),
            key=component.key,
            version=component.version,
            method=method,
            props=values.props,
            labels=values.labels,
            prop=lookup.prop if lookup else None,
            page=lookup.page if lookup else 0,
            query=lookup.query if lookup else None,
            previous=lookup.previous if lookup else {},
            mask=tuple(prop_values.secrets_in(props, values.props)),
            deadline_s=RUN_S if method == "run" else CONFIGURE_S,
            state=piece_stores.values(service, request) if method == "run" else {},
            files=run_files.with_stash(service, request, files or {}),
            stash=request.stash_id is not None,
            user=component_calls.user_key(request.scene, request.external_id),
            careful=bool(request.agent) and not held_tools.is_noted(service.store, component.key),
        ),
        accounts,
        component.app,
    )


def _accounts(
    service: Service, request: ComponentRequest, props: Sequence[Prop], values: Values
) -> Mapping[str, Account]:
    """The accounts that were chosen, by their props. Raises :class:`Invalid` where one is not the user's."""
    return account_grants.find_accounts(service, request.scene, request.external_id, props, values.accounts)


def _database_info(service: Service, request: ComponentRequest, account_prop: Prop, values: Values) -> dict[str, Any]:
    """The answer with the tables of the account's database (contract "Configure")."""
    accounts = _accounts(service, request, [account_prop], values)
    account = accounts.get(account_prop["name"])
    if account is None:
        raise prop_values.refused([_missing_account(account_prop)])
    try:
        tables = database_info.tables(service, account)
    except AccountUnusable as error:
        return _failed_options(component_calls.failed(service, error.message))
    return {"options": None, "stringOptions": None, "observations": [], "context": {"dbInfo": tables}, "errors": []}


def _reloaded(service: Service, request: ComponentRequest, props: list[dict[str, Any]], reply: Reply) -> dict[str, Any]:
    valid, problems = dynamic_props.without_invalid(props)
    dynamic_props_id = dynamic_props.keep(service, request.scene, request.external_id, request.component.id, valid)
    answer = _option_problems(reply)
    return {
        "observations": answer["observations"],
        "errors": [*answer["errors"], *problems],
        "dynamicProps": {"id": dynamic_props_id, "configurableProps": valid},
    }


def _check_accounts(props: Sequence[Prop], prop: Prop, values: Values) -> None:
    """Raise :class:`Invalid` if an account before ``prop``, on which its options depend, was not chosen."""
    before = props[: props.index(prop)]
    needed = [other for other in before if other["type"] == "app" and prop_values.is_required(other)]
    if missing := [_missing_account(other) for other in needed if other["name"] not in values.accounts]:
        raise prop_values.refused(missing)


def _missing_account(prop: Prop) -> Detail:
    return Detail(f"{prop_values.FIELD}.{prop['name']}", prop_values.missing(prop))


def static_options(prop: Prop, query: str | None) -> dict[str, Any]:
    """The options of the declaration that match ``query``."""
    part_of_label = (query or "").strip().casefold()
    options = [option for option in map(_option, prop["options"]) if part_of_label in option["label"].casefold()]
    return {"options": options, "stringOptions": None, "observations": [], "context": None, "errors": []}


def options_answer(prop: Prop, reply: Reply) -> dict[str, Any]:
    """The answer with the options of a component."""
    if reply.error is not None:
        return _failed_options(reply)
    answer = reply.value
    options, texts = answer.get("options"), answer.get("string_options")
    return {
        "options": None if options is None else [_option(option) for option in options],
        "stringOptions": texts,
        **_option_problems(reply),
        "context": answer.get("context"),
    }


def _failed_options(reply: Reply) -> dict[str, Any]:
    """No options, and why."""
    return {"options": None, "stringOptions": None, **_option_problems(reply), "context": None}


def _value_problems(error: Invalid | NotFound) -> dict[str, Any]:
    """What is wrong with the values or accounts, a sentence for each, and an empty log."""
    details = error.details if isinstance(error, Invalid) else ()
    sentences = [about(detail.field.removeprefix(f"{prop_values.FIELD}."), detail.message) for detail in details]
    return {"observations": [], "errors": sentences or [error.message]}


def _option_problems(reply: Reply) -> dict[str, Any]:
    """The errors and the log."""
    return {
        "observations": [line.to_json() for line in reply.observations],
        "errors": [reply.error.message] if reply.error else [],
    }


def _option(option: Any) -> dict[str, Any]:
    """An option as an object with a label; a bare value is its own. Values are text, whole numbers or booleans."""
    value = option_value(option)
    inside = option.get("__lv", option) if isinstance(option, dict) else {}
    label = inside.get("label") if isinstance(inside, dict) else None
    if not isinstance(value, str | int):
        value = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return {"label": str(value if label is None else label), "value": value}
