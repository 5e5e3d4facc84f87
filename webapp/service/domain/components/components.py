"""Finding a component and calling its methods for an external user: configure, reload, run (contract "Components").

Everything is checked before anything runs: the values against the declaration, the accounts against their owner.
What goes wrong in the component itself, or with an account, is part of the answer, never an exception.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from webapp.errors import Detail, Invalid, NotFound
from webapp.service.catalog.components import ComponentInfo, Kind
from webapp.service.components.calls import CONFIGURE_S, RUN_S, Call, Observation, Reply
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import (
    dynamic_props,
    grants,
    option_lists,
    prop_values,
    run_files,
    runs,
)
from webapp.service.domain.components.grants import AccountUnusable
from webapp.service.domain.components.prop_values import Values
from webapp.service.domain.projects.projects import Scene

Prop = Mapping[str, Any]
MAX_WARNINGS = 20
_MAX_SHOWN = 100  # characters of a name


@dataclass(frozen=True, slots=True)
class ComponentRequest:
    """What a caller asks of a component, for ``external_id``, with the values given so far.

    ``stash_id`` names the stash that keeps the files of a run; without one they are gone with it.
    """

    scene: Scene
    external_id: str
    component: ComponentInfo
    given: Mapping[str, Any] = field(repr=False)
    dynamic_props_id: str | None = None
    stash_id: str | None = None


@dataclass(frozen=True, slots=True)
class OptionsQuery:
    """Which options are asked for; ``page`` counts from 0, ``previous`` is the context of the page before."""

    prop: str
    page: int = 0
    query: str | None = None
    previous: Mapping[str, Any] = field(default_factory=dict)


def find(service: Service, key_or_id: str, version: str | None, kind: Kind | None = None) -> ComponentInfo:
    """The component by key or ``sc_…``: exactly ``version``, or the highest release. Raises :class:`NotFound`."""
    component = service.catalog.component(key_or_id, version)
    if component is None or kind not in (None, component.kind):
        noun = kind or "component"
        in_version = f" in version {version}" if version is not None else ""
        raise NotFound(f"There is no such {noun}{in_version}; look its key up in the list of {noun}s.")
    return component


def configure(service: Service, request: ComponentRequest, lookup: OptionsQuery) -> dict[str, Any]:
    """One page of the options of a prop (contract "Configure"). Raises :class:`Invalid`, :class:`NotFound`."""
    props = _props(service, request, needed=_asks_for_dynamic(request, lookup.prop))
    return {**_options(service, request, lookup, props), **_warned(request, props)}


def reload(service: Service, request: ComponentRequest) -> dict[str, Any]:
    """The props that follow from the values so far, kept under a new id (contract "Reload")."""
    props = _props(service, request, needed=False)
    values = prop_values.checked(props, request.given, whole=False)
    if not request.component.has_reload:
        return {**_reloaded(service, request, request.component.props, Reply(None)), **_warned(request, props)}
    reply = _call(service, request, props, values, "reload")
    if reply.error is not None:
        return {**option_lists.problems(reply), "dynamicProps": None}
    warned = _warned(request, [*props, *reply.value], all_known=True)
    return {**_reloaded(service, request, reply.value, reply), **warned}


def run(service: Service, request: ComponentRequest) -> dict[str, Any]:
    """Run an action, and keep the run (contract "Run"). Raises :class:`Invalid`, :class:`NotFound`."""
    props = props_to_fill(service, request)
    values = prop_values.checked(props, request.given, whole=True)
    started_at = service.clock()
    reply = _call(service, request, props, values, "run")
    reply, uploads = run_files.kept(service, request.scene, request.external_id, request.stash_id, reply)
    warned = _warned(request, props)
    noted = [Observation("warning", started_at, warning["message"]) for warning in warned.get("warnings", ())]
    outputs = {
        "exports": dict(reply.exports),
        "os": [line.to_json() for line in (*noted, *reply.observations)],
        "ret": reply.value if reply.error is None else None,
    }
    summary = reply.exports.get("$summary")
    done = runs.Run(
        external_id=request.external_id,
        component_id=request.component.id,
        component_key=request.component.key,
        component_version=request.component.version,
        app=request.component.app,
        started_at=started_at,
        took_ms=reply.took_ms,
        ok=reply.error is None,
        summary=summary if isinstance(summary, str) else None,
        error=reply.error.message if reply.error else None,
    )
    kept, masked = prop_values.without_secrets(props, request.given)
    inputs = {"configured_props": kept, "masked_props": masked, "dynamic_props_id": request.dynamic_props_id}
    secrets = prop_values.secrets_in(props, values.props)
    runs.keep(service, request.scene, done, inputs=inputs, outputs=outputs, secrets=secrets)
    if request.stash_id is None:
        return {**outputs, **warned}
    exports = {**reply.exports, run_files.EXPORT: uploads}
    return {**outputs, **warned, "exports": exports, "stash_id": request.stash_id}


def props_to_fill(service: Service, request: ComponentRequest) -> list[dict[str, Any]]:
    """The props that a whole set of values must fit: the reloaded ones where there are any.

    Raises :class:`Invalid` where only a reload can tell them, :class:`NotFound` for an unknown ``dynamic_props_id``.
    """
    return _props(service, request, needed=_must_be_reloaded(request))


def warnings(props: Sequence[Prop], given: Mapping[str, Any]) -> list[dict[str, str]]:
    """A warning about each name in ``given`` that is none of ``props`` (contract "Values"): misspelt, it would vanish
    without a word."""
    names, noted = [prop["name"] for prop in props], list[dict[str, str]]()
    for name in _unknown(props, given)[:MAX_WARNINGS]:
        shown = name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"
        close = difflib.get_close_matches(shown, names, n=1)
        guess = f" Did you mean {close[0]}?" if close else ""
        sentence = f"There is no prop {shown} here, so its value was left out.{guess}"
        noted.append({"field": f"{prop_values.FIELD}.{shown}", "message": sentence})
    return noted


def _options(
    service: Service, request: ComponentRequest, lookup: OptionsQuery, props: list[dict[str, Any]]
) -> dict[str, Any]:
    prop = next((prop for prop in props if prop["name"] == lookup.prop), None)
    if prop is None:
        raise _wrong("prop_name", f"{request.component.name} has no prop of that name.")
    others = [other for other in props if other["name"] != lookup.prop]
    values = prop_values.checked(others, request.given, whole=False)
    if not (prop.get("remoteOptions") or prop["type"] == "sql"):
        if prop.get("options") is None:
            raise _wrong("prop_name", "That prop has no options to look up; ask the person for its value.")
        return option_lists.static(prop, lookup.query)
    account_prop = option_lists.account_prop(props, prop)
    if account_prop is not None and option_lists.is_postgres(service, account_prop):
        return _database(service, request, account_prop, values)
    reply = _call(service, request, props, values, "options", lookup)
    return option_lists.answer(prop, reply)


def _props(service: Service, request: ComponentRequest, *, needed: bool) -> list[dict[str, Any]]:
    """The props that count: the reloaded ones where an id names them. ``needed``: this call cannot do without."""
    if request.dynamic_props_id is not None:
        return dynamic_props.get(
            service, request.scene, request.external_id, request.component.id, request.dynamic_props_id
        )
    if needed:
        sentence = "This component's props depend on the values; reload its props and send the dynamic_props_id."
        raise _wrong("dynamic_props_id", sentence)
    return request.component.props


def _warned(request: ComponentRequest, props: Sequence[Prop], *, all_known: bool = False) -> dict[str, Any]:
    """Warnings about values for props that do not exist, where there are any (contract "Values").

    What a component has that reloads its props can be told only with the reloaded ones.
    """
    if request.component.has_reload and request.dynamic_props_id is None and not all_known:
        return {}
    noted = warnings([*request.component.props, *props], request.given)
    return {"warnings": noted} if noted else {}


def _asks_for_dynamic(request: ComponentRequest, prop: str) -> bool:
    """Whether a look-up is about a prop that only a reload can have given."""
    return request.component.has_reload and all(declared["name"] != prop for declared in request.component.props)


def _must_be_reloaded(request: ComponentRequest) -> bool:
    """Whether what to ask for depends on the values: then a run without the reloaded props would miss some."""
    if not request.component.has_reload:
        return False
    props = request.component.props
    deciding = [prop for prop in props if prop.get("reloadProps") and request.given.get(prop["name"]) is not None]
    return bool(deciding or _unknown(props, request.given))


def _unknown(props: Sequence[Prop], given: Mapping[str, Any]) -> list[str]:
    """The names in ``given`` that have a value but are no props."""
    known = {prop["name"] for prop in props}
    return [name for name, value in given.items() if name not in known and value is not None]


def _call(
    service: Service,
    request: ComponentRequest,
    props: list[dict[str, Any]],
    values: Values,
    method: Literal["options", "reload", "run"],
    lookup: OptionsQuery | None = None,
) -> Reply:
    """Let the runner call the component; an account that cannot be used is a failed reply too."""
    component = request.component
    accounts = grants.find_accounts(service, request.scene, request.external_id, props, values.accounts)
    return grants.call(
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
            files=run_files.given(service, request.scene, request.external_id, request.stash_id),
            stash=request.stash_id is not None,
        ),
        accounts,
        component.app,
    )


def _database(service: Service, request: ComponentRequest, account_prop: Prop, values: Values) -> dict[str, Any]:
    """The tables of the account's database, for whoever writes SQL (contract "Configure")."""
    accounts = grants.find_accounts(service, request.scene, request.external_id, [account_prop], values.accounts)
    account = accounts.get(account_prop["name"])
    if account is None:
        raise _wrong(f"{prop_values.FIELD}.{account_prop['name']}", "It is missing; choose a connected account.")
    try:
        tables = option_lists.tables(service, account)
    except AccountUnusable as error:
        return option_lists.failed(grants.failed(service, error.message))
    return {"options": None, "stringOptions": None, "observations": [], "context": {"dbInfo": tables}, "errors": []}


def _reloaded(service: Service, request: ComponentRequest, props: list[dict[str, Any]], reply: Reply) -> dict[str, Any]:
    valid, problems = dynamic_props.without_invalid(props)
    dynamic_props_id = dynamic_props.keep(service, request.scene, request.external_id, request.component.id, valid)
    answer = option_lists.problems(reply)
    return {
        "observations": answer["observations"],
        "errors": [*answer["errors"], *problems],
        "dynamicProps": {"id": dynamic_props_id, "configurableProps": valid},
    }


def _wrong(name: str, message: str) -> Invalid:
    return Invalid(f"{name.removeprefix(prop_values.FIELD + '.')} is not valid: {message}", [Detail(name, message)])
