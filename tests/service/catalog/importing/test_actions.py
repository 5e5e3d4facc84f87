"""An operation becomes a whole declared action."""

import pytest

from tests.fakes.openapi_documents import ADDRESS, action, query
from webapp.service.catalog.importing.actions import HINTS


def test_an_operation_becomes_an_action() -> None:
    made = action(
        {
            "summary": "Find pets",
            "description": "Finds *pets* by name.\n\nMore about it.",
            "parameters": [query("q", {"type": "string"}, required=True, description="What to look for")],
        }
    )
    assert (made.name, dict(made.props)) == ("do-it", {"query:q": "q"})
    assert made.toml == {
        "name": "Find pets",
        "description": f"Finds pets by name. [See the documentation]({ADDRESS})",
        "hints": "reads",
        "summary": "Found pets",
        "props": {
            "account": {"type": "app", "app": "acme"},
            "q": {"type": "string", "label": "Q", "description": "What to look for."},
        },
        "request": {"method": "GET", "url": "/things", "params": {"q": "{q}"}},
    }


@pytest.mark.parametrize(("method", "hints"), HINTS.items())
def test_hints_follow_from_the_method(method: str, hints: str) -> None:
    assert action({}, method.lower()).toml["hints"] == hints


def test_an_operations_own_documentation_is_linked() -> None:
    made = action({"summary": "Ring", "externalDocs": {"url": "https://acme.example/ring?a=(b) c#d"}})
    assert made.toml["description"] == "Ring. [See the documentation](https://acme.example/ring?a=%28b%29%20c#d)"
    odd = action({"summary": "Ring", "externalDocs": {"url": "javascript:alert(1)"}})
    assert odd.toml["description"] == f"Ring. [See the documentation]({ADDRESS})"


def test_without_accounts_the_address_is_whole() -> None:
    made = action({}, security=[], schemes={})
    assert made.toml["request"]["url"] == "https://api.acme.example/v1/things"
    assert made.toml["props"] == {}
