"""Acme Desk's own server: all that it takes to let users connect accounts."""

from typing import Any

import requests


class Connect:
    """Patchbay, as Acme Desk's server calls it."""

    def __init__(self, url: str, client_id: str, client_secret: str, environment: str) -> None:
        self.url, self.environment = url, environment
        self.client = client_id, client_secret
        self.http = requests.Session()

    def call(self, method: str, path: str, **more: Any) -> Any:
        """One call, with an access token for this server."""
        grant, url = {"grant_type": "client_credentials"}, f"{self.url}/v1/oauth/token"
        access = self.http.post(url, grant, auth=self.client, timeout=20)
        access.raise_for_status()
        bearer = "Bearer " + access.json()["access_token"]
        headers = {"Authorization": bearer, "x-pd-environment": self.environment}
        url = f"{self.url}/v1/connect/{path}"
        answer = self.http.request(method, url, headers=headers, timeout=20, **more)
        answer.raise_for_status()
        return answer.json()

    def project(self) -> str:
        """The project that this server's client was made for."""
        return str(self.call("GET", "projects")["data"][0]["id"])

    def token(self, user: str, origin: str, page: str) -> Any:
        """A token for who is signed in: pages of ``origin`` show it, ``page`` comes next."""
        body = {"external_user_id": user, "allowed_origins": [origin]}
        body |= {"success_redirect_uri": page, "error_redirect_uri": page}
        return self.call("POST", f"{self.project()}/tokens", json=body)

    def accounts(self, user: str) -> Any:
        """The accounts that the user has connected."""
        query = {"external_user_id": user}
        return self.call("GET", f"{self.project()}/accounts", params=query)["data"]
