"""What the index says of a document, whatever that is."""

import json
from typing import Any

import pytest

from tests.fakes.public_directory import described
from webapp.service.directory.entries import MOST_HOSTS, Entry, entry


def of(root: Any, name: str = "acme.io:shop") -> Entry:
    found = entry(name, json.dumps(root).encode())
    assert found is not None
    return found


def test_an_entry_has_the_facts_of_its_document() -> None:
    info = {"version": "v3", "description": "Orders of a shop. And more.", "x-apisguru-categories": ["ecommerce", 5]}
    found = of(described("Acme Shop.", {}, "API.acme.io", **info))
    assert (found.name, found.provider, found.service) == ("acme.io:shop", "acme.io", "shop")
    assert (found.title, found.version, found.description) == ("Acme Shop", "v3", "Orders of a shop. And more.")
    assert (found.hosts, found.categories, found.operations) == (("api.acme.io",), ("ecommerce",), 1)


def test_operations_are_found_by_their_words_each_once() -> None:
    paths = {
        "/crm/contacts/{contactId}": {
            "get": {"operationId": "getContactById", "summary": "Fetch a contact", "tags": ["CRM"]},
            "patch": {"operationId": "updateContact"},
            "parameters": [],
        }
    }
    root = {**described("Acme", {}, "acme.io"), "paths": paths}
    assert of(root).words == ("crm", "contacts", "fetch", "contact", "get", "id", "update")
    assert of(root).operations == 2


def test_hosts_that_a_variable_decides_are_left_out() -> None:
    urls = ["https://{shop}.acme.io", "/v1", "https://api.acme.io", "https://api.acme.io/v2", "http://[", 5]
    root = {**described("Acme", {}, "acme.io"), "servers": [{"url": url} for url in urls]}
    assert of(root).hosts == ("api.acme.io",)
    many = {**root, "servers": [{"url": f"https://n{number}.acme.io"} for number in range(100)]}
    assert len(of(many).hosts) == MOST_HOSTS


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[1]",
        b"{",
        b'{"paths": {}}',
        b'{"paths": {"/me": {"trace": {}, "get": 5}}}',
        b'{"paths": ["/me"], "info": 7}',
        b'{"paths": {"/me": "get"}}',
        b"[" * 100_000,
    ],
)
def test_what_names_no_operation_has_no_entry(content: bytes) -> None:
    assert entry("acme.io", content) is None


def test_odd_facts_are_left_out() -> None:
    root = {"paths": {"/me": {"get": {"tags": 7, "summary": ["x"], "operationId": None}}}, "info": [], "servers": {}}
    found = of(root, "acme.io")
    assert (found.title, found.version, found.description, found.hosts) == ("acme.io", "", "", ())
