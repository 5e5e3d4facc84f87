"""A provider made from nothing but an app's own declaration: it knows what the app says of it, and no more.

It reads requests by itself and compares them with the declaration as written, so that a credential which arrives
anywhere else, or a parameter too many, is found. What does not fit stands in ``problems``.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, quote_plus, unquote, urlencode, urlsplit

from tests.fakes.declared import sessions
from tests.fakes.declared.filling import fill, put
from tests.fakes.declared.oauth1 import SignIns
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import Credential, LongLived, LookUp, OAuth, Request, Revocation, Session

CLIENT_ID, CLIENT_SECRET = "client+1", "client secret/+=&%"
REDIRECT_URI = "http://localhost:8600/connect/oauth/callback"
IDENTITY_ID, IDENTITY_NAME = "id-4711", "Ada Lovelace"
SHORT = "short-lived-token"


@dataclass(frozen=True)
class Heard:
    """One request as it arrived; ``place`` is scheme, host and decoded path."""

    method: str
    place: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What goes back: JSON, a form, or a redirect."""

    status: int
    body: Any = None
    location: str | None = None
    form: Mapping[str, str] | None = None


_MAINTENANCE = Answer(503, {"error": "maintenance"})


@dataclass
class DeclaredProvider:
    """The provider of ``app``. ``right`` and ``wrong`` are credentials by name; it accepts the right ones only.

    ``grants`` tells which of them a sign-in brings. While ``down``, it answers 503: all of it, or its API alone.
    """

    app: App
    right: Mapping[str, str]
    wrong: Mapping[str, str]
    grants: Literal["right", "wrong"] = "right"
    refuses_by: int | Literal["body"] = 401
    down: Literal["", "all", "api"] = ""
    problems: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    given: str = ""
    _codes: dict[str, str] = field(default_factory=dict)
    sign_ins: SignIns = field(default_factory=lambda: SignIns(CLIENT_ID, CLIENT_SECRET))

    def answer(self, heard: Heard) -> Answer:
        """Answer one request."""
        oauth = self.app.oauth
        if self.down == "all":
            return _MAINTENANCE
        if oauth and oauth.request_token_url and (signed := self._signed_sign_in(heard, oauth)):
            return signed
        long_lived = oauth.long_lived if oauth and heard.method == "GET" else None
        if long_lived and heard.place in (long_lived.exchange_url, long_lived.renewal_url):
            return self._lengthen(heard, long_lived)
        if oauth and heard.place == fill(oauth.authorize_url or "", self.right).replace("/#/", "/"):
            return self._authorize(heard)
        if oauth and (heard.method, heard.place) == ("POST", fill(oauth.token_url or "", self.right).partition("?")[0]):
            return self._token(heard)
        session = self.app.spec.session
        if (
            session
            and session.url
            and (heard.method, heard.place) == (session.method, self._place(session, self.right))
        ):
            return self._session(heard, session)
        for name, request in self._requests():
            for given in (self.right, self.wrong):
                if (heard.method, heard.place) == (request.method, self._place(request, given)):
                    self.asked.append(name)
                    return _MAINTENANCE if self.down else self._serve(heard, request, given)
        return self._bad(f"{heard.method} {heard.place} is not declared")

    def _signed_sign_in(self, heard: Heard, oauth: OAuth) -> Answer | None:
        """Answer what belongs to a sign-in by OAuth 1.0a; None for anything else."""
        signature = heard.headers.get("authorization", "")
        if heard.place == oauth.request_token_url:
            begun = self.sign_ins.begin(heard.method, heard.place, signature)
            return Answer(200, form=begun) if begun else Answer(401)
        if heard.place == oauth.authorize_url:
            params = {name: value for name, value in heard.query.items() if name != "oauth_token"}
            self._expect("the authorization request", params, dict(oauth.authorize_params))
            return Answer(302, location=self.sign_ins.allow(heard.query["oauth_token"]))
        if heard.place != oauth.token_url:
            return None
        if not self.sign_ins.finish(heard.method, heard.place, signature):
            return Answer(401)
        values = self.right if self.grants == "right" else self.wrong
        form = {"oauth_token": values["oauth_access_token"]}
        return Answer(200, form=form | {path: self.right[name] for name, path in oauth.keep.items()})

    def _requests(self) -> list[tuple[str, Request]]:
        spec = self.app.spec
        return [
            (name, one)
            for name, one in spec.requests
            if one.url and name != "health" and not name.startswith("events.")
        ]

    def _place(self, request: Request | Session, given: Mapping[str, str]) -> str:
        base = (self.app.spec.base_url or "").rstrip("/") if request.url.startswith("/") else ""
        return fill(base + request.url, given).partition("?")[0]

    def _session(self, heard: Heard, session: Session) -> Answer:
        self.asked.append("session")
        body = sessions.arrived(session, heard.body)
        left = _Rest(dict(heard.query), dict(heard.headers), body, heard.place)
        statement = sessions.statement_in({**heard.query, **body}, heard.headers)
        values = {**self.right, "assertion": statement}
        right = [left.take(credential, values) for credential in session.credentials]
        declared = sessions.expected(session, self.right, statement)
        self._expect("the session's request", (sorted(left.query), sorted(left.body)), tuple(map(sorted, declared)))
        if session.assertion:
            right.append(sessions.proves(session.assertion, statement, self.right))
        if not all(right) or (left.query, left.body) != declared:
            return Answer(401, {"error": "invalid_client"})
        return Answer(200, sessions.answer(session, self.right))

    def _serve(self, heard: Heard, request: Request, given: Mapping[str, str]) -> Answer:
        left = _Rest(dict(heard.query), dict(heard.headers), json.loads(heard.body) if heard.body else {}, heard.place)
        accepted = given is self.right or "url" not in {one.place for one in self.app.spec.credentials}
        for credential in self._credentials(request):
            accepted &= left.take(credential, self.right)
        query = dict(parse_qsl(urlsplit(request.url).query)) | request.params
        self._expect("the query", left.query, {name: fill(value, self.right) for name, value in query.items()})
        self._expect("the body", left.body, dict(request.json_body or {}))
        sought = request.keep if isinstance(request, LookUp) else ()
        for name, value in {**self.app.spec.headers, **request.headers}.items():
            if isinstance(request, LookUp) and name == "Authorization":
                accepted &= left.headers.pop("authorization", None) == fill(value, self.right)
                continue
            expected = None if any(f"{{{field}}}" in value for field in sought) else fill(value, self.right)
            self._expect(f"the header {name}", left.headers.get(name.lower()), expected)
        for secret in left.secrets_in(self.right):
            self.problems.append(f"{secret} arrived where it is not declared")
        if not accepted:
            return self._refuse()
        good = self._good(request)
        return good if isinstance(good, Answer) else Answer(200, good)

    def _credentials(self, request: Request) -> list[Credential]:
        """What must come with ``request``: a look-up comes without what it is to find, and a revocation may be made
        with the client's id and secret instead."""
        if isinstance(request, LookUp):
            looked_up = [f"{{{name}}}" for name in request.keep]
            return [place for place in self.app.spec.credentials if not any(name in place.value for name in looked_up)]
        if not isinstance(request, Revocation):
            return list(self.app.spec.credentials)
        body = [Credential(place="body", name=n, value=text, source=request.source) for n, text in request.body.items()]
        if request.credential == "account":
            return [*self.app.spec.credentials, *body]
        client = Credential(place="basic", username=CLIENT_ID, password=CLIENT_SECRET, source=request.source)
        return [client, *body]

    def _refuse(self) -> Answer:
        refusals = self.app.spec.refusals
        if self.refuses_by != "body" or refusals is None or refusals.body is None:
            return Answer(int(self.refuses_by), {"message": "no"})
        rule, body = refusals.body, dict[str, Any]()
        put(body, rule.path, rule.equals)
        if rule.error_path and rule.refused:
            put(body, rule.error_path, rule.refused[0])
        return Answer(200, body)

    def _good(self, request: Request) -> Any:
        spec, body = self.app.spec, dict[str, Any]()
        if spec.refusals and spec.refusals.body and isinstance(spec.refusals.body.equals, bool):
            put(body, spec.refusals.body.path, not spec.refusals.body.equals)
        look_up = spec.oauth.look_up if spec.oauth else None
        if look_up and request.url == look_up.url:
            site: Any = {} if look_up.label else body
            for name, path in look_up.keep.items():
                site = put(site, path, self.right[name])
            if look_up.label and not look_up.items:
                return [site]
            body = put(body, look_up.items, [site]) if look_up.label else site
        if spec.identity and (request is spec.identity or not spec.identity.url):
            body = put(body, spec.identity.id, IDENTITY_ID)
            if spec.identity.name:
                put(body, spec.identity.name, IDENTITY_NAME)
        return body

    def _authorize(self, heard: Heard) -> Answer:
        oauth, asked = self.app.oauth, dict(heard.query)
        assert oauth is not None
        declared = {"response_type": "code", oauth.client_id_param: CLIENT_ID, "redirect_uri": REDIRECT_URI}
        declared |= {name: fill(text, self.right) for name, text in oauth.authorize_params.items()}
        if self.app.default_scopes:
            declared[oauth.scope_param] = oauth.scope_separator.join(self.app.default_scopes)
        state, challenge = asked.pop("state", ""), asked.pop("code_challenge", "")
        if oauth.pkce:
            declared["code_challenge_method"] = "S256"
        self._expect("the authorization request", asked, declared)
        self._expect("the code challenge", bool(challenge), oauth.pkce)
        code = secrets.token_urlsafe(8)
        self._codes[code] = challenge
        back = {"code": code, "state": state} | ({"iss": fill(oauth.issuer, self.right)} if oauth.issuer else {})
        return Answer(302, location=f"{REDIRECT_URI}?{urlencode(back)}")

    def _token(self, heard: Heard) -> Answer:
        oauth = self.app.oauth
        assert oauth is not None
        form = oauth.token_body == "form"
        kind = "application/x-www-form-urlencoded" if form else "application/json"
        self._expect("the media type", heard.headers.get("content-type"), kind)
        given = dict(parse_qsl(heard.body.decode())) if form else json.loads(heard.body)
        challenge, verifier = self._codes.pop(given.pop("code", ""), None), given.pop("code_verifier", "")
        if challenge is None:
            return Answer(400, {"error": "invalid_grant"})
        hashed = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        self._expect("the code verifier", hashed if verifier else "", challenge)
        self._expect("the token URL's query", urlencode(heard.query), urlsplit(oauth.token_url or "").query)
        declared: dict[str, Any] = {"grant_type": "authorization_code", "redirect_uri": REDIRECT_URI}
        declared |= {
            name: fill(value, self.right) if isinstance(value, str) else value
            for name, value in oauth.token_params.items()
        }
        authorization = None
        if oauth.token_auth_method == "client_secret_basic":
            pair = f"{quote_plus(CLIENT_ID)}:{quote_plus(CLIENT_SECRET)}"
            authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            declared[oauth.client_id_param] = CLIENT_ID
        if oauth.token_auth_method == "client_secret_post":
            declared["client_secret"] = CLIENT_SECRET
        self._expect("the client's authorization", heard.headers.get("authorization"), authorization)
        self._expect("the token request", given, declared)
        for name, value in oauth.token_headers.items():
            self._expect(f"the header {name}", heard.headers.get(name.lower()), value)
        return Answer(200, self._tokens())

    def _lengthen(self, heard: Heard, facts: LongLived) -> Answer:
        """Exchange or renew a token: only the one that was given last, and only with what is declared."""
        params = facts.exchange_params if heard.place == facts.exchange_url else facts.renewal_params
        values = {"oauth_client_id": CLIENT_ID, "oauth_client_secret": CLIENT_SECRET, "oauth_access_token": self.given}
        self._expect("the request for a long-lived token", heard.query, {n: fill(t, values) for n, t in params.items()})
        if heard.query != {name: fill(text, values) for name, text in params.items()}:
            return Answer(400, {"error": {"code": 190}})
        token = (self.right if self.grants == "right" else self.wrong)["oauth_access_token"]
        self.given = token if self.given == SHORT else f"{self.given}+"
        return Answer(200, {"access_token": self.given, "token_type": "bearer", "expires_in": 60 * 86_400})

    def _tokens(self) -> Any:
        oauth, values = self.app.oauth, self.right if self.grants == "right" else self.wrong
        assert oauth is not None
        if oauth.long_lived:
            self.given = SHORT
            return {"access_token": SHORT, "user_id": 17}
        tokens: dict[str, Any] = {"access_token": values["oauth_access_token"], "token_type": "Bearer"}
        if oauth.refresh != "none":
            tokens |= {"refresh_token": "refresh-1", "expires_in": 3600}
        if self.app.default_scopes:
            tokens["scope"] = oauth.scope_separator.join(self.app.default_scopes)
        body: Any = put({}, oauth.token_at, tokens) if oauth.token_at else tokens
        for name, path in oauth.keep.items():
            put(body, path, self.right[name])
        return body

    def _expect(self, what: str, found: object, declared: object) -> None:
        if found != declared:
            self.problems.append(f"{what} is {found!r}, not {declared!r}")

    def _bad(self, problem: str) -> Answer:
        self.problems.append(problem)
        return Answer(400, {"error": problem})


@dataclass
class _Rest:
    """What is left of a request after the declared credentials were taken out of it."""

    query: dict[str, str]
    headers: dict[str, str]
    body: dict[str, Any]
    place: str

    def take(self, credential: Credential, right: Mapping[str, str]) -> bool:
        """Take ``credential`` out of its place; whether it was the right one."""
        if credential.place == "bearer":
            return self.headers.pop("authorization", None) == f"Bearer {fill(credential.value, right)}"
        if credential.place == "basic":
            scheme, _, pair = self.headers.pop("authorization", "").partition(" ")
            given = base64.b64decode(pair).decode().partition(":")
            pair_wanted = (fill(credential.username, right), ":", fill(credential.password, right))
            return (scheme, given) == ("Basic", pair_wanted)
        if credential.place == "url":
            self.place = ""
            return True
        if credential.place == "sigv4" or credential.place == "oauth1":
            self.headers.pop("x-amz-security-token", None)
            return sessions.signed_by(credential, self.headers.pop("authorization", ""), right)
        held: dict[str, Any] = {"header": self.headers, "query": self.query, "body": self.body}[credential.place]
        name = credential.name.lower() if credential.place == "header" else credential.name
        return bool(held.pop(name, None) == fill(credential.value, right))

    def secrets_in(self, right: Mapping[str, str]) -> list[str]:
        """The names of secrets that are still there."""
        text = "\n".join([self.place, json.dumps(self.body), *self.query.values(), *self.headers.values()])
        return [name for name, value in right.items() if value.startswith("secret-") and value in text]


def heard(method: str, scheme: str, target: str, headers: Mapping[str, str], body: bytes) -> Heard:
    """A request as the server's library hands it over."""
    named = {name.lower(): value for name, value in headers.items()}
    path, _, query = target.partition("?")
    place = f"{scheme}://{named.get('host', '')}{unquote(path)}"
    return Heard(method, place, dict(parse_qsl(query, keep_blank_values=True)), named, body)
