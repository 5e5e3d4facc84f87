"""Schemathesis over ``/openapi.json``: every operation of the served product, well-formed and malformed, one call
after another. No answer may be a server error, and none may differ from its description.

Ids and names come from dictionaries nine times in ten, so that calls find something; one call leads to the next by
what it answered. What is deleted is either the call's own making or made for it.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.workspace import Workspace, workspace
from webapp.service.api.base.operations import USER
from webapp.service.api.table import OPERATIONS

# The second is for what one call leads to from the last; a time of its own, so that the others leave it some.
PHASES = {"examples,coverage,fuzzing": 90, "stateful": 55}
HUNG_S = 600  # beyond any phase: the last calls, and the start, are slow on a machine that does other work
KNOWN = {
    "path.account_id": "ACCOUNT_ID", "path.trigger_id": "TRIGGER_ID", "path.webhook_id": "WEBHOOK_ID",
    "path.delivery_id": "DELIVERY_ID", "path.run_id": "RUN_ID", "path.agent_id": "AGENT_ID",
    "path.approval_id": "APPROVAL_ID", "path.ctok": "CTOK", "path.category_id": "CATEGORY_ID",
    "path.oauth_app_id": "OAUTH_APP_ID", "path.app_override_id": "APP_OVERRIDE_ID", "path.project_id": "PROJECT_ID",
    "path.ticket": "TICKET", "query.account_id": "ACCOUNT_ID", "query.s3_key": "S3_KEY", "body.connect_token": "CTOK",
    "path.user_id": "OTHER_LOGIN_ID", "path.client_id": "OTHER_CLIENT_ID",
    "path.invitation_id": "INVITATION_ID", "path.workflow_id": "WORKFLOW_ID",
    "path.general_webhook_id": "GENERAL_WEBHOOK_ID", "path.piece_id": "PIECE_ID",
    "body.client_id": "CLIENT_ID", "body.client_secret": "CLIENT_SECRET",
}  # fmt: skip
WORDS = {
    "path.app": ["sandbox", "github", "schedule"],
    "path.component_id": ["sandbox-new-task", "sandbox-create-task"],
    "path.external_user_id": [USER],
    "path.url_64": ["L2FwaS9wcm9qZWN0cw"],
    "query.external_user_id": [USER],
    "body.external_user_id": [USER],
    "body.id": ["schedule-custom-interval", "sandbox-create-task", "sandbox-list-projects", "sandbox-new-task"],
    "body.prop_name": ["project_id"],
    "body.app": ["github", "gitlab", "sandbox"],
    "body.app_slug": ["sandbox_keys"],
    "body.webhook_url": ["https://app.example.com/events"],
    "body.url": ["https://app.example.com/hooks"],
}
OFTEN, HARDLY = 0.9, 0.01
# What is removed must not be what the other operations work with: it is made for the purpose, or by the call before.
REMOVED = {
    "delete_project": {"path.project_id": "OTHER_PROJECT_ID"},
    "delete_account": {"path.account_id": "OTHER_ACCOUNT_ID"},
    "revoke_account": {"path.account_id": "OTHER_ACCOUNT_ID"},
    "delete_accounts_of_app": {"path.app": "github"},
    "delete_login": {"path.user_id": "LOGIN_TO_DELETE_ID"},
    "delete_imported_app": {"path.slug": "IMPORTED_APP"},
    "delete_app_extension": {"path.slug": "EXTENDED_APP"},
    "delete_piece": {"path.piece_id": "PIECE_TO_DELETE_ID"},
    "confirm_piece": {"path.piece_id": "READY_PIECE_ID"},
    "stop_piece": {"path.piece_id": "PIECE_TO_STOP_ID"},
    "delete_workflow": {"path.workflow_id": "WORKFLOW_TO_DELETE_ID"},
    "delete_invitation": {"path.invitation_id": "INVITATION_TO_DELETE_ID"},
    "check_oauth_app": {"path.oauth_app_id": "SANDBOX_OAUTH_APP_ID"},
    "share_oauth_app": {"path.oauth_app_id": "GOOGLE_OAUTH_APP_ID"},
    "take_events_secret": {"path.oauth_app_id": "NOTION_OAUTH_APP_ID"},
    "delete_oauth_client": {"path.client_id": "CLIENT_TO_DELETE_ID"},
    "rotate_oauth_client": {"path.client_id": "OTHER_CLIENT_ID"},
    "delete_general_webhook": {"path.general_webhook_id": "GENERAL_WEBHOOK_TO_DELETE_ID"},
    "delete_user": {"path.external_user_id": "user-to-delete"},
    "proxy_delete": {"path.url_64": "TASK_64"},
}
LINKED = {
    "delete_deployed_trigger": "path.trigger_id",
    "delete_oauth_app": "path.oauth_app_id",
    "delete_app_override": "path.app_override_id",
}
NOT_ALL_OF_IT = (
    "list", "create", "update", "set", "share", "configure", "reload", "run", "deploy", "send", "resend", "proxy",
    "rename", "check_embedding", "import", "confirm", "allow", "upload",
)  # fmt: skip
# Checks that cannot be right somewhere, and why. Everywhere else all of them are on.
LEFT_OUT = [
    # JSON Schema allows what is refused with a sentence: a cursor that nobody gave out, NUL somewhere in free JSON, the
    # id of nothing, an app of another provider, an address that names no host, an empty file,
    # two times in the wrong order, whatever the proxied app says.
    ("positive_data_acceptance", f"^({'|'.join(NOT_ALL_OF_IT)})(_|$)"),
    # An external user may be called "user-123/accounts", so that DELETE has an operation at this address too.
    ("unsupported_method", "^list_accounts_of_user$"),
    ("allow_header_conformance", "^list_accounts_of_user$"),
    # They name what was made for them, not what the call before made.
    ("ensure_resource_availability", f"^({'|'.join(REMOVED)})$"),
    # A project begins without a logo.
    ("ensure_resource_availability", "^get_project_logo$"),
    # null says that there is none: an answer, not a 404 (contract "Project webhook").
    ("use_after_free", "^get_project_webhook$"),
]  # fmt: skip


def settings(made: Workspace) -> str:
    """What stands in an installation, so that calls find something."""
    limit = {"window_size_seconds": 60, "requests_per_window": 1_000_000}
    custom = made.call("POST", "/v1/connect/rate_limits", json=limit).json()["token"]
    known = {**{name: [made.names[value]] for name, value in KNOWN.items()}, **WORDS}
    lines = [f'headers = {{ Authorization = "Bearer {made.names["TOKEN"]}" }}', "[parameters]"]
    lines += ['"header.x-pd-environment" = "development"', f'"header.x-pd-rate-limit" = "{custom}"']
    lines += [_bound(name, name, OFTEN) for name in known]
    for name, values in {**known, "nothing": ["none"]}.items():
        lines += [f'[dictionaries."{name}"]', f"values = {values}"]
    for operation, others in REMOVED.items():
        given = {name: made.names.get(value, value) for name, value in others.items()}
        lines += [*_operation(f"^{operation}$"), "[operations.parameters]"]
        lines += [f'"{name}" = "{value}"' for name, value in given.items()]
    for operation, name in LINKED.items():
        lines += [*_operation(f"^{operation}$"), "[operations.parameters]", _bound(name, "nothing", HARDLY)]
    for check, operations in LEFT_OUT:
        lines += [*_operation(operations), f"[operations.checks.{check}]", "enabled = false"]
    return "\n".join(lines)


def _bound(name: str, dictionary: str, probability: float) -> str:
    return f'"{name}" = {{ dictionary = "{dictionary}", probability = {probability} }}'


def _operation(pattern: str) -> list[str]:
    return ["[[operations]]", f'include-operation-id-regex = "{pattern}"']


@pytest.mark.schemathesis
def test_no_answer_is_an_error_of_ours_or_differs_from_its_description(tmp_path: Path) -> None:
    with workspace(tmp_path / "data") as made:
        (tmp_path / "schemathesis.toml").write_text(settings(made))
        found = {phases: _run(made, phases, seconds, tmp_path) for phases, seconds in PHASES.items()}
        served = (tmp_path / "serve.log").read_text()
    for phases, done in found.items():
        assert done.returncode == 0, done.stdout[-20_000:]
        assert "stateful" in phases or f"Tested: {len(OPERATIONS)}" in done.stdout
        assert all(f"✅ {phase.capitalize()}" in done.stdout for phase in phases.split(","))
    assert "Traceback" not in served, served[-5_000:]


def _run(made: Workspace, phases: str, seconds: int, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"), "--no-color", "--config-file", "schemathesis.toml",
            "run", f"{made.product.url}/openapi.json", "--phases", phases, "--max-time", str(seconds),
            "--workers", "1", "--continue-on-failure", "--generation-deterministic", "--request-timeout", "40",
            "--suppress-health-check", "all",
        ],
        cwd=folder, capture_output=True, text=True, check=False, timeout=HUNG_S,
    )  # fmt: skip
