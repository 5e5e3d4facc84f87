"""Agents that are known by an address: what stands there is read, checked, and kept for a while."""

import json
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from webapp.errors import Invalid
from webapp.kit.clock import DAY, MINUTE, SECOND, FakeClock
from webapp.people.agents import documents
from webapp.people.agents.documents import Documents
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response
from webapp.store.contract import Store

ADDRESS = "https://agent.example/oauth/client.json"
FACTS = {"client_id": ADDRESS, "client_name": "Desk Helper", "redirect_uris": ["http://127.0.0.1/cb"]}


@dataclass
class Host:
    """What answers at the address."""

    facts: Any = field(default_factory=lambda: dict(FACTS))
    status: int = 200
    policy: str = ""
    count: int = 0

    def request(self, method: str, url: str, **options: Any) -> Response | Failure:
        """As :class:`OutboundClient` has it."""
        assert (method, url) == ("GET", ADDRESS) and "max_redirects" not in options
        self.count += 1
        if not self.status:
            return Failure("refused_by_guard", "agent.example may not be reached.")
        return Response(self.status, {"cache-control": self.policy}, json.dumps(self.facts).encode(), url)


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def known(host: Host, store: Store, clock: FakeClock) -> Documents:
    return Documents(cast(OutboundClient, host), store, clock)


@pytest.mark.parametrize(
    ("policy", "lifetime"),
    [
        ("", documents.USUAL),
        ("public, max-age=7200", 7200 * SECOND),
        ("max-age=1", documents.SHORTEST),
        ("no-store", 5 * MINUTE),
        ("max-age=999999999", DAY),
    ],
)
def test_it_is_read_again_when_its_host_says_so(
    host: Host, known: Documents, clock: FakeClock, policy: str, lifetime: int
) -> None:
    host.policy = policy
    first = known.client(ADDRESS)
    assert first is not None and (first.id, first.name) == (ADDRESS, "Desk Helper")
    assert documents.host(first) == "agent.example"
    host.facts["client_name"] = "Desk Helper 2"
    clock.advance(lifetime - 1)
    assert known.client(ADDRESS) == first and host.count == 1
    clock.advance(1)
    later = known.client(ADDRESS)
    assert later is not None and later.name == "Desk Helper 2" and host.count == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": f"{ADDRESS}/"},
        {"client_id": None},
        {"client_name": 7},
        {"redirect_uris": "http://127.0.0.1/cb"},
        {"redirect_uris": []},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": [7]},
        {"token_endpoint_auth_method": "private_key_jwt"},
    ],
)
def test_what_is_not_itself_or_not_safe_is_refused(host: Host, known: Documents, changes: dict[str, Any]) -> None:
    host.facts |= changes
    with pytest.raises(Invalid):
        known.client(ADDRESS)
    host.facts = dict(FACTS)
    assert known.client(ADDRESS), "what was refused is not kept"


@pytest.mark.parametrize("status", [0, 302, 404, 500])
def test_a_host_that_does_not_answer_vouches_for_nobody(
    host: Host, known: Documents, clock: FakeClock, status: int
) -> None:
    assert known.client(ADDRESS)
    clock.advance(documents.USUAL)
    host.status = status
    with pytest.raises(Invalid, match=r"agent\.example does not say"):
        known.client(ADDRESS)


def test_other_ids_are_looked_up_alone(host: Host, known: Documents) -> None:
    for client_id in (
        "agent_x", "http://agent.example/a", "https://agent.example", "https://agent.example/", f"{ADDRESS}#x",
        "https://me@agent.example/a", "https://agent.example/../a", "https:///a", "https://agent.example:0/a",
        "https://agent.example/" + "a" * 500,
    ):  # fmt: skip
        assert known.client(client_id) is None
    assert host.count == 0
