"""A project's own OAuth clients over the API, as the dashboard's own client sees them."""

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.build.oauth_apps import OAuthApps
from webapp.errors import Conflict, Forbidden, NotFound

CLIENT = {
    "id": "oa_1", "name_slug": "gmail", "name": "Ours", "client_id": "c", "redirect_uri": "https://a.example/cb",
    "patchbay": {"app_name": "Gmail", "accounts": 2, "shared_with": ["google_drive"], "used_for_new": False},
}  # fmt: skip


def test_the_list_tells_what_each_serves() -> None:
    recorder = Recorder({"data": [CLIENT, {"name": "no id"}], "page_info": {"end_cursor": ""}})
    page = OAuthApps(recorder).list(app="gmail")
    assert page is not None and [client.id for client in page.items] == ["oa_1"]
    assert page.items[0].use.accounts == 2 and (page.items[0].app_name, page.items[0].own_name) == ("Gmail", "Ours")
    params = {"limit": 100, "extensions": True, "app": "gmail"}
    assert recorder.calls == [("the project", "GET", "P/oauth_apps", {"params": params})]


@pytest.mark.parametrize("refusal", [NotFound("No."), Forbidden("No.")])
def test_a_service_without_the_list_has_none(refusal: Exception) -> None:
    assert OAuthApps(Recorder(refusal)).list() is None


def test_another_services_client_is_called_by_its_app() -> None:
    bare = {name: value for name, value in CLIENT.items() if name != "patchbay"} | {"name": "Gmail"}
    client = OAuthApps(Recorder(bare)).get("oa_1")
    assert (client.app_name, client.own_name, client.use.accounts) == ("Gmail", "", None)


def test_an_app_that_shares_a_client_already_is_passed_over() -> None:
    recorder = Recorder(Conflict("It does."), CLIENT)
    OAuthApps(recorder).share("oa_1", ["google_drive", "google_sheets"])
    assert [call[2:] for call in recorder.calls] == [
        ("P/oauth_apps/oa_1/share", {"body": {"app": "google_drive"}}),
        ("P/oauth_apps/oa_1/share", {"body": {"app": "google_sheets"}}),
    ]


def test_making_changing_checking_and_deleting() -> None:
    verdict = {"verdict": "known", "sentence": "Yes."}
    recorder = Recorder(CLIENT | {"check": verdict}, CLIENT, verdict, None)
    clients = OAuthApps(recorder)
    assert clients.create("gmail", "c", "canary-s", check=True).check.sentence == "Yes."
    assert clients.change("oa_1", {"name": "Ours"}).check.verdict == "unchecked"
    assert clients.check("oa_1").verdict == "known"
    clients.delete("oa_1")
    assert [call[1:3] for call in recorder.calls] == [
        ("POST", "P/oauth_apps"), ("PUT", "P/oauth_apps/oa_1"), ("POST", "P/oauth_apps/oa_1/check"),
        ("DELETE", "P/oauth_apps/oa_1"),
    ]  # fmt: skip


def test_the_secret_that_a_provider_sent_is_taken() -> None:
    recorder = Recorder({"events_secret": "canary-sent"})
    assert OAuthApps(recorder).take_events_secret("oa_1") == "canary-sent"
    assert [call[1:3] for call in recorder.calls] == [("POST", "P/oauth_apps/oa_1/events_secret")]
