"""What is kept of an API call: enough to make it again, and nothing that may be secret.

A body keeps the members in :data:`PLAIN`, numbers and booleans; of URLs it keeps the host, and of a component's props
which account is used. All other values are replaced by a placeholder, in the sentence of an error, too.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

HIDDEN = "…"
SHORTEST = 4  # characters; shorter texts occur in many sentences by chance
PLAIN = frozenset(
    (
        "id", "external_user_id", "project_id", "app", "app_id", "app_slug", "account_id", "prop_name", "environment",
        "dynamic_props_id", "workflow_id", "workflow_ids", "scope", "since", "status",
    )
)  # fmt: skip


def masked(body: Mapping[str, Any]) -> dict[str, Any]:
    """``body`` without values that may be secret."""
    return {name: _props(value) if name == "configured_props" else _shown(name, value) for name, value in body.items()}


def without_values(sentence: str, body: Mapping[str, Any]) -> str:
    """``sentence`` without the values of ``body`` that it repeats."""
    for text in sorted(set(_hidden_texts(body)), key=len, reverse=True):
        sentence = sentence.replace(text, HIDDEN)
    return sentence


def _props(props: object) -> Any:
    if not isinstance(props, Mapping):
        return HIDDEN
    return {name: _account(value) if isinstance(value, Mapping) else _hidden(value) for name, value in props.items()}


def _account(value: Mapping[str, Any]) -> Any:
    account = value.get("authProvisionId")
    return {"authProvisionId": account} if isinstance(account, str) and account.startswith("apn_") else HIDDEN


def _hidden(value: object) -> Any:
    return value if value is None or isinstance(value, bool) else HIDDEN


def _shown(name: str, value: object) -> Any:
    if isinstance(value, list | tuple):
        return [_shown(name, item) for item in value]
    if value is None or isinstance(value, bool | int | float) or name in PLAIN:
        return value if not isinstance(value, Mapping) else HIDDEN
    return _host(value) if isinstance(value, str) else HIDDEN


def _host(text: str) -> str:
    """An http or https URL with its path hidden; other texts are hidden as a whole."""
    try:
        parts = urlsplit(text)
        return f"{parts.scheme}://{parts.hostname}/{HIDDEN}" if parts.scheme in ("http", "https") else HIDDEN
    except ValueError:
        return HIDDEN


def _hidden_texts(body: Mapping[str, Any]) -> Iterator[str]:
    for name, value in body.items():
        if isinstance(value, Mapping) or name not in PLAIN:
            yield from _texts(value)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)
    elif isinstance(value, str) and len(value) >= SHORTEST and not value.startswith("apn_"):
        yield value
