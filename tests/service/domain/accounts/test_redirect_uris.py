"""Redirect URIs of OAuth apps: one for each authorization server whose answers do not name it."""

from webapp.service.domain.accounts import oauth_apps, redirect_uris
from webapp.service.domain.base.service import Service


def test_each_provider_has_a_redirect_uri_of_its_own(service: Service) -> None:
    shared = f"{service.settings.public_url}/connect/oauth/callback"
    ends = {"github": "/github", "gmail": "/accounts.google.com", "google_drive": "/accounts.google.com"}
    for app, end in ends.items():
        assert redirect_uris.of_new_client(service, app) == shared + end
        client = oauth_apps.add(service, app=app, client_id="c", client_secret=None)
        assert redirect_uris.of(service, client.callback) == shared + end
        assert redirect_uris.of(service, "") == shared  # added before


def test_a_family_has_one_redirect_uri(service: Service) -> None:
    uris = {slug: redirect_uris.of_new_client(service, slug) for slug in ("jira", "gmail", "google_drive")}
    assert uris["jira"].endswith("/connect/oauth/callback/atlassian")
    assert uris["gmail"] == uris["google_drive"]
