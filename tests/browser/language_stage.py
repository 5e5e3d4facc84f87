"""Somebody with accounts and triggers in every state, for tests that look at pages in several languages."""

from dataclasses import dataclass
from typing import Any

from tests.browser.conftest import PATIENCE_MS, Embedder, Product
from tests.browser.person import PASSWORD, Person
from tests.fakes.deployed import emit, plant_trigger_of, switch
from webapp.people import users
from webapp.service.domain.accounts import account_state as accounts
from webapp.service.domain.components import runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.deliveries import claims, trigger_webhooks
from webapp.service.domain.deliveries.claims import Outcome
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers import lifecycle as triggers

EMAIL = "polyglot@example.com"


@dataclass(frozen=True)
class Stage:
    """``state`` is signed in (cookies), ``paths`` is what it sees; ``user`` is the same person's id."""

    product: Product
    user: str
    state: Any
    paths: list[str]

    def links(self) -> list[str]:
        """Pages of the Connect Link, and others that nobody is signed in to."""
        link, url = self.product.link, self.product.url
        return [
            f"{url}/sign-in", link(EMAIL), link(EMAIL, app="sandbox_keys"), link(EMAIL, app=None),
            link(EMAIL, app="nothing"), link(EMAIL, app="github"), f"{url}/_static/connect.html?connectLink=true",
            f"{url}/_static/connect.html?token=ctok_gone&connectLink=true",
        ]  # fmt: skip

    def portals(self, embedder: Embedder) -> list[str]:
        """Pages of a product that show the portal: to somebody new, and to the person with accounts."""
        new, known = (
            self.product.token(user, allowed_origins=[embedder.origin]) for user in (f"new {EMAIL}", self.user)
        )
        queries = [f"token={new}", *(f"token={known}&page={page}" for page in ("accounts", "triggers"))]
        urls = [f"{self.product.url}/portal?{query}" for query in queries]
        return [f"{embedder.page(url)}&style=width:100%25;height:700px;border:0" for url in urls]


def staged(chromium: Any, product: Product) -> Stage:
    """Signs a person in who connects the sandbox thrice, and puts the rest beside it."""
    service = product.service
    me = users.create(service.store, service.clock, email=EMAIL, password=PASSWORD, role="member")
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    person = Person(page, product, scripts=False)
    person.sign_in(EMAIL)
    person.connect_thrice()
    state = context.storage_state()
    context.close()
    ada, grace, key = product.accounts(me.id)
    accounts.mark_dead(service, grace, "Sandbox Tasks no longer accepts this authorization. Connect the account again.")
    accounts.mark_retrying(service, key, "localhost did not answer in time. Try again later.")
    run = _run(product, me.id)
    return Stage(
        product,
        me.id,
        state,
        [
            "/apps", "/search", "/apps/http/actions/http-send-request", *_triggers(product, me.id, ada.id, grace.id),
            "/apps?q=zzzz", "/apps/sandbox", "/apps/github", "/accounts",
            *(f"/accounts/{account.id}" for account in (ada, grace, key)),
            f"/accounts/{ada.id}/name", f"/accounts/{ada.id}/disconnection",
            "/apps/sandbox/actions/sandbox-create-task",
            f"/apps/sandbox/actions/sandbox-create-task/runs/{run}",
            f"/apps/sandbox/actions/sandbox-create-task/runs/{run}/again", f"/logs/{run}",
            "/apps/sandbox/actions/sandbox-show-all-props",
            "/apps/sandbox/triggers/sandbox-new-task", "/logs", "/logs?kind=account&status=failed",
            "/settings", "/settings/two-step", "/nowhere",
        ],
    )  # fmt: skip


def _run(product: Product, user: str) -> str:
    """A run that failed, in the history."""
    component = product.service.catalog.component("sandbox-create-task")
    assert component is not None
    error = "The component was still working after 30 s, so it was stopped. Ask for less, or try again."
    run = Run(user, component.id, component.key, component.version, component.app, product.service.clock(), error=error)
    inputs = {"component_key": component.key, "configured_props": {}, "masked_props": []}
    runs.begin(product.service, product.scene, run, inputs)
    runs.end(product.service, product.scene, run, outputs={"exports": None, "os": [], "ret": None})
    return run.id


def _triggers(product: Product, user: str, working: str, broken: str) -> list[str]:
    """Pages of triggers: one whose webhook fails, one that is switched off, waits for its account, or is paused."""
    service = product.service

    def plant(key: str, account: str) -> Any:
        props = {"sandbox": {"authProvisionId": account}} if account else {}
        trigger = plant_trigger_of(service, product.scene, key, props, user=user)[0]
        with service.store.write() as tx:
            tx.run("UPDATE deployed_triggers SET name = :name WHERE id = :id", {"name": "Nr. 7", "id": trigger.id})
        return deployed_triggers.get(service.store, product.scene, trigger.id)

    failing, off, paused = (plant("http-new-requests", "") for _ in range(3))
    waits = plant("sandbox-new-task", broken)
    switch(service, paused, active=False)
    trigger_webhooks.change_urls(service, failing, [f"{product.sandbox_url}/receiver/broken"])
    emit(service, failing, {"n": 1})
    with service.store.write() as tx:
        triggers.switch_off(tx, service, off, "Its Sandbox Tasks account Ada was disconnected; choose another account.")
        tasks = claims.claim(tx, service.clock(), lambda *_: 9)
        why = "The receiver answered 500; any status from 200 to 299 counts as received."
        claims.finish(tx, [Outcome(task, service.clock(), 12, 500, why) for task in tasks], service.clock())
        delivery = tasks[0].id
    endpoint = trigger_webhooks.of_trigger(service.store, failing.id)[0]
    return [
        "/triggers", f"/triggers/{failing.id}", f"/triggers/{failing.id}/deliveries/{delivery}",
        f"/triggers/{failing.id}/deliveries", f"/triggers/{failing.id}/logs", f"/triggers/{failing.id}/configuration",
        f"/triggers/{failing.id}/webhooks/{endpoint.id}/removal",
        f"/triggers/{failing.id}/webhooks/{endpoint.id}/rotation",
        f"/triggers/{failing.id}/deletion", f"/triggers/{failing.id}/deliveries/resending",
        f"/triggers/{failing.id}/workflows",
        *(f"/triggers/{trigger.id}" for trigger in (off, waits, paused)),
    ]  # fmt: skip
