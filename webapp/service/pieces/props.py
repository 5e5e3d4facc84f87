"""The props of a part of a piece as those of a component: their names on the wire, and what the others follow from."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from webapp.service.components.pieces import texts
from webapp.service.components.pieces.form import PropForm
from webapp.service.components.pieces.prop_mapping import mapped
from webapp.service.pieces.metadata import Part

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_ACCOUNT = "auth"  # among the refreshers, the account


@dataclass(frozen=True, slots=True)
class Props:
    """What a component asks for: ``listed`` as the wire has it, and by its names what each is in the piece.

    ``reloads``: some of it follows from the rest. ``reason`` says why the part cannot be called; empty for one that
    can. ``dropped`` are labels of what it does not need and cannot be asked for.
    """

    listed: tuple[dict[str, Any], ...]
    forms: Mapping[str, PropForm]
    reloads: bool
    dropped: tuple[str, ...] = ()
    reason: str = ""


def props(part: Part, account: dict[str, Any] | None, reserved: Collection[str] = ()) -> Props:
    """The props of ``part``, behind the app prop ``account`` where it has one; ``reserved`` names are others'."""
    names = wire_names(part.props, {*reserved, *([account["name"]] if account else ())})
    listed = [dict(account)] if account else []
    forms: dict[str, PropForm] = {}
    dropped = list[str]()
    for own, described in part.props.items():
        wire = names[own]
        if not isinstance(described, Mapping):
            dropped.append(texts.label(own))
        elif described.get("type") == "DYNAMIC":
            forms[wire] = PropForm(name=own, kind="dynamic")
        elif (prop := mapped(wire, described)) is not None:
            listed.append(prop.prop)
            if prop.prop["type"] != "alert":
                forms[wire] = PropForm(name=own, kind=prop.kind, members=prop.members)
        elif described.get("type") == "MARKDOWN":  # which says nothing here
            continue
        elif described.get("required") is True:
            reason = f"It needs {_label(own, described)}, a kind of field that is not known here."
            return Props((), {}, reloads=False, reason=reason)
        else:
            dropped.append(_label(own, described))
    reloads = any(form.kind == "dynamic" for form in forms.values())
    if reloads:
        _mark_reloading(listed, part, names)
    return Props(tuple(listed), forms, reloads, tuple(dropped))


def _label(own: str, described: Mapping[str, Any]) -> str:
    return texts.line(described.get("displayName"), 100) or texts.label(own)


def account_prop(slug: str, part: Part) -> dict[str, Any]:
    """The app prop of a part that works with an account of ``slug``."""
    name = slug if slug not in part.props else f"{slug}_account"
    return {"name": name, "type": "app", "app": slug}


def wire_names(own: Collection[str], reserved: Collection[str]) -> dict[str, str]:
    """A name that every client takes for each of the piece's ``own``: the same where it is one."""
    names = {name: name for name in own if NAME.fullmatch(name) and name not in reserved}
    for name in own:
        if name in names:
            continue
        text = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")[:90]
        text = text if text[:1].isalpha() else f"p_{text}".rstrip("_")
        number, candidate = 1, text
        while candidate in names.values() or candidate in reserved:
            number += 1
            candidate = f"{text}_{number}"
        names[name] = candidate
    return {name: names[name] for name in own}


def _mark_reloading(listed: list[dict[str, Any]], part: Part, names: Mapping[str, str]) -> None:
    """Say of the props on which dynamic ones depend that the others follow from them."""
    dynamic = [each for each in part.props.values() if isinstance(each, Mapping) and each.get("type") == "DYNAMIC"]
    on = {str(name) for each in dynamic for name in _refreshers(each)}
    alone = any(not _refreshers(each) for each in dynamic)
    wanted = {names[name] for name in on if name in names}
    asked_for = [prop for prop in listed if prop["type"] != "alert"]
    if asked_for and (_ACCOUNT in on or alone or not wanted):
        wanted.add(asked_for[0]["name"])
    for prop in asked_for:
        if prop["name"] in wanted:
            prop["reloadProps"] = True


def _refreshers(described: Mapping[str, Any]) -> list[Any]:
    refreshers = described.get("refreshers")
    return refreshers if isinstance(refreshers, list) else []
