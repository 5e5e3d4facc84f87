"""Reading an OpenAPI document: its text as JSON or YAML, within bounds, and what kind of document it is.

Everything else here works on :class:`Document`, which has the form of OpenAPI 3 whatever was read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import orjson

from webapp.errors import Invalid
from webapp.service.catalog.importing import swagger, yaml_text
from webapp.service.catalog.importing.refs import Refs
from webapp.service.catalog.importing.standing import MOST_BYTES
from webapp.service.catalog.importing.yaml_text import YamlMistake

_KNOWN = ("3.0", "3.1")


@dataclass(frozen=True, slots=True)
class Document:
    """An API's description. ``address`` is where it was fetched, empty for a file."""

    root: Mapping[str, Any]
    refs: Refs
    address: str = ""

    @property
    def info(self) -> Mapping[str, Any]:
        """What it says of the API as a whole."""
        return self.refs.object(self.root.get("info"))

    def absolute(self, url: str) -> str:
        """``url`` as it is meant from where the document stands."""
        return urljoin(self.address, url) if self.address else url


def read(content: bytes, address: str = "") -> Document:
    """The document in ``content``. Raises :class:`Invalid` with a sentence for what is none."""
    if len(content) > MOST_BYTES:
        raise Invalid(f"The document has {len(content) / 2**20:.0f} MiB. It may have 20 MiB at most.")
    root = _parsed(content)
    if not isinstance(root, dict):
        raise Invalid("This is no OpenAPI document: it holds no object. Choose the API's openapi.json or openapi.yaml.")
    if str(root.get("swagger", "")).startswith("2."):
        root = swagger.converted(root)
    version = str(root.get("openapi", ""))
    if not version.startswith(_KNOWN):
        told = f"It says openapi: {version}." if version else "It says neither openapi nor swagger."
        raise Invalid(f"This is no document of OpenAPI 3.0 or 3.1, nor of Swagger 2.0. {told[:100]}")
    if not isinstance(root.get("paths", {}), dict):
        raise Invalid("The document names no paths, so there is nothing to import.")
    return Document(root, Refs(root), address)


def _parsed(content: bytes) -> Any:
    text = content.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        raise Invalid("The document is empty.")
    if text.startswith((b"{", b"[")):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            wrong = f"{error.msg} (line {error.lineno})."
            if b'"' in text[:200]:
                raise Invalid(f"The document cannot be read as JSON: {wrong}") from None
    try:
        return yaml_text.load(text)
    except YamlMistake as error:
        raise Invalid(f"The document cannot be read as YAML: {error}") from None
