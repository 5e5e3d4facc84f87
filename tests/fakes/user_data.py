"""One of everything that an external user or a project can have, put into a service without asking anybody."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.fakes.deployed import emit, plant_trigger_of
from tests.service.domain.agents.planted import plant_agent, plant_approval
from webapp.kit.crypto import new_id
from webapp.kit.cursors import Window
from webapp.service.domain.accounts import account_state, app_overrides, credentials, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.app_overrides import Draft
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import dynamic_props, file_stash, runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.deliveries import endpoints, log, trigger_webhooks
from webapp.service.domain.deliveries.log import Filter
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import trigger_accounts

HOOK = "https://events.example.com/"
TIMER = "schedule-custom-interval"


@dataclass(frozen=True)
class UserData:
    """What ``user`` has in ``scene``, by the names that addresses give it. ``ids`` holds the project's things too."""

    scene: Scene
    user: str
    ids: dict[str, str]


def absent_user_data(scene: Scene, user: str) -> UserData:
    """Ids of the right kind under which there is nothing."""
    kinds = {
        "account_id": "apn", "trigger_id": "ti", "webhook_id": "wh", "delivery_id": "dlv", "run_id": "run",
        "oauth_app_id": "oa", "app_override_id": "aov", "dynamic_props_id": "dyp", "workflow_id": "p",
        "event_id": "evt", "agent_id": "ags", "approval_id": "apr",
    }  # fmt: skip
    ids = {name: new_id(prefix) for name, prefix in kinds.items()}
    ids["s3_key"] = f"1day/{scene.project_id}/{scene.environment}/{new_id('st')}/u/{new_id('file')}"
    return UserData(scene, user, {**ids, "project_id": "proj_none"})


def plant_user_data(service: Service, plant: Callable[..., Account], scene: Scene, user: str) -> UserData:
    """Give ``user`` an account, a deployed trigger with it and with an event on its way, a run, a file, dynamic props
    and an agent with a call that waits; and the project an OAuth client, an override and a workflow. ``plant`` puts an
    account into ``scene``."""
    trigger, _ = plant_trigger_of(service, scene, TIMER, {"cron": {"intervalSeconds": 900}}, user=user)
    account, mark = plant(user), new_id("x").replace("_", "-")
    with service.store.write() as tx:
        trigger_accounts.set_accounts(tx, trigger.id, {"account": account.id})
        trigger_webhooks.set_urls(tx, service, trigger, [HOOK + mark])
        workflow = endpoints.add(tx, service, "workflow", f"{HOOK}w/{mark}", scene=scene, name=mark)
        s3_key = file_stash.keep(service, tx, scene, user, None, "notes.txt", "text/plain", b"hello")
    (event,) = emit(service, trigger, {"n": 1})
    (delivery,) = log.page(service.store, trigger.id, Filter(), Window(10, None, None)).items
    (webhook,) = trigger_webhooks.of_trigger(service.store, trigger.id)
    run = Run(user, trigger.component_id, "~/every-type", "0.0.1", None, service.clock(), 5, True)
    runs.begin(service, scene, run, {"configured_props": {}, "masked_props": [], "dynamic_props_id": None})
    runs.end(service, scene, run, outputs={"exports": {}, "os": [], "ret": None})
    app = service.catalog.app("tinykeys")
    assert app is not None
    override = app_overrides.create(service, scene.project_id, app, Draft(mark, None, {}))
    client = oauth_apps.add(service, app="tinyoauth", client_id=mark, client_secret="s", project_id=scene.project_id)
    agent = plant_agent(service, scene, user, mark)
    ids = {
        "agent_id": agent.id, "approval_id": plant_approval(service, scene, agent).id,
        "account_id": account.id, "trigger_id": trigger.id, "webhook_id": webhook.id, "delivery_id": delivery["id"],
        "run_id": run.id, "s3_key": s3_key, "oauth_app_id": client.id, "app_override_id": override.id,
        "workflow_id": workflow.id, "event_id": event.id, "project_id": scene.project_id,
        "dynamic_props_id": dynamic_props.keep(service, scene, user, trigger.component_id, []),
    }  # fmt: skip
    return UserData(scene, user, ids)


def plant_account(
    service: Service, scene: Scene, external_id: str, app: str, values: object, **changes: object
) -> Account:
    """An account of that user, with ``values`` as credentials; ``changes`` are other fields."""
    now, account_id = service.clock(), new_id("apn")
    with service.store.write() as tx:
        place = (scene.project_id, account_id)
        sealed, version = credentials.seal(service, tx, *place, values)  # type: ignore[arg-type]
        user = external_users.ensure(tx, scene, external_id, now)
        facts: dict[str, object] = {
            "id": account_id, "scene": scene, "external_user_id": user.id, "external_id": external_id,
            "app": app, "oauth_app_id": None, "name": None, "identity_id": "u-1", "identity_name": "Ada",
            "healthy": True, "dead": False, "error": None, "authorized_scopes": (), "scope_profile": None,
            "credentials_sealed": sealed, "credentials_key": version, "expires_at": None,
            "last_refreshed_at": None, "next_refresh_at": None, "last_checked_at": None,
            "next_check_at": None, "failures": 0, "lease_until": 0, "revision": 0, "created_at": now,
            "updated_at": now,
        }  # fmt: skip
        account = Account(**{**facts, **changes})  # type: ignore[arg-type]
        account_state.insert(tx, account)
    return account
