"""What the parameters of each request that we answer must be, in each revision of the Model Context Protocol.

``mcp-types`` has every message of every revision, and would take 14 MB of a service to check five requests; the tests
hold these against it. What we never read may be as it likes.

References: modelcontextprotocol.io/specification/2026-07-28/schema and /2025-11-25/schema.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Object = dict[str, Any]


class _Shape(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="ignore")


class _Elicitation(_Shape):
    form: Object | None = None
    url: Object | None = None


class _Capabilities(_Shape):
    elicitation: _Elicitation | None = None
    experimental: dict[str, Object] | None = None
    extensions: dict[str, Object] | None = None
    roots: Object | None = None
    sampling: Object | None = None


class _Program(_Shape):
    name: str
    version: str
    title: str | None = None


class _Meta(_Shape):
    progress: str | int | None = Field(None, alias="progressToken")


class _ModernMeta(_Meta):
    revision: str = Field(alias="io.modelcontextprotocol/protocolVersion")
    capabilities: _Capabilities = Field(alias="io.modelcontextprotocol/clientCapabilities")
    client: _Program | None = Field(None, alias="io.modelcontextprotocol/clientInfo")
    log_level: str | None = Field(None, alias="io.modelcontextprotocol/logLevel")


class _Params(_Shape):
    meta: _Meta | None = Field(None, alias="_meta")


class _ModernParams(_Shape):
    meta: _ModernMeta = Field(alias="_meta")


class _Initialize(_Params):
    revision: str = Field(alias="protocolVersion")
    capabilities: _Capabilities
    client: _Program = Field(alias="clientInfo")


class _List(_Params):
    cursor: str | None = None


class _ModernList(_ModernParams):
    cursor: str | None = None


class _Call(_Params):
    name: str
    arguments: Object | None = None


class _ModernCall(_ModernParams):
    name: str
    arguments: Object | None = None
    responses: dict[str, Object] | None = Field(None, alias="inputResponses")
    state: str | None = Field(None, alias="requestState")


OLDER: Mapping[str, type[BaseModel]] = {
    "initialize": _Initialize,
    "ping": _Params,
    "tools/list": _List,
    "tools/call": _Call,
}
"""The parameters of what is asked by a revision that begins with ``initialize``."""
MODERN: Mapping[str, type[BaseModel]] = {
    "server/discover": _ModernParams,
    "tools/list": _ModernList,
    "tools/call": _ModernCall,
}
"""Those since every request says for itself which revision it speaks."""
