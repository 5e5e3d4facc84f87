"""Tests a credential by one request: an app's test request, or its identity request.

There are three results: ok, refused (the credential is wrong; another try is useless) and trouble (the provider or the
network is down; the credential may be valid). Trouble never makes an account dead. An app declares how its provider
says "refused"; some return 200 with the error in the body.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from webapp.kit.clock import Deadline
from webapp.kit.text import one_line
from webapp.service.outbound.bodies import Json, at_path, parse_json, parse_xml
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.mcp import McpClient, McpFailure
from webapp.service.outbound.placements import Placement, apply
from webapp.service.outbound.responses import Response
from webapp.service.outbound.templates import Fields, TemplateError, fill, fill_hosts, fill_url
from webapp.service.outbound.transport import Watch
from webapp.service.outbound.urls import HostRules

MAX_ANSWER = 1024 * 1024
MCP_S, MAX_LISTING = 30.0, 10 * 1024 * 1024  # of a conversation with an MCP server, and of one of its answers
MAX_TEXT, MAX_NAME = 500, 200
_SWITCHED_OFF = re.compile("inactive|disabled|deactivated|suspended|blocked")
_NOT_ACCEPTED = "The provider does not accept these credentials. Check them, then connect again."
_KEPT_OUT = "The provider keeps these credentials out: they are switched off there, or lack rights. Use others."


@dataclass(frozen=True, slots=True)
class RequestSpec:
    """A request as an app declares it. `url`, `params`, `headers` and `allowed_hosts` are templates."""

    url: str
    method: str = "GET"
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    placements: tuple[Placement, ...] = ()
    allowed_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BodyRule:
    """A failure reported in the body of a 200: the member at `path` equals `equals` (Slack: `ok` is false).

    `error_path` leads to the provider's error code; a code in `refused` means the credential, any other trouble.
    With `refused` empty, every such answer means the credential.
    """

    path: str
    equals: Any = False
    error_path: str = ""
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusalRules:
    """How a provider says that a credential is wrong."""

    statuses: tuple[int, ...] = (401, 403)
    body: BodyRule | None = None

    def refuse_use(self, response: Response) -> bool:
        """Whether a response to any request is about the credential: a 401 (RFC 9110, 15.5.2), or a declared code.

        A 403 is not, since it may be about the requested resource.
        """
        if response.status == 401:
            return True
        if self.body is None or not self.body.refused:
            return False
        parsed = response.json()
        if isinstance(parsed, Failure) or at_path(parsed.value, self.body.path) != self.body.equals:
            return False
        return _text(at_path(parsed.value, self.body.error_path)) in self.body.refused


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """`body` is the parsed JSON of an ok answer (None when it has none); `sentence` is empty when ok."""

    kind: Literal["ok", "refused", "trouble"]
    sentence: str = ""
    body: Any = field(default=None, repr=False)
    status: int | None = None
    retry_after_s: int | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """The owner of the credential at the provider; ``text`` is the e-mail address, else the name."""

    id: str
    name: str
    text: str


def probe(
    client: OutboundClient,
    spec: RequestSpec,
    fields: Fields,
    rules: RefusalRules | None = None,
    *,
    deadline_s: float = 15.0,
) -> ProbeOutcome:
    """Send the declared request with the account's fields, and judge the answer."""
    try:
        options = _options(spec, fields)
    except TemplateError as error:
        return ProbeOutcome("refused", str(error))
    outcome = client.request(spec.method, deadline_s=deadline_s, max_bytes=MAX_ANSWER, **options)
    if isinstance(outcome, Failure):
        return ProbeOutcome("trouble", outcome.sentence, error_code=outcome.kind)
    return judge(outcome, rules or RefusalRules())


def probe_mcp(
    client: OutboundClient, spec: RequestSpec, fields: Fields, rules: RefusalRules | None = None
) -> ProbeOutcome:
    """Ask the MCP server at the address of ``spec`` whether it answers with the account's fields."""
    speaker = mcp_client(client, spec, fields)
    if isinstance(speaker, ProbeOutcome):
        return speaker
    outcome = speaker.ping()
    speaker.end()
    if not isinstance(outcome, McpFailure):
        return ProbeOutcome("ok")
    if outcome.status in (rules or RefusalRules()).statuses:
        return _refused(outcome.status or 0, known=outcome.status == 403)
    return ProbeOutcome("trouble", outcome.sentence, None, outcome.status)


def mcp_client(client: OutboundClient, spec: RequestSpec, fields: Fields) -> McpClient | ProbeOutcome:
    """A client of the MCP server at the address of ``spec``, with the account's fields in every request; refused if
    they are not all there."""
    try:
        options = _options(spec, fields)
    except TemplateError as error:
        return ProbeOutcome("refused", str(error))
    own, ends = options["url"], Deadline(MCP_S)

    def ask(
        method: str, headers: Mapping[str, str], body: bytes | None, watch: Watch, url: str = ""
    ) -> Response | Failure:
        if ends.is_over:
            return Failure("timeout", "The server did not answer in time. Try again later.")
        return client.request(
            method,
            url or own,
            headers={**options["headers"], **headers},
            params=options["params"],
            data=body,
            allowed_hosts=options["allowed_hosts"],
            sign=options["sign"],
            deadline_s=ends.remaining(),
            max_bytes=MAX_LISTING,
            watch=watch,
        )

    return McpClient(own, ask)


def judge(response: Response, rules: RefusalRules) -> ProbeOutcome:
    """Tell ok, refused and trouble apart for an answer to any request made with a credential."""
    status, wait = response.status, response.retry_after_s
    if status in rules.statuses and not _is_throttled(response):
        return _refused(status, known=status == 403)
    if status == 429 or _is_throttled(response):
        return ProbeOutcome("trouble", "The provider limits requests. Try again later.", None, status, wait)
    if not response.ok:
        sentence = f"The provider answered with status {status}. Try again later."
        return ProbeOutcome("trouble", sentence, None, status, wait)
    return _judge_body(response, rules.body)


def identity(
    body: Any, id_path: str, name_path: str = "", email_path: str = "", workspace_path: str = ""
) -> Identity | None:
    """Whose it is, by dotted paths of a parsed body: ``Ada``, or ``Ada · Acme`` where there is a workspace.

    The name falls back to the workspace, then to the id. None without an id.

    All are made fit to be shown (:func:`one_line`): a provider may let people choose any name.
    """
    known_id = _text(at_path(body, id_path))
    if not known_id:
        return None
    paths = (name_path, email_path, workspace_path)
    name, email, workspace = (_text(at_path(body, path)) if path else None for path in paths)
    shown, text = (_with_workspace(best, workspace) or known_id for best in (name, email or name))
    return Identity(known_id, one_line(shown, MAX_NAME), one_line(text, MAX_NAME))


def _with_workspace(name: str | None, workspace: str | None) -> str:
    return " · ".join(part for part in (name, workspace) if part)


def _options(spec: RequestSpec, fields: Fields) -> dict[str, Any]:
    applied = apply(spec.placements, fields)
    return {
        "url": fill_url(spec.url, fields),
        "headers": {"Accept": "application/json", **_filled(spec.headers, fields), **applied.headers},
        "params": {**_filled(spec.params, fields), **applied.params},
        "json": {**(spec.json or {}), **applied.body} if spec.json is not None or applied.body else None,
        "allowed_hosts": _host_rules(fill_hosts(spec.allowed_hosts, fields)),
        "sign": applied.sign,
    }


def _host_rules(patterns: Sequence[str]) -> HostRules | None:
    try:
        return HostRules.of(*patterns) if patterns else None
    except ValueError as error:
        raise TemplateError(str(error)) from None


def _filled(templates: Mapping[str, str], fields: Fields) -> dict[str, str]:
    return {name: fill(template, fields) for name, template in templates.items()}


def _judge_body(response: Response, rule: BodyRule | None) -> ProbeOutcome:
    parse = parse_xml if response.content_type in ("application/xml", "text/xml") else parse_json
    parsed = parse(response.body) if response.body.strip() else Json(None)
    if isinstance(parsed, Failure):
        return ProbeOutcome("trouble", parsed.sentence, None, response.status)
    if rule is None or at_path(parsed.value, rule.path) != rule.equals:
        return ProbeOutcome("ok", "", parsed.value, response.status)
    code = _text(at_path(parsed.value, rule.error_path)) if rule.error_path else None
    if not rule.refused or code in rule.refused:
        return _refused(response.status, code, known=bool(_SWITCHED_OFF.search(code or "")))
    sentence = "The provider could not answer the request. Try again later."
    return ProbeOutcome("trouble", sentence, None, response.status, response.retry_after_s, code)


def _is_throttled(response: Response) -> bool:
    """Whether a 403 means a used-up limit, as at GitHub and others, which says nothing about the credential."""
    spent = response.headers.get("x-ratelimit-remaining", "").strip() == "0"
    return response.status == 403 and (spent or "retry-after" in response.headers)


def _refused(status: int, code: str | None = None, *, known: bool = False) -> ProbeOutcome:
    """Refused; ``known``: the provider knows the credentials and refuses access nevertheless (RFC 9110, 15.5.4)."""
    return ProbeOutcome("refused", _KEPT_OUT if known else _NOT_ACCEPTED, None, status, None, code)


def _text(value: Any) -> str | None:
    is_text = isinstance(value, (str, int)) and not isinstance(value, bool)
    return one_line(str(value), MAX_TEXT) or None if is_text else None
