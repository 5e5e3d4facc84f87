"""The address of an API, with a field of the account for each variable, over https unless it is this machine's."""

from typing import Any

import pytest

from tests.fakes.openapi_documents import document, planned
from webapp.errors import Invalid
from webapp.service.catalog.importing import servers
from webapp.service.catalog.importing.operations import listed
from webapp.service.catalog.importing.records import Options
from webapp.service.catalog.importing.servers import Server, server


def of(url: str, variables: dict[str, Any] | None = None, wanted: str = "") -> Server:
    node = {"url": url, "variables": variables or {}}
    return server(document({}, servers=[node, {"url": "https://other.example"}]), wanted)


def test_variables_become_fields_of_the_account() -> None:
    variables = {
        "tenant": {"default": "demo", "description": "Your *tenant*"},
        "region": {"default": "eu", "enum": ["eu", "us"]},
        "basePath": {"default": "api/v2"},
        "only": {"default": "x", "enum": ["x"]},
    }
    made = of("https://{tenant}.{region}.acme.example/{basePath}/{only}", variables)
    assert (made.url, made.host) == (
        "https://{tenant}.{region}.acme.example/api/v2/x",
        "{tenant}.{region}.acme.example",
    )
    assert made.plain == "https://demo.eu.acme.example/api/v2/x"
    assert made.fields == (
        {"name": "tenant", "label": "Tenant", "description": "Your tenant.", "default": "demo"},
        {"name": "region", "label": "Region", "options": ["eu", "us"], "default": "eu"},
    )


@pytest.mark.parametrize(
    ("url", "variables", "shown", "host"),
    [
        ("http://api.acme.example/v1/", {}, "https://api.acme.example/v1", "api.acme.example"),
        ("http://localhost:8600", {}, "http://localhost:8600", "localhost:8600"),
        ("/v2", {}, "https://docs.acme.example/v2", "docs.acme.example"),
        ("{scheme}://{host}/api", {"scheme": {"default": "http"}}, "https://{host}/api", "{host}"),
        (
            "https://{domain}.example/x",
            {"domain": {"default": "a.b"}},
            "https://{domain*}.example/x",
            "{domain*}.example",
        ),
        ("{baseUrl}/v1", {}, "{base_url}/v1", "{base_url}"),
        ("https://a.example:8443/x?y#z", {}, "https://a.example:8443/x", "a.example:8443"),
    ],
)
def test_every_form_of_address(url: str, variables: dict[str, Any], shown: str, host: str) -> None:
    made = of(url, variables)
    assert (made.url, made.host) == (shown, host)


def test_another_address_may_be_chosen() -> None:
    assert of("https://one.example", wanted="https://other.example").host == "other.example"
    assert of("https://one.example", wanted="https://mine.example/x").url == "https://mine.example/x"
    assert servers.choices(document({}, servers=[{"url": "/a", "description": "Test"}, {}])) == [("/a", "Test")]


@pytest.mark.parametrize("url", ["ftp://a.example", "https://exa mple", "https://user@a.example"])
def test_an_address_that_cannot_be_used_is_reported(url: str) -> None:
    with pytest.raises(Invalid):
        of(url)


def test_an_operation_that_is_served_elsewhere_goes_there_and_its_host_is_reported() -> None:
    upload = {"operationId": "upload", "servers": [{"url": "https://files.acme.example/v9/"}]}
    plan = planned({"/files": {"post": upload}, "/same": {"get": {"servers": [{"url": "/x"}]}}})
    urls = {action.name: action.toml["request"]["url"] for action in plan.actions}
    assert urls == {"get-me": "/me", "upload": "https://files.acme.example/v9/files", "get-same": "/same"}
    assert plan.app["allowed_hosts"] == ["api.acme.example", "files.acme.example"]
    assert plan.notes == ["The credential also goes to files.acme.example, where the document serves some operations."]


def test_a_document_that_names_no_server_needs_one() -> None:
    relative = document({}, servers=[])
    assert server(relative).url == "https://docs.acme.example"
    with pytest.raises(Invalid, match="does not say where the API is served"):
        planned({}, Options(), servers=[{"url": "ftp:"}])
    assert servers.own_address(relative, listed(relative)[0]) == ""


@pytest.mark.parametrize("url", ["https://a.example?x=", "https://a.example#", "https://u:p@a.example"])
def test_an_operation_is_not_served_below_what_is_no_beginning_of_addresses(url: str) -> None:
    operations = listed(document({"/a": {"get": {"servers": [{"url": url}]}}}))
    assert [servers.own_address(document({}), operation) for operation in operations if operation.path == "/a"] == [""]
