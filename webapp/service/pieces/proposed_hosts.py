"""The hosts that a piece may need, which are proposed to its owner.

They are in its ways to connect, and constants in its program. An address with a placeholder in its host is proposed as
a wildcard if enough of it is fixed; a server that the account names is not proposed.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from urllib.parse import urlsplit

from webapp.service.outbound.urls import HostRules
from webapp.service.pieces.metadata import Auth

MOST = 40
_MOST_ADDRESSES = 20_000  # URLs that are examined
_ADDRESS = re.compile(r"""["'`](?:https?|wss)://([^\s"'`<>\\/?#]*)""")
_LONGEST = 2_000  # characters of an address
_HOLE = re.compile(r"\$?\{[^{}]*\}")
_HOST = re.compile(r"(\*\.)?([a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}")
_OPEN_HOLE = re.compile(r"\$?\{[^{}]*$")
# Documentation, schemas, examples and the makers of the framework: what no action calls.
_NEVER = (
    "activepieces.com", "apache.org", "example.com", "example.net", "example.org", "example", "fb.me", "github.com",
    "githubusercontent.com", "gitlab.com", "gravatar.com", "ietf.org", "internal", "invalid", "json-schema.org",
    "jsonschema.dev", "local", "localhost", "mozilla.org", "nodejs.org", "npmjs.com", "npmjs.org", "openid.net",
    "purl.org", "reactjs.org", "schema.org", "shields.io", "stackoverflow.com", "swagger.io", "test",
    "typescriptlang.org", "unpkg.com", "w3.org", "wikipedia.org", "xmlsoap.org", "yoursite.com", "your-domain.com",
    "zod.dev",
)  # fmt: skip
_DOCUMENTS = (
    "blog", "community", "dev", "developer", "developers", "doc", "docs", "forum", "help", "issues", "jira",
    "learn", "status", "support", "tools", "wiki",
)  # fmt: skip
# Model providers that a shared part of many bundles knows, whatever the piece is for.
_SHARED = (
    "aliyuncs.com", "cloudflare.com", "deepseek.com", "minimax.io", "moonshot.ai", "x.ai", "z.ai", "openrouter.ai",
    "openai.com", "anthropic.com", "mistral.ai", "groq.com", "googleapis.com", "together.xyz", "perplexity.ai",
    "cohere.ai",
)  # fmt: skip
_ASSETS = ("cdn.", "static.", "assets.", "emoji.", "images.", "img.", "a.")


def proposed(auths: Iterable[Auth], source: str, slug: str, samples: Collection[str] = ()) -> tuple[str, ...]:
    """Return the hosts to propose for a piece with these auth types, whose program has the text ``source``.

    ``samples`` are the texts in its sample events: URLs among them are data and are not proposed.
    """
    addresses = [address for auth in auths for address in (auth.token_url, auth.authorize_url) if address]
    declared = [host for address in addresses for host in _hosts(urlsplit(_unholed(address)).netloc)]
    matches = islice(_ADDRESS.finditer(source), _MOST_ADDRESSES)
    constants = [host for match in matches if not _is_in(samples, match) for host in _hosts(match[1])]
    own = {_domain(host) for host in declared} | {slug.replace("_", "")}
    kept = [host for host in constants if host in declared or _is_called(host, own)]
    below = [f"*.{host}" for host in declared if host.count(".") == 1]
    return tuple(dict.fromkeys((*declared, *below, *sorted(set(kept)))))[:MOST]


def _is_in(samples: Collection[str], address: re.Match[str]) -> bool:
    """Whether the string that begins with ``address`` is one of ``samples``."""
    if not samples:
        return False
    source, quote = address.string, address[0][0]
    end = source.find(quote, address.end(), address.end() + _LONGEST)
    return source[address.start() + 1 : end] in samples if end > 0 else False


def _is_called(host: str, own: set[str]) -> bool:
    """Whether an action may call ``host``; code that the piece shares with others counts if it is the piece's own."""
    if _ends(host, _NEVER):
        return False
    domain = _domain(host)
    is_own = not own.isdisjoint(
        {domain, domain.partition(".")[0], domain.replace(".", "")}
    )  # mistral.ai is mistral_ai's
    if _ends(host, _SHARED) or host.startswith(_ASSETS):
        return is_own and not host.startswith(_ASSETS)
    return host.partition(".")[0] not in _DOCUMENTS


def _hosts(netloc: str) -> Iterator[str]:
    """The host rule of a URL with placeholders; none if too little of the host is fixed."""
    host = _unholed(netloc).rpartition("@")[2].partition(":")[0].lower().rstrip(".")
    if "*" in host:
        host = f"*.{host.rpartition('*')[2].partition('.')[2]}"
        if host.count(".") < 2:  # *.com
            return
    if _HOST.fullmatch(host) and _is_rule(host):
        yield host


def _unholed(text: str) -> str:
    return _OPEN_HOLE.sub("*", _HOLE.sub("*", text))


def _is_rule(host: str) -> bool:
    try:
        HostRules.of(host)
    except ValueError:
        return False
    return True


def _ends(host: str, domains: Iterable[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _domain(host: str) -> str:
    """The last two labels, which are most providers' domain."""
    return ".".join(host.removeprefix("*.").split(".")[-2:])
