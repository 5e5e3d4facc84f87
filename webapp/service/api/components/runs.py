"""The history of runs: the list, newest first, and one with its values and results. Extensions, ours alone."""

from flask import Response

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import ExternalUserId, Flag, Paged
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import scopes
from webapp.service.domain.components import runs


class RunList(Paged):
    """Which runs; ``component_id`` is a key or an ``sc_…``, ``app`` a slug or an id."""

    external_user_id: ExternalUserId | None = None
    component_id: str | None = None
    app: str | None = None
    ok: Flag | None = None


def index(call: Call) -> Response:
    """Runs of the environment, or of one user, newest first."""
    asked = call.query(RunList)
    wanted = runs.Filter(
        external_id=call.caller.user_filter(asked.external_user_id),
        component=asked.component_id or None,
        app=apps.slug_of(call.service, asked.app) if asked.app else None,
        ok=asked.ok,
    )
    return answers.page(runs.page(call.store, call.scene, wanted, asked.window), runs.Run.to_json)


def show(call: Call) -> Response:
    """One run."""
    own = call.user.external_id if call.user else None
    return answers.json({"data": runs.details(call.service, call.scene, call.path["run_id"], external_id=own)})


OPERATIONS = (
    Operation("list_runs", "GET", "P/runs", index, (scopes.ACTIONS,), query=RunList),
    Operation("get_run", "GET", "P/runs/<run_id>", show, (scopes.ACTIONS,)),
)
