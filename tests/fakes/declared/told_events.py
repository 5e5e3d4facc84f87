"""Providers that tell events to the one address of a client, each written from the reference that its app.toml names:
how it signs, what an event looks like, whose a token is, and what it answers about a thing that an account may not see.

``alice`` and ``bob`` are of one tenant, where alice alone may see the thing; ``eve`` is of another.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.provider import Answer, DeclaredProvider, Heard
from webapp.kit.clock import SECOND
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps
from webapp.service.domain.triggers import app_events, deployments, inbox
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deployments import Deployment
from webapp.service.domain.triggers.inbound_requests import InboundRequest
from webapp.service.outbound.oauth import TokenResult

SECRET = "canary-secret-of-the-events"
TENANTS = {"alice": "acme", "bob": "acme", "eve": "evil"}
ADDRESS = "https://patchbay.example/h/app/hubspot/oa_1"
PORTALS = {"acme": 62515, "evil": 666}


@dataclass(frozen=True)
class Told:
    """An event as it comes: the headers that it is signed by, and its body."""

    headers: Mapping[str, str]
    body: str


class Teller(DeclaredProvider):
    """A provider that knows a token by the name in it, and to which ``told`` belongs: alice's alone."""

    slug, component, emits = "", "", ""
    fields: Mapping[str, str] = {}
    timed = True
    broken = False
    asks: tuple[str, ...] = ("alice", "bob", "eve")  # with whose tokens it is asked about the thing

    def event(self, tenant: str, sent_at: int, secret: str) -> Told:
        """The event of ``tenant``, signed at epoch milliseconds."""
        raise NotImplementedError

    def whose(self, name: str) -> Any:
        """The answer to the identity request."""
        raise NotImplementedError

    def answer(self, heard: Heard) -> Answer:
        credential = heard.headers.get("authorization", "") + heard.headers.get("x-shopify-access-token", "")
        name = credential.rpartition("token-")[2]
        if self.broken:
            return Answer(503)
        body = json.loads(heard.body or b"{}")
        if self.is_identity(heard, body):
            return Answer(200, self.whose(name))
        self.asked.append(name)
        return self.sight(heard, body, name)

    def is_identity(self, heard: Heard, body: Any) -> bool:
        return "variables" not in body

    def sight(self, heard: Heard, body: Any, name: str) -> Answer:
        """What is answered about the thing; alice may see it."""
        raise NotImplementedError


def _hmac(secret: str, text: str, by: Any = hashlib.sha256) -> bytes:
    return hmac.new(secret.encode(), text.encode(), by).digest()


class HubSpot(Teller):
    """As https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation."""

    slug, component, emits = "hubspot", "hubspot-new-contact-property-change", "lifecyclestage: lead"
    occurred_at = 1_564_113_600_000

    def event(self, tenant: str, sent_at: int, secret: str) -> Told:
        change = {
            "eventId": 1, "subscriptionId": 12345, "portalId": PORTALS[tenant], "occurredAt": self.occurred_at,
            "subscriptionType": "object.propertyChange", "attemptNumber": 0, "objectId": 123, "objectTypeId": "0-1",
            "propertyName": "lifecyclestage", "propertyValue": "lead",
        }  # fmt: skip
        body = json.dumps([change])
        digest = base64.b64encode(_hmac(secret, f"POST{ADDRESS}{body}{sent_at}")).decode()
        return Told({"X-HubSpot-Signature-v3": digest, "X-HubSpot-Request-Timestamp": str(sent_at)}, body)

    def whose(self, name: str) -> Any:
        return {"portalId": PORTALS[TENANTS[name]]}

    def is_identity(self, heard: Heard, body: Any) -> bool:
        return heard.place.endswith("/account-info/v3/details")

    def sight(self, heard: Heard, body: Any, name: str) -> Answer:
        assert heard.place.endswith("/crm/objects/2026-03/0-1/123")
        return Answer(200, {"id": "123"}) if name == "alice" else Answer(403, {"category": "MISSING_SCOPES"})


class HubSpotContacts(HubSpot):
    """The same, with contacts that a search finds: ``contacts`` are when each changed, in ISO 8601.

    As https://developers.hubspot.com/docs/api-reference/latest/crm/search-the-crm.
    """

    component = "hubspot-new-or-updated-contact"

    def __init__(self, *of: Any) -> None:
        super().__init__(*of)
        self.contacts: dict[str, str] = {}

    def sight(self, heard: Heard, body: Any, name: str) -> Answer:
        assert heard.place.endswith("/crm/objects/2026-03/contacts/search")
        since = int(body["filterGroups"][0]["filters"][0]["value"]) if body.get("filterGroups") else 0
        found = [
            {"id": id, "properties": {"email": f"{id}@x.example", "lastmodifieddate": at}}
            for id, at in self.contacts.items()
            if int(datetime.fromisoformat(at).timestamp() * 1000) >= since
        ]
        return Answer(200, {"results": found[::-1]})


class Linear(Teller):
    """As https://linear.app/developers/webhooks."""

    slug, component, emits = "linear", "linear-issue-created-instant", "ENG-1 The door sticks"

    def event(self, tenant: str, sent_at: int, secret: str) -> Told:
        issue = {"id": "i1", "identifier": "ENG-1", "title": "The door sticks", "teamId": "t1"}
        event = {"action": "create", "type": "Issue", "createdAt": "2026-01-23T12:53:18.084Z", "data": issue}
        body = json.dumps(event | {"organizationId": tenant, "webhookTimestamp": sent_at})
        return Told({"Linear-Signature": _hmac(secret, body).hex()}, body)

    def whose(self, name: str) -> Any:
        return {"data": {"viewer": {"id": name, "email": f"{name}@x.example", "organization": {"id": TENANTS[name]}}}}

    def sight(self, heard: Heard, body: Any, name: str) -> Answer:
        assert body["variables"] == {"id": "i1"}
        if name == "alice":
            return Answer(200, {"data": {"issue": {"id": "i1"}}})
        return Answer(200, {"data": None, "errors": [{"message": "Entity not found: Issue"}]})


class Shopify(Teller):
    """As https://shopify.dev/docs/apps/build/webhooks/verify-deliveries. Nothing tells the time of what is signed."""

    slug, component, emits = "shopify", "shopify-new-paid-order", "#1001, 12.00 EUR"
    fields: Mapping[str, str] = {"shop": "acme"}
    timed = False

    def event(self, tenant: str, sent_at: int, secret: str) -> Told:
        order = {"id": 1, "name": "#1001", "total_price": "12.00", "currency": "EUR"}
        body = json.dumps(order | {"admin_graphql_api_id": "gid://shopify/Order/1", "shop": tenant})
        signature = base64.b64encode(_hmac(secret, body)).decode()
        headers = {"X-Shopify-Topic": "orders/paid", "X-Shopify-Shop-Domain": f"{tenant}.myshopify.com"}
        return Told({**headers, "X-Shopify-Hmac-SHA256": signature}, body)

    def whose(self, name: str) -> Any:
        domain = f"{TENANTS[name]}.myshopify.com"
        return {"data": {"shop": {"id": f"gid://shopify/Shop/{name}", "name": "Acme", "myshopifyDomain": domain}}}

    def sight(self, heard: Heard, body: Any, name: str) -> Answer:
        assert body["variables"] == {"id": "gid://shopify/Order/1"}
        if name == "alice":
            return Answer(200, {"data": {"node": {"id": "gid://shopify/Order/1"}}})
        denied = [{"message": "Access denied", "extensions": {"code": "ACCESS_DENIED"}}]
        return Answer(200, {"data": {"node": None}, "errors": denied})


class Intercom(Teller):
    """As https://developers.intercom.com/docs/references/webhooks/webhook-models. No time is signed, either."""

    slug, component, emits = "intercom", "intercom-conversation-closed", "The door sticks"
    timed = False

    def event(self, tenant: str, sent_at: int, secret: str) -> Told:
        conversation = {"type": "conversation", "id": "7", "title": "The door sticks"}
        event = {"type": "notification_event", "id": f"notif_{tenant}", "topic": "conversation.admin.closed"}
        data = {"type": "notification_event_data", "item": conversation}
        body = json.dumps(event | {"app_id": tenant, "created_at": 1_564_113_600, "data": data})
        return Told({"X-Hub-Signature": f"sha1={_hmac(secret, body, hashlib.sha1).hex()}"}, body)

    def whose(self, name: str) -> Any:
        return {"type": "admin", "id": name, "email": f"{name}@x.example", "app": {"id_code": TENANTS[name]}}

    def is_identity(self, heard: Heard, body: Any) -> bool:
        return heard.place.endswith("/me")

    def sight(self, heard: Heard, body: Any, name: str) -> Answer:
        assert heard.place.endswith("/conversations/7")
        return Answer(200, {"id": "7"}) if name == "alice" else Answer(404, {"type": "error.list"})


class Notion(Teller):
    """As https://developers.notion.com/reference/webhooks. An event names the bots that may see the page."""

    slug, component, emits = "notion", "notion-page-created", "The door sticks"
    timed, asks = False, ("alice",)

    def event(self, tenant: str, sent_at: int, secret: str) -> Told:
        event = {"id": f"e-{tenant}", "timestamp": "2026-05-01T10:00:00.000Z", "type": "page.created"}
        seen_by = [{"id": "u1", "type": "person"}, {"id": "bot-alice", "type": "bot"}]
        thing = {"entity": {"id": "p1", "type": "page"}, "data": {"parent": {"id": "w", "type": "space"}}}
        body = json.dumps({**event, **thing, "workspace_id": tenant, "accessible_by": seen_by, "attempt_number": 1})
        return Told({"X-Notion-Signature": f"sha256={_hmac(secret, body).hex()}"}, body)

    def whose(self, name: str) -> Any:
        owner = {"type": "user", "user": {"name": name, "person": {"email": f"{name}@x.example"}}}
        bot = {"owner": owner, "workspace_id": TENANTS[name], "workspace_name": TENANTS[name]}
        return {"object": "user", "id": f"bot-{name}", "type": "bot", "bot": bot}

    def is_identity(self, heard: Heard, body: Any) -> bool:
        return heard.place.endswith("/v1/users/me")

    def sight(self, heard: Heard, body: Any, name: str) -> Answer:
        assert (heard.place.partition("/v1")[2], name) == ("/pages/p1", "alice")
        title = {"type": "title", "title": [{"plain_text": "The door sticks"}]}
        return Answer(200, {"object": "page", "id": "p1", "properties": {"Name": title}})


class GitHubApp(Teller):
    """As https://docs.github.com/en/webhooks/webhook-events-and-payloads. A person hears of installations that they may
    see, of which there may be several."""

    slug, component, emits = "github_app", "github_app-new-issue", "#1 The door sticks"
    timed = False
    installations: Mapping[str, list[int]] = {"alice": [1, 2], "bob": [2], "eve": [666]}

    def event(self, tenant: str, sent_at: int, secret: str) -> Told:
        repository = {"name": "door", "full_name": f"{tenant}/door", "owner": {"login": tenant}, "private": True}
        issue = {"number": 1, "title": "The door sticks", "created_at": "2026-05-01T10:00:00Z"}
        installation = {"acme": 2, "evil": 666, "later": 3}[tenant]
        event = {"action": "opened", "issue": issue, "repository": repository, "installation": {"id": installation}}
        body = json.dumps(event)
        named = {"X-GitHub-Event": "issues", "X-GitHub-Delivery": f"d-{tenant}"}
        return Told({**named, "X-Hub-Signature-256": f"sha256={_hmac(secret, body).hex()}"}, body)

    def whose(self, name: str) -> Any:
        installations = [{"id": number} for number in self.installations[name]]
        return {"id": name, "login": name, "total_count": len(installations), "installations": installations}

    def is_identity(self, heard: Heard, body: Any) -> bool:
        return heard.place.endswith(("/user", "/user/installations"))

    def sight(self, heard: Heard, body: Any, name: str) -> Answer:
        assert heard.place.rpartition("/")[2] == "door"
        return Answer(200, {"id": 7, "name": "door"}) if name == "alice" else Answer(404, {"message": "Not Found"})


class Todoist(Teller):
    """As https://developer.todoist.com/api/v1/#tag/Webhooks. What comes is for the person whom it names."""

    slug, component, emits = "todoist", "todoist-new-task-instant", "Buy milk"
    timed, asks = False, ()

    def event(self, tenant: str, sent_at: int, secret: str) -> Told:
        task = {"id": "t1", "content": "Buy milk", "project_id": "p1"}
        event = {"event_name": "item:added", "event_data": task, "triggered_at": "2026-05-01T10:00:00.000000Z"}
        body = json.dumps({**event, "user_id": {"acme": "alice"}.get(tenant, "nobody"), "version": "10"})
        signature = base64.b64encode(_hmac(secret, body)).decode()
        return Told({"X-Todoist-Delivery-ID": f"d-{tenant}", "X-Todoist-Hmac-SHA256": signature}, body)

    def whose(self, name: str) -> Any:
        return {"id": name, "email": f"{name}@x.example"}


class Square(Teller):
    """As https://developer.squareup.com/docs/webhooks/step3validate. The address is signed, too."""

    slug, component, emits = "square", "square-new-payment-instant", "12.50 USD"
    timed = False

    def event(self, tenant: str, sent_at: int, secret: str) -> Told:
        payment = {"id": "p1", "amount_money": {"amount": 1250, "currency": "USD"}}
        data = {"type": "payment", "id": "p1", "object": {"payment": payment}}
        event = {"merchant_id": tenant, "type": "payment.created", "event_id": f"e-{tenant}", "data": data}
        body = json.dumps({**event, "created_at": "2026-05-01T10:00:00Z"})
        signature = base64.b64encode(_hmac(secret, ADDRESS + body)).decode()
        return Told({"x-square-hmacsha256-signature": signature}, body)

    def whose(self, name: str) -> Any:
        return {"merchant": {"id": TENANTS[name], "business_name": "Acme"}}

    def is_identity(self, heard: Heard, body: Any) -> bool:
        return heard.place.endswith("/merchants/me")

    def sight(self, heard: Heard, body: Any, name: str) -> Answer:
        assert heard.place.endswith("/v2/payments/p1")
        return Answer(200, {"payment": {"id": "p1"}}) if name == "alice" else Answer(403, {"errors": []})


class ToldStage:
    """The service with a client at one of these providers, whose secret its owner entered."""

    def __init__(self, bench: Bench, kind: type[Teller]) -> None:
        self.service, self.scene, self.bench = bench.service, bench.scene, bench
        self.app = bench.app(kind.slug)
        self.teller = kind(self.app, {}, {})
        for front in bench.fronts:
            front.provider = self.teller
        self.client = oauth_apps.add(
            self.service, app=kind.slug, client_id="c", client_secret="s", project_id=self.scene.project_id,
            events_secret=SECRET,
        )  # fmt: skip

    def deploy(self, name: str, version: str | None = None) -> DeployedTrigger:
        made = connect_tokens.create(self.service, self.scene, connect_tokens.TokenRequest(name), client_id=None)
        result = TokenResult(f"token-{name}", None, None, None, "", {})
        account = connections.connect_with_grant(
            self.service, connect_tokens.verify(self.service, made["token"]), self.app, self.client, result,
            requested=self.app.default_scopes, profile=None, fields=dict(self.teller.fields), account_id=None,
        )  # fmt: skip
        component = self.service.catalog.component(self.teller.component, version)
        assert component is not None
        prop = next(prop["name"] for prop in component.props if prop["type"] == "app")
        values = {prop: {"authProvisionId": account.id}}
        return deployments.deploy(self.service, Deployment(self.scene, name, component, values))

    def send(
        self, tenant: str, *, secret: str = SECRET, late_s: int = 0, altered: Mapping[str, str] | None = None
    ) -> int:
        """Tell the event of ``tenant``; the status of the answer."""
        now = self.service.clock()
        event = self.teller.event(tenant, now - late_s * SECOND, secret)
        headers = tuple({**event.headers, **(altered or {})}.items())
        request = InboundRequest("POST", "/", ADDRESS, (), headers, event.body.encode(), "192.0.2.1", now)
        return app_events.receive(self.service, self.app.slug, self.client.id, request).status

    def work(self) -> None:
        """Run what waits, as the worker does."""
        while (waiting := inbox.claim(self.service)) is not None:
            inbox.run_queued(self.service, waiting)
