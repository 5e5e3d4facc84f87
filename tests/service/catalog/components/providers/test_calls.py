"""The calls of ``calls/<app>.toml``, made through the real executor against a fake that the same file describes."""

import re
import secrets
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.every import check_every
from tests.service.catalog.components.action_harness import component_file
from tests.service.catalog.components.providers.calls_fake import FakeProvider, fake_provider
from tests.service.catalog.components.providers.calls_form import NOW, Ask, Call, calls_of, slugs
from tests.service.catalog.components.providers.calls_harness import (
    CallsHarness,
    RedirectedInterpreter,
    harness_of,
)
from tests.service.catalog.components.trigger_harness import ENDPOINT, TriggerHarness, event_of
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import BUILT_IN, Places, read
from webapp.service.components import calls
from webapp.service.components.calls import Emitted, Reply
from webapp.service.components.declared.source import KINDS
from webapp.service.components.executor import Executor


@pytest.fixture(scope="session")
def provider() -> Iterator[FakeProvider]:
    with fake_provider() as running:
        yield running


@pytest.fixture(scope="session")
def interpreter(provider: FakeProvider) -> RedirectedInterpreter:
    return RedirectedInterpreter(provider.host)


@pytest.mark.parametrize("slug", slugs())
def test_it_asks_and_gives_what_the_file_says(
    slug: str,
    shipped: Catalog,
    provider: FakeProvider,
    interpreter: RedirectedInterpreter,
    action_runner: Executor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file, app = calls_of(slug), shipped.app(slug)
    assert app is not None

    def check(call: Call) -> None:
        harness = harness_of(app, file.account, provider, interpreter, action_runner)
        provider.expect(app, harness.grant, call.asks)
        if call.trigger:
            with monkeypatch.context() as patched:
                patched.setattr(secrets, "token_urlsafe", lambda _: call.secret)
                patched.setattr(uuid, "uuid4", lambda: "channel")
                _watch(harness, call)
        else:
            _act(harness, call)
        provider.check()

    check_every(file.calls, check, lambda call: f"{slug}/{'/'.join(call.component)}, call {file.calls.index(call)}")


VARIANTS = {source.spec.slug: source.spec.of for source in read(Places()).apps if source.spec.of}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_component_works_with_an_account_of_another_way_to_connect_its_app(
    variant: str, shipped: Catalog, provider: FakeProvider, interpreter: RedirectedInterpreter, action_runner: Executor
) -> None:
    file, app = calls_of(VARIANTS[variant] or ""), shipped.app(variant)
    assert app is not None
    call = next(call for call in file.calls if call.action and call.fails is None)
    account = {**file.account, "oauth_access_token": "token"}
    harness = harness_of(app, account, provider, interpreter, action_runner)
    provider.expect(app, harness.grant, call.asks)
    _act(harness, call)
    provider.check()


@pytest.mark.parametrize("slug", slugs())
def test_each_component_that_is_data_is_called(slug: str) -> None:
    declared = {(path.parent.name, path.stem) for path in BUILT_IN.glob(f"{slug}/*/*.toml")}
    assert declared - {call.component for call in calls_of(slug).calls} == set()


def test_each_component_of_an_app_with_an_account_is_called(shipped: Catalog) -> None:
    called = {(slug, *call.component) for slug in slugs() for call in calls_of(slug).calls}
    tests = [path.read_text("utf-8") for path in Path(__file__).parents[2].rglob("test_*.py")]
    missing = []
    native = "email/triggers/new-email"  # mails come to it, and nothing calls it
    for slug, kind, name in _shipped_components():
        app = shipped.app(slug)
        in_code = any(f'"{name}"' in text and f'"{slug}"' in text for text in tests)
        if app and app.auth_type != "none" and (slug, kind, name) not in called and not in_code:
            missing.append(f"{slug}/{kind}/{name}")
    assert missing == [native]


def _shipped_components() -> Iterator[tuple[str, str, str]]:
    """All but those that take everything from another app's."""
    for path in BUILT_IN.glob("*/*/*"):
        if path.parent.name not in KINDS or path.name.startswith("__"):
            continue
        if path.is_dir() or not path.read_text("utf-8").startswith("like = "):
            yield path.parts[-3], path.parent.name, path.stem


def _act(harness: CallsHarness, call: Call) -> None:
    reply = harness.call(
        calls.Call(
            str(component_file(harness.app.spec.of or harness.app.slug, *call.component)),
            method="options" if call.options else "run" if call.adds is None else "reload",
            props=call.props,
            labels=call.labels,
            prop=call.options or None,
            query=call.query_text,
            page=call.page,
            previous=call.previous,
            files=call.encoded_files,
            stash=True,
        )
    )
    problems = "\n".join(harness.provider.problems)
    if call.fails is not None:
        assert (reply.error and reply.error.message) == call.fails, problems
        return
    assert reply.error is None, f"{reply.error.message}\n{problems}"
    if call.offers is not None:
        _compare_offers(reply, call)
    elif call.adds is not None:
        props = {prop["name"]: prop["label"] for prop in reply.value if prop["type"] != "app"}
        assert dict(list(props.items())[-len(call.adds) :]) == call.adds
    else:
        _compare_result(reply, call)


def _compare_offers(reply: Reply, call: Call) -> None:
    listed, texts = reply.value["options"], reply.value["string_options"]
    offers = texts if texts is not None else {offer["label"]: offer["value"] for offer in listed}
    assert (offers, list(offers)) == (call.offers, list(call.offers or ()))


def _compare_result(reply: Reply, call: Call) -> None:
    last = call.asks[-1].answer if call.asks else None
    assert reply.value == (call.returns if "returns" in call.model_fields_set else last)
    assert reply.exports["$summary"].strip()
    assert call.summary in (None, reply.exports["$summary"])
    assert {file.name: file.content.decode() for file in reply.files} == call.keeps


def _watch(harness: CallsHarness, call: Call) -> None:
    path = component_file(harness.app.slug, *call.component)
    trigger = TriggerHarness(harness, path, call.props)
    if call.event is None:
        reply = trigger.call("deploy", {"timestamp": NOW})
        assert reply.error is None, reply.error
        assert _told(list(reply.events)) == call.first, harness.provider.problems
        assert _told(trigger.tick()) == call.emits, harness.provider.problems
        if call.renews:
            _renew(trigger)
        return
    trigger.activate()
    if call.challenge is not None:
        trigger.receive(call.challenge.body, call.challenge.headers)
    reply = trigger.call("run", event_of(call.event.body, call.event.headers, ENDPOINT, at=call.event.at))
    assert reply.error is None, reply.error
    assert _told(list(reply.events)) == call.emits, reply.observations
    trigger.deactivate()


def _renew(trigger: TriggerHarness) -> None:
    for method in ("activate", "renew", "renew", "deactivate"):
        reply = trigger.call(method, {"timestamp": NOW})
        assert reply.error is None, reply.error
        assert (reply.ends_at is None) == (method == "deactivate")


def _told(events: list[Emitted]) -> list[tuple[str | None, str | None]]:
    return [(event.id, event.summary) for event in events]


EXTRA = Ask.model_validate({"request": "GET /user", "query": {"page": "2"}, "headers": {"x-github-api-version": "1"}})


@pytest.mark.parametrize(
    ("asks", "problem"),
    [
        ([], "asked beyond the last: GET /repos/a/b?"),
        ([EXTRA], "request: came 'GET /repos/a/b', expected 'GET /user'"),
        ([EXTRA], "query: came {}, expected {'page': '2'}"),
    ],
)
def test_a_request_that_is_not_expected_is_reported(
    shipped: Catalog, provider: FakeProvider, interpreter: RedirectedInterpreter, asks: list[Ask], problem: str
) -> None:
    app = shipped.app("github")
    assert app is not None
    harness = harness_of(app, {"oauth_access_token": "gho_1"}, provider, interpreter, Executor.start())
    provider.expect(app, harness.grant, asks)
    with pytest.raises(AssertionError, match=re.escape(problem)):
        _act(harness, Call(action="get-repository", props={"repository": "a/b"}))
