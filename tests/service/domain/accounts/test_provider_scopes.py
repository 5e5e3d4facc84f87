"""What is asked for when an account is connected; what an action needs and an account lacks, and what is asked for
besides when it is reconnected.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from webapp.service.domain.accounts import oauth_apps, provider_scopes
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.accounts.provider_scopes import addition, alternatives, asked_for, lacking
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Project

HEAD = """
name = "A"
version = "0.0.1"
description = "A."
hints = "reads"
summary = "A"
request = { url = "https://a.b" }
"""
KEY = "sandbox-create-task"


def test_only_a_declared_action_says_what_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "actions" / "a.toml"
    file.parent.mkdir()
    file.write_text(f'{HEAD}scopes = [["a", "b"], ["c"]]\n')
    assert alternatives(file) == (("a", "b"), ("c",))
    file.write_text(HEAD.replace('"A"', "1"))
    assert alternatives(file) == ()
    assert alternatives(tmp_path / "a.py") == ()


@pytest.mark.parametrize(
    ("granted", "needed", "missing"),
    [
        ((), (), ()),
        ((), (("a", "b"), ("c",)), ("c",)),
        (("a",), (("a", "b"), ("c", "d")), ("b",)),
        (("a", "b"), (("a", "b"), ("c",)), ()),
        ((), (("whole",), ("tasks:write",)), ("tasks:write",)),
    ],
)
def test_the_least_is_lacking_and_what_the_app_knows_comes_first(
    granted: tuple[str, ...], needed: tuple[tuple[str, ...], ...], missing: tuple[str, ...], service: Service
) -> None:
    assert lacking(service.app("sandbox"), granted, needed) == missing


@pytest.fixture
def account(service: Service, plant: Callable[..., Account], monkeypatch: pytest.MonkeyPatch) -> Account:
    monkeypatch.setattr(provider_scopes, "alternatives", lambda path: (("webhooks",),))
    return plant(app="sandbox")._replace(authorized_scopes=("profile", "tasks:read"))


def client(service: Service, project: Project) -> OAuthApp:
    found = oauth_apps.choose(service.store, project.id, "sandbox")
    assert found is not None
    return found


def test_it_is_asked_for_besides_what_the_account_has(account: Account, service: Service, project: Project) -> None:
    wider = addition(service, account, client(service, project), KEY)
    assert wider is not None
    assert (wider.lacking, wider.scopes) == (("webhooks",), ("profile", "tasks:read", "webhooks"))
    assert wider.action == "Create task"
    assert addition(service, account._replace(authorized_scopes=("webhooks",)), None, KEY) is None


def test_an_action_of_another_app_or_none_adds_nothing(account: Account, service: Service) -> None:
    assert addition(service, account, None, "github-create-issue") is None
    assert addition(service, account, None, "no-such-action") is None


def test_a_client_with_scopes_of_its_own_asks_for_no_others(
    account: Account, service: Service, project: Project
) -> None:
    narrow = replace(client(service, project), scopes=("profile",))
    refused = addition(service, account, narrow, KEY)
    assert refused is not None
    assert (refused.scopes, refused.refused) == ((), ("webhooks",))
    wider = replace(narrow, additional_scopes=("webhooks",))
    allowed = addition(service, account, wider, KEY)
    assert allowed is not None
    assert (allowed.scopes, allowed.refused) == (("profile", "tasks:read", "webhooks"), ())


def test_a_client_says_which_scopes_are_usual_and_adds_its_own(service: Service, project: Project) -> None:
    app, usual = service.app("sandbox"), ""
    own = replace(client(service, project), scopes=("webhooks",), additional_scopes=("profile", "webhooks"))
    assert asked_for(app, own, usual) == ("webhooks", "profile")
    assert asked_for(app, None, usual) == tuple(app.default_scopes)
    profile = app.spec.scope_profiles[0].name
    assert asked_for(app, own, profile) == app.profile_scopes(profile)
