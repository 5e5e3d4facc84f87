"""Asking the npm package that brought an app whether an account works: the package signs in with it in its own way.

It runs in a process of its own for each question, and reaches what its owner lets it now, and the server that the
account names. What it was refused is noted for the owner. A package that has no way to tell finds every account good.
"""

from collections.abc import Mapping
from typing import Literal

from webapp.kit.crypto import new_id
from webapp.kit.text import naming
from webapp.service.catalog.app import App
from webapp.service.components.calls import CONFIGURE_S
from webapp.service.components.pieces import auth_values
from webapp.service.components.pieces.package_calls import PackageCall
from webapp.service.domain.base import piece_reach
from webapp.service.domain.base.service import Service

Answer = tuple[Literal["ok", "refused", "trouble"], str]
_MOST = 300


def check(service: Service, app: App, values: Mapping[str, str]) -> Answer:
    """Whether the package of ``app`` finds ``values`` good, and a sentence for the person where it does not."""
    piece = app.spec.piece
    if piece is None or not piece.auth.validated:
        return "ok", ""
    shown = {field.name for field in app.spec.fields if not field.secret}
    reply = service.executor.ask_package(
        PackageCall(
            folder=service.settings.data / "pieces" / piece.folder,
            name=piece.package,
            method="validate",
            fields={"auth": auth_values.of_account(piece.auth, values), "index": piece.auth.index},
            hosts=(*piece_reach.of_package(service.store, piece.package), *auth_values.hosts_of(piece.auth, values)),
            allow_hosts=service.settings.allow_hosts,
            user=new_id("check"),  # so that no process knows two people's accounts
            mask=tuple(value for name, value in values.items() if name not in shown),
            deadline_s=CONFIGURE_S,
        )
    )
    answer = reply.value if reply.ok and isinstance(reply.value, Mapping) else {}
    if reply.refused_hosts:
        piece_reach.note_of(service, piece.package, reply.refused_hosts)
    if answer.get("valid") is True:
        return "ok", ""
    if reply.refused_hosts:
        host = reply.refused_hosts[0]
        return "trouble", f"{app.name} asked for {host}, which its owner does not let it reach. Ask them to allow it."
    if reply.error is not None:
        return "trouble", naming(reply.error.message[:_MOST], app.name)
    words = " ".join(str(answer.get("error") or "").split())[:_MOST]
    return "refused", naming(words, app.name) if words else f"{app.name} did not accept this. Check it, and try again."
