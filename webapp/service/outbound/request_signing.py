"""Credentials that are no part of a request but sign it: AWS Signature Version 4, and OAuth 1.0a with HMAC-SHA1.

A signature is over the final request, so it is made when everything else stands: method, address, headers and body. The
key itself never goes out. What is signed is what goes out: where several spellings of an address mean the same, the one
that was signed is sent.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl, quote, unquote

from webapp.service.outbound.failures import Failure

if TYPE_CHECKING:
    from webapp.service.outbound.transport import Message

Scheme = Literal["sigv4", "oauth1"]
Sign = Callable[["Message"], "Message | Failure"]
# What each scheme is made of: the parts that it needs, and those that it may have.
PARTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sigv4": (("access_key_id", "secret_access_key", "region"), ("service", "session_token")),
    "oauth1": (("consumer_key", "consumer_secret"), ("token", "token_secret")),
}
_S3 = "s3"
_SIGNED_AS = {"email": "ses", "bedrock-runtime": "bedrock"}  # hosts that are called otherwise than their services
_UNRESERVED = "-_.~"
_FORM = "application/x-www-form-urlencoded"
_SIGNED = re.compile(r"host|content-type|content-md5|x-amz-.*")
_SLASHES = re.compile(r"/{2,}")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SigV4:
    """AWS Signature Version 4 in the Authorization header. Without ``service``, the host names it.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
    """

    access_key_id: str
    secret_access_key: str = field(repr=False)
    region: str
    service: str = ""
    session_token: str = field(default="", repr=False)
    clock: Callable[[], datetime] = _now

    def __call__(self, message: "Message") -> "Message | Failure":
        """``message`` with its signature."""
        if message.body is not None and not isinstance(message.body, bytes):
            return Failure("refused_by_guard", "The body is too large to be signed. Send less at a time.")
        path, _, query = message.url.target.partition("?")
        service = self.service or _service(message.url.host, self.region)
        path, query = _path(path, service), _query(query)
        time = self.clock().strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(message.body or b"").hexdigest()
        added = {"X-Amz-Date": time} | ({"X-Amz-Security-Token": self.session_token} if self.session_token else {})
        if service == _S3:
            added["X-Amz-Content-Sha256"] = digest
        headers = _without(message.headers, {*map(str.lower, added), "authorization"}) | added
        signed = {"host": message.url.authority} | {name.lower(): " ".join(v.split()) for name, v in headers.items()}
        names = sorted(name for name in signed if _SIGNED.fullmatch(name))
        canonical = "\n".join(
            [
                message.method,
                path if service == _S3 else quote(_SLASHES.sub("/", path), safe=f"/{_UNRESERVED}"),
                query,
                *(f"{name}:{signed[name]}" for name in names),
                "",
                ";".join(names),
                digest,
            ]
        )
        scope = f"{time[:8]}/{self.region}/{service}/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.new(self._key(time[:8], service), text.encode(), hashlib.sha256).hexdigest()
        headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.access_key_id}/{scope}, "
            f"SignedHeaders={';'.join(names)}, Signature={signature}"
        )
        url = replace(message.url, target=f"{path}?{query}" if query else path)
        return replace(message, url=url, headers=headers)

    def _key(self, day: str, service: str) -> bytes:
        key = f"AWS4{self.secret_access_key}".encode()
        for part in (day, self.region, service, "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key


@dataclass(frozen=True, slots=True)
class OAuth1:
    """OAuth 1.0a with HMAC-SHA1 in the Authorization header (RFC 5849, 3.4.2 and 3.5.1); the members of a form are
    signed too. ``callback`` and ``verifier`` belong to a sign-in (2.1 and 2.3)."""

    consumer_key: str
    consumer_secret: str = field(repr=False)
    token: str = field(default="", repr=False)
    token_secret: str = field(default="", repr=False)
    callback: str = field(default="", repr=False)
    verifier: str = field(default="", repr=False)

    def __call__(self, message: "Message") -> "Message | Failure":
        """``message`` with its signature."""
        from authlib.oauth1 import ClientAuth  # what few apps need is loaded when one does

        named = {name.lower(): value for name, value in message.headers.items()}
        form = named.get("content-type", "").partition(";")[0].strip().lower() == _FORM
        if form and not isinstance(message.body, bytes | None):
            return Failure("refused_by_guard", "The form is too large to be signed. Send less at a time.")
        body = message.body.decode(errors="replace") if form and isinstance(message.body, bytes) else ""
        auth = ClientAuth(
            self.consumer_key,
            self.consumer_secret,
            self.token or None,
            self.token_secret or None,
            redirect_uri=self.callback or None,
            verifier=self.verifier or None,
        )
        path, _, query = message.url.target.partition("?")
        url = replace(message.url, target=f"{path}?{_query(query)}" if query else path)
        media = {"Content-Type": _FORM} if form else {}
        _, headers, _ = auth.sign(message.method, str(url), media, _query(body))
        signed = {**_without(message.headers, {"authorization"}), "Authorization": headers["Authorization"]}
        return replace(message, url=url, headers=signed)


def signer(scheme: Scheme, parts: Mapping[str, str]) -> Sign:
    """What signs requests with the filled ``parts`` of ``scheme``."""
    return SigV4(clock=_now, **parts) if scheme == "sigv4" else OAuth1(**parts)


def _service(host: str, region: str) -> str:
    """The service that a host of AWS's belongs to: ``sqs`` of ``sqs.eu-west-1.amazonaws.com``."""
    labels = [label for label in host.removesuffix(".amazonaws.com").split(".") if label != region]
    return _SIGNED_AS.get(labels[-1], labels[-1]) if labels else ""


def _path(path: str, service: str) -> str:
    """The path in the one spelling that AWS signs: S3 keeps the slashes of a key, other services its segments."""
    if service == _S3:
        return quote(unquote(path), safe=f"/{_UNRESERVED}")
    return "/".join(quote(unquote(segment), safe=_UNRESERVED) for segment in path.split("/"))


def _query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    encoded = ((quote(name, safe=_UNRESERVED), quote(value, safe=_UNRESERVED)) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in sorted(encoded))


def _without(headers: Mapping[str, str], names: set[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in names}
