"""What a page of a product loads, whatever its origin: ``/embed.js`` (a classic script that gives ``Patchbay``),
``/embed.mjs`` (the same as a module) and ``/embed.d.ts`` (its types).

There is one source, ``static/js/embed/patchbay.js``; both forms are made of it when they are asked for, with the
service's public address in them, and without comments and indentation.
"""

import functools
import hashlib
import json
import re

from flask import Blueprint, Flask, Response

from webapp.kit import assets, compression

SOURCE, TYPES = "js/embed/patchbay.js", "js/embed/patchbay.d.ts"
CACHED = "public, max-age=3600, stale-while-revalidate=86400"
_FORMS = {
    "embed.js": ('(() => {{\n"use strict";\n{source}window.Patchbay = create({base});\n}})();\n', "text/javascript"),
    "embed.mjs": ("{source}export const {{ connect, portal, returned }} = create({base});\n", "text/javascript"),
    "embed.d.ts": ("{types}", "text/plain"),
}
_COMMENT, _LAYOUT = re.compile(r"/\*.*?\*/ ?", re.DOTALL), re.compile(r"\n\s+|^\s+")


def register(app: Flask, public_url: str) -> None:
    """Serve them from ``app``, for the service at ``public_url``."""
    blueprint = Blueprint("embed", __name__)
    for name in _FORMS:
        view = functools.partial(_send, name, public_url)
        blueprint.add_url_rule(f"/{name}", name.replace(".", "_"), view)
    app.register_blueprint(blueprint)


def text_of(name: str, public_url: str) -> str:
    """The file ``name`` as it is served."""
    return _content(name, public_url, assets.content_hash(SOURCE), assets.content_hash(TYPES))[0].decode()


def _send(name: str, public_url: str) -> Response:
    content, version = _content(name, public_url, assets.content_hash(SOURCE), assets.content_hash(TYPES))
    answer = compression.conditional(content, _FORMS[name][1], version)
    answer.headers["Cache-Control"] = CACHED
    answer.headers["Access-Control-Allow-Origin"] = "*"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return answer


@functools.lru_cache(maxsize=8)
def _content(name: str, public_url: str, *_versions: str) -> tuple[bytes, str]:
    """What is served, and its version. Keyed by the versions of the files as well, so that an edited one is served at
    once."""
    source, types = (assets.joined(assets.static_dir() / path).decode() for path in (SOURCE, TYPES))
    bare = _LAYOUT.sub("\n", _COMMENT.sub("", source))
    content = _FORMS[name][0].format(source=bare, types=types, base=json.dumps(public_url)).encode()
    return content, hashlib.sha256(content).hexdigest()[:12]
