"""The history of runs of actions: the list, newest first, and one run with its values and results."""

from typing import Annotated, Any, Literal

from flask import Response
from pydantic import ConfigDict, Field

from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import (
    Answer,
    AppName,
    Data,
    DateTime,
    ExternalUserId,
    Flag,
    Page,
    Paged,
)
from webapp.service.api.base.operations import OWNER, Example, Group, Operations, PathParameter
from webapp.service.api.components import Observation
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.components import runs

RUNS = Group("Runs", "Actions that were run, with their results.")
operations = Operations(RUNS, PathParameter("run_id", "The run's id.", "$RUN_ID"), extension=True)


class RunList(Paged):
    """Which runs; ``component_id`` is a key or an ``sc_…``, ``app`` a slug or an id."""

    external_user_id: ExternalUserId | None = None
    component_id: str | None = Field(None, description="The component's key or id (`sc_…`).")
    app: AppName = None
    ok: Flag | None = Field(None, description="Only runs that succeeded, or that failed.")
    by_agents: Flag | None = Field(None, description="Only runs that agents called.")


class Run(Answer):
    """A run of an action."""

    id: str = Field(examples=["run_3Ko9Ei"])
    external_user_id: str = Field(examples=["user-123"])
    component_id: str = Field(examples=["sc_9Dk2Wx"])
    component_key: str = Field(examples=["github-create-issue"])
    component_version: str = Field(examples=["0.0.1"])
    app: str | None = Field(examples=["github"])
    started_at: DateTime
    took_ms: int
    status: Literal["running", "succeeded", "failed", "unknown"] = Field(
        description="`unknown` where Patchbay was stopped in the middle: look whether it did its work."
    )
    ok: bool = Field(description="Whether it has succeeded.")
    summary: str | None = Field(examples=["Created issue 42"])
    error: str | None = Field(examples=[None])
    agent: str | None = Field(None, description="The name of the agent that called it.", examples=["Desk Helper"])


class RunFile(Answer):
    """A file that a run wrote."""

    name: str
    s3_key: str


class RunDetails(Run):
    """A run with its values and results. Secrets are masked."""

    model_config = ConfigDict(extra="forbid")

    configured_props: dict[str, Any]
    masked_props: Annotated[list[str], Field(description="The props whose values were not kept.")]
    dynamic_props_id: str | None
    exports: dict[str, Any] | None = Field(examples=[{"$summary": "Created issue 42"}])
    os: list[Observation] | None = Field(examples=[[]])
    ret: Any = Field(examples=[{"number": 42}])
    truncated: bool = Field(False, description="The results were too large to be kept.")
    files: list[RunFile] = Field(
        default_factory=list, description="The files that it wrote and that were kept, for a day."
    )


@operations.get(
    "P/runs",
    answer=Page[Run],
    scopes=(token_scopes.ACTIONS,),
    query=RunList,
    example=Example(query={**OWNER, "ok": "true"}),
)
def list_runs(call: Call) -> Response:
    """Runs of the environment, or of one user, newest first."""
    query = call.query(RunList)
    run_filter = runs.Filter(
        external_id=call.caller.user_filter(query.external_user_id),
        component=_component(call, query.component_id) if query.component_id else None,
        app=apps.slug_of(call.service, query.app) if query.app else None,
        ok=query.ok,
        by_agents=bool(query.by_agents),
    )
    return answer_page(runs.page(call.store, call.scene, run_filter, query.window), runs.Run.to_json)


def _component(call: Call, key_or_id: str) -> str:
    """The key or id of a component by any of its names; one that no longer exists is returned unchanged."""
    component = call.service.catalog.component(key_or_id)
    return component.key if component and component.id != key_or_id else key_or_id


@operations.get("P/runs/<run_id>", answer=Data[RunDetails], scopes=(token_scopes.ACTIONS,))
def get_run(call: Call) -> Response:
    """One run."""
    own = call.user.external_id if call.user else None
    return answer({"data": runs.details(call.service, call.scene, call.path["run_id"], external_id=own)})
