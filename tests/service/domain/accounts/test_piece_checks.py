"""Accounts of apps that a package brought are tested by it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.service.catalog.test_spec import BASE, BROUGHT
from tests.service.domain.instance.pieces.planted import plant
from webapp.service.catalog import variants
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import AppSpec
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.components.executor import Executor
from webapp.service.domain.accounts import piece_checks, provider
from webapp.service.domain.base import piece_reach
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import keeping

AUTH: dict[str, Any] = {
    "type": "CUSTOM_AUTH", "index": 1, "validated": True, "hosts": ["{server}"],
    "fields": {"key": {"field": "token"}, "baseUrl": {"field": "server"}},
}  # fmt: skip
VALUES = {"token": "t0psecret", "server": "https://tasks.acme.example:8443"}


def brought(**auth: Any) -> App:
    fields = variants.whole(
        {**BROUGHT, "piece": {**BROUGHT["piece"], "auth": {**AUTH, **auth}, "hosts": ["a.example"]}}, BASE
    )
    fields["fields"] = [*fields["fields"], {"name": "server", "label": "Server"}]
    spec = AppSpec.model_validate(fields)
    return cast("App", SimpleNamespace(spec=spec, name=spec.name, test_kind="piece"))


class Asked:
    """As much of a service as is needed: an executor that answers with ``reply``, and keeps what it was asked."""

    def __init__(self, reply: Reply) -> None:
        self.reply, self.questions = reply, list[Any]()
        self.executor = self
        self.settings = SimpleNamespace(data=Path("/data"), allow_hosts=("10.0.0.1",))
        self.store = SimpleNamespace(tuples=lambda *_: [('["a.example"]',)])

    def ask_package(self, question: Any) -> Reply:
        self.questions.append(question)
        return self.reply


def checked(reply: Reply, app: App) -> tuple[tuple[str, str], list[Any]]:
    service = Asked(reply)
    return piece_checks.check(cast("Service", service), app, VALUES), service.questions


def test_it_is_asked_with_the_account_as_the_piece_has_it_and_its_own_hosts() -> None:
    answer, (question,) = checked(Reply({"valid": True}), brought())
    assert answer == ("ok", "")
    assert (question.name, question.method) == ("@acme/piece-acme", "validate")
    assert question.folder == Path("/data/pieces/packages/piece-acme/0.2.0")
    assert question.fields == {
        "auth": {"type": "CUSTOM_AUTH", "props": {"key": "t0psecret", "baseUrl": "https://tasks.acme.example:8443"}},
        "index": 1,
    }
    assert (question.hosts, question.allow_hosts) == (("a.example", "tasks.acme.example:8443"), ("10.0.0.1",))
    assert question.mask == ("t0psecret",)


def test_each_question_has_a_process_of_its_own() -> None:
    users = {checked(Reply({"valid": True}), brought())[1][0].user for _ in range(2)}
    assert len(users) == 2
    assert "" not in users


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (Reply({"valid": False, "error": "Invalid  key\n"}), ("refused", "Invalid key")),
        (Reply({"valid": True}, refused_hosts=("b.example",)), ("ok", "")),
        (Reply({"valid": False}), ("refused", "Acme (token) did not accept this. Check it, and try again.")),
        (Reply(None), ("refused", "Acme (token) did not accept this. Check it, and try again.")),
        (Reply(None, error=ErrorInfo("timeout", "T", "The provider is slow.")), ("trouble", "Acme (token) is slow.")),
        (
            Reply({"valid": False}, refused_hosts=("b.example",)),
            (
                "trouble",
                "Acme (token) asked for b.example, which its owner does not let it reach. Ask them to allow it.",
            ),
        ),
    ],
)
def test_what_it_says_is_told(reply: Reply, answer: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[tuple[str, Sequence[str]]] = []
    monkeypatch.setattr(piece_reach, "note_of", lambda _, package, hosts: noted.append((package, hosts)))
    assert checked(reply, brought())[0] == answer
    assert noted == ([("@acme/piece-acme", ("b.example",))] if reply.refused_hosts else [])


def test_it_may_reach_what_its_owner_lets_it_reach_now(service: Service) -> None:
    piece, asked = plant(service, "acme", hosts=("a.example",)), Asked(Reply(None, refused_hosts=("b.example",)))
    checking = replace(service, executor=cast("Executor", asked))
    kind, sentence = piece_checks.check(checking, brought(), VALUES)
    assert (kind, "b.example" in sentence) == ("trouble", True)
    assert [each.host for each in piece_reach.refused_of(service.store, piece.package)] == ["b.example"]
    keeping.allow(service, piece.id, "b.example")
    asked.reply = Reply({"valid": True})
    assert piece_checks.check(checking, brought(), VALUES) == ("ok", "")
    assert asked.questions[1].hosts[:2] == ("a.example", "b.example")


def test_one_that_cannot_tell_is_not_asked() -> None:
    assert checked(Reply(None), brought(validated=False)) == (("ok", ""), [])


def test_the_check_of_an_account_asks_it() -> None:
    service = cast("Service", Asked(Reply({"valid": False, "error": "No."})))
    result = provider.test(service, brought(), VALUES)
    assert (result.kind, result.sentence) == ("refused", "No.")
