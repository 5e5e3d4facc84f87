"""Connect tokens: what is asked, what is kept, how long it counts, and which origins it opens."""

import re

import pytest

from webapp.connect_token_facts import MAX_LIFETIME_S
from webapp.errors import Invalid, Unauthorized
from webapp.kit.clock import DAY, SECOND, FakeClock, parse_iso
from webapp.service.domain.access import allowed_origins, connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene


def make(service: Service, scene: Scene, **wishes: object) -> str:
    order = TokenRequest(**{"external_user_id": "alice", **wishes})  # type: ignore[arg-type]
    return str(connect_tokens.create(service, scene, order, client_id=None)["token"])


def test_the_answer_is_that_of_the_specification(service: Service, scene: Scene, clock: FakeClock) -> None:
    answer = connect_tokens.create(service, scene, TokenRequest("alice", expires_in=90), client_id="c")
    assert set(answer) == {"token", "expires_at", "connect_link_url"}
    assert re.fullmatch(r"ctok_[0-9a-f]{32}", answer["token"])
    assert parse_iso(answer["expires_at"]) == clock() + 90 * SECOND
    url = f"{service.settings.public_url}/_static/connect.html?token={answer['token']}&connectLink=true"
    assert answer["connect_link_url"] == url


def test_what_is_kept(service: Service, scene: Scene) -> None:
    token = make(
        service,
        scene,
        scope="connect:accounts:read",
        allowed_origins=["https://a.example", "https://a.example/"],
        success_redirect_uri="https://a.example/ok?x=1",
        allow_progressive_scopes=True,
        app="tinykeys",
    )
    kept = connect_tokens.verify(service, token)
    assert kept.user == external_users.find(service.store, scene, "alice")
    assert kept.scene == scene and kept.scopes == {"connect:accounts:read"}
    assert kept.allowed_origins == ("https://a.example",)
    assert kept.success_redirect_uri == "https://a.example/ok?x=1"
    assert kept.allow_progressive_scopes and kept.app == "tinykeys"
    assert token not in str(service.store.all("SELECT * FROM connect_tokens"))


def test_it_ends_to_the_millisecond_and_is_forgotten_a_week_later(
    service: Service, scene: Scene, clock: FakeClock
) -> None:
    token = make(service, scene, expires_in=10, allowed_origins=["https://a.example"])
    clock.advance(10 * SECOND - 1)
    connect_tokens.verify(service, token)
    clock.advance(1)
    with pytest.raises(Unauthorized, match="expired"):
        connect_tokens.verify(service, token)
    clock.advance(7 * DAY - 1)
    assert connect_tokens.purge(service) == 0
    assert connect_tokens.recall(service.store, token) is not None
    assert allowed_origins.is_allowed(service, "https://a.example")
    clock.advance(2)
    assert not allowed_origins.is_allowed(service, "https://a.example")
    assert connect_tokens.purge(service) == 1
    assert connect_tokens.recall(service.store, token) is None
    with pytest.raises(Unauthorized, match="not known"):
        connect_tokens.verify(service, token)


def test_a_longer_token_extends_its_origins_and_a_shorter_does_not(
    service: Service, scene: Scene, clock: FakeClock
) -> None:
    make(service, scene, expires_in=100, allowed_origins=["https://a.example"])
    make(service, scene, expires_in=10, allowed_origins=["https://a.example"])
    clock.advance(50 * SECOND + 7 * DAY)
    assert allowed_origins.is_allowed(service, "https://a.example")


@pytest.mark.parametrize("scope", ["*", "connect:* *", "nonsense"])
def test_scopes_that_a_connect_token_cannot_have(service: Service, scene: Scene, scope: str) -> None:
    with pytest.raises(Invalid) as caught:
        make(service, scene, scope=scope)
    assert [detail.field for detail in caught.value.details] == ["scope"]


@pytest.mark.parametrize("field", ["success_redirect_uri", "error_redirect_uri", "webhook_uri"])
@pytest.mark.parametrize(
    "uri",
    ["javascript:alert(1)", "ftp://a.example", "//a.example", "https://", "https://a.example:0", "https://a b.example",
     'https://a.example/"', "https://a.example/" + "x" * 2000, "https://[", "data:text/html,x",
     "https://b@a.example/", ""],
)  # fmt: skip
def test_addresses_must_be_http(service: Service, scene: Scene, field: str, uri: str) -> None:
    with pytest.raises(Invalid) as caught:
        make(service, scene, **{field: uri})
    assert [detail.field for detail in caught.value.details] == [field]


def test_too_many_origins(service: Service, scene: Scene) -> None:
    with pytest.raises(Invalid):
        make(service, scene, allowed_origins=[f"https://a{index}.example" for index in range(101)])


def test_nothing_is_kept_of_a_refused_order(service: Service, scene: Scene) -> None:
    with pytest.raises(Invalid):
        make(service, scene, external_user_id="carol", allowed_origins=["*"])
    assert external_users.find(service.store, scene, "carol") is None
    assert service.store.all("SELECT * FROM connect_tokens") == []


def test_a_clock_that_is_set_back_revives_none(service: Service, scene: Scene, clock: FakeClock) -> None:
    seen, unseen, living = (make(service, scene, expires_in=seconds) for seconds in (60, 61, 600))
    clock.advance(60 * SECOND)
    with pytest.raises(Unauthorized, match="expired"):
        connect_tokens.verify(service, seen)
    clock.advance(SECOND)
    assert connect_tokens.expire(service) == 1
    assert connect_tokens.expire(service) == 0
    clock.advance(-61 * SECOND)
    for token in (seen, unseen):
        with pytest.raises(Unauthorized, match="expired"):
            connect_tokens.verify(service, token)
    connect_tokens.verify(service, living)


def test_one_made_before_the_clock_was_set_back_does_not_live_longer_for_it(
    service: Service, scene: Scene, clock: FakeClock
) -> None:
    token = make(service, scene)
    clock.advance(-2 * MAX_LIFETIME_S * SECOND)
    with pytest.raises(Unauthorized, match="expired"):
        connect_tokens.verify(service, token)


def test_where_notifications_go_is_sealed_even_where_it_stood_in_the_clear(service: Service, scene: Scene) -> None:
    uri = "https://a.example/canary-address"
    kept = connect_tokens.verify(service, make(service, scene, webhook_uri=uri))
    assert connect_tokens.webhook_uri_of(service, kept) == uri
    assert "canary-address" not in str(service.store.all("SELECT * FROM connect_tokens"))
    with service.store.write() as tx:
        tx.run("UPDATE connect_tokens SET webhook_uri = :uri, webhook_uri_sealed = NULL", {"uri": uri})
    assert connect_tokens.seal_addresses(service) and not connect_tokens.seal_addresses(service)
    again = connect_tokens.by_hash(service.store, kept.token_hash)
    assert again is not None and connect_tokens.webhook_uri_of(service, again) == uri
    assert "canary-address" not in str(service.store.all("SELECT * FROM connect_tokens"))
