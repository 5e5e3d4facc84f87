"""The code that adds the Connect Link to a product, with this project's values and without secrets.

Each snippet is a text in ``templates/dashboard/build/embed/snippets``; secrets are read from the environment.
"""

import functools
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pprint import pformat
from string import Template
from typing import Any

from webapp.kit import assets
from webapp.kit.translation import lazy as _

ID, SECRET = "CONNECT_CLIENT_ID", "CONNECT_CLIENT_SECRET"  # the environment variables; none of Patchbay's own settings


@dataclass(frozen=True, slots=True)
class Facts:
    """The values of the code: the service, the project, the ``body`` of the request for a token, and the app."""

    base_url: str
    project_id: str
    environment: str
    body: Mapping[str, Any]
    app: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """One text to copy, in ``language``, with a sentence about it."""

    name: str
    language: str
    words: str
    text: str


# By way of embedding: the file, its language, and what to know about it.
_SNIPPETS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "link": (
        ("link", "curl", _("For an e-mail or a chat: this prints a URL that works once, within four hours.")),
    ),
    "window": (
        ("window", "HTML", _("Opens above your page, or in a tab where windows are blocked.")),
    ),
    "page": (
        ("frame", "HTML", _("Stays inside your page, even where a browser blocks third-party cookies.")),
    ),
    "portal": (
        ("portal", "HTML", _("Your users’ own accounts and triggers, as a part of your page.")),
    ),
    "server": (
        ("server-curl", "curl", _("Your server creates the token. Nobody else may see the client secret.")),
        ("server-python", "Python", _("The same with the library requests.")),
        ("server-javascript", "JavaScript", _("The same with Node, without any library.")),
    ),
    "clients": (
        ("clients-python", "Python", _("How an existing client of this API is set up on your server, with this URL.")),
        ("clients-javascript", "JavaScript", _("The same for a client in JavaScript or TypeScript, on your server.")),
        (
            "clients-browser",
            "Browser",
            _("On your page, with tokens from your server. It frames the Connect Link by https, which you need then."),
        ),
    ),
}  # fmt: skip


def snippets(way: str, facts: Facts) -> list[Snippet]:
    """The texts of one way, filled in."""
    values = _values(facts)
    return [
        Snippet(name, language, str(words), _template(name).substitute(values))
        for name, language, words in _SNIPPETS[way]
    ]


def _values(facts: Facts) -> dict[str, str]:
    """Each value as the language of a text writes it."""
    url = f"{facts.base_url}/v1/connect/{facts.project_id}/tokens"
    body = json.dumps(facts.body, ensure_ascii=False, indent=2)
    python = pformat(dict(facts.body), sort_dicts=False, width=80).replace("\n", "\n" + " " * 9)
    chosen = json.dumps(facts.app)
    return {
        "base_url": facts.base_url,
        "json_base_url": json.dumps(facts.base_url),
        "json_host": json.dumps(facts.base_url.partition("://")[2]),
        "json_user": json.dumps(facts.body.get("external_user_id", ""), ensure_ascii=False),
        "project_id": facts.project_id,
        "environment": facts.environment,
        "sh_oauth_url": shlex.quote(f"{facts.base_url}/v1/oauth/token"),
        "sh_tokens_url": shlex.quote(url),
        "sh_body": shlex.quote(body),
        "tokens_url": json.dumps(url),
        "oauth_url": json.dumps(f"{facts.base_url}/v1/oauth/token"),
        "python_body": python,
        "js_body": body.replace("\n", "\n  "),
        "js_app": f"app: {chosen}, " if facts.app else "",
        "id": ID,
        "secret": SECRET,
    }


@functools.cache
def _template(name: str) -> Template:
    file = assets.templates_dir() / "dashboard" / "build" / "embed" / "snippets" / f"{name}.txt"
    return Template(file.read_text("utf-8").rstrip("\n"))
