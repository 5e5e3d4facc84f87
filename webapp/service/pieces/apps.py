"""The apps of a piece: an existing one that connects in the same way, or new ones, one for each way to connect.

A piece that joins an existing app works with that app's accounts.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from webapp.service.catalog import logos
from webapp.service.catalog.app import App
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.spec import AppSpec
from webapp.service.components.pieces import texts
from webapp.service.components.pieces.form import AccountField, AuthForm
from webapp.service.outbound.templates import fields_in
from webapp.service.pieces import connections, keys, metadata
from webapp.service.pieces.connections import CLIENT_CREDENTIALS, connection
from webapp.service.pieces.metadata import Auth, Description

_HOLE = re.compile(r"\{\{?\s*(?:props\.)?([A-Za-z_$][\w$]*)\s*\}?\}")
_MOST_HOLES = 3
_ONE_FIELD = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_CATEGORIES = {
    "ACCOUNTING": "accounting", "ANALYTICS": "analytics", "ARTIFICIAL_INTELLIGENCE": "artificial_intelligence",
    "BUSINESS_INTELLIGENCE": "analytics", "COMMERCE": "ecommerce", "COMMUNICATION": "communication",
    "CONTENT_AND_FILES": "file_storage", "CORE": "developer_tools", "CUSTOMER_SUPPORT": "customer_support",
    "DEVELOPER_TOOLS": "developer_tools", "FORMS_AND_SURVEYS": "forms", "HUMAN_RESOURCES": "hr",
    "MARKETING": "marketing", "PAYMENT_PROCESSING": "payments", "PRODUCTIVITY": "productivity",
    "SALES_AND_CRM": "crm",
}  # fmt: skip
_WORDS = {"OAUTH2": "sign-in", "SECRET_TEXT": "key", "BASIC_AUTH": "password", "CUSTOM_AUTH": "keys"}


def agreeing(app: App, auths: Iterable[tuple[int, Auth]]) -> AuthForm | None:
    """The form in which accounts of ``app`` become the value of the first matching one of ``auths``; None if none
    matches.
    """
    forms = (_agrees(app.spec, index, auth) for index, auth in auths)
    return next((form for form in forms if form is not None), None)


def _agrees(spec: AppSpec, index: int, auth: Auth) -> AuthForm | None:
    if auth.type == "OAUTH2" and auth.grant != CLIENT_CREDENTIALS:
        return _oauth(spec, index, auth) if spec.auth_type == "oauth" else None
    if spec.auth_type != "keys" or spec.session is not None:
        return None
    own = {"SECRET_TEXT": _secret, "BASIC_AUTH": _basic, "CUSTOM_AUTH": _custom}.get(auth.type)
    of_piece = own(spec, auth) if own else None
    if of_piece is None:
        return None
    hosts = tuple(rule for rule in spec.allowed_hosts if "{" in rule)
    return AuthForm.model_validate({"type": auth.type, "index": index, "fields": of_piece, "hosts": hosts})


def _oauth(spec: AppSpec, index: int, auth: Auth) -> AuthForm | None:
    oauth = spec.oauth
    if oauth is None or oauth.request_token_url is not None or not (oauth.authorize_url and oauth.token_url):
        return None
    pairs = ((auth.authorize_url, oauth.authorize_url), (auth.token_url, oauth.token_url))
    known = [_solved(url, ours) for url, ours in pairs]
    if known[1] is None:
        return None
    values = {**(known[0] or {}), **known[1]}
    by_name = _by_name(spec, auth)
    of_piece: dict[str, AccountField] = {}
    for own, described in auth.props.items():
        if own in by_name or own in values:
            of_piece[own] = by_name.get(own) or AccountField(value=values[own])
        elif isinstance(described, Mapping) and described.get("required") is True:
            return None
    data = {path: name for name, path in oauth.keep.items()}
    if oauth.token_at:
        data[f"{oauth.token_at}.access_token"] = "oauth_access_token"
    hosts = tuple(rule for rule in spec.allowed_hosts if "{" in rule)
    return AuthForm.model_validate({"type": "OAUTH2", "index": index, "fields": of_piece, "data": data, "hosts": hosts})


def _solved(theirs: str, ours: str) -> dict[str, str] | None:
    """The values of the placeholders in the piece's address with which it is at the host of ``ours``; None if there
    are none.
    """
    host, own = urlsplit(_HOLE.sub(r"{\1}", theirs)).netloc, urlsplit(ours).netloc
    if host.count("{") > _MOST_HOLES:
        return None
    if "{" in own:
        return {} if _HOLE.sub("", host).lstrip(".") == _HOLE.sub("", own).lstrip(".") else None
    pattern = "".join(
        f"(?P<{part[1:-1]}>[a-z0-9.-]+)" if part.startswith("{") and index == host.find(part) else re.escape(part)
        for part, index in _parts(host)
    )
    match = re.fullmatch(pattern, own)
    return None if match is None else dict(match.groupdict())


def _parts(host: str) -> list[tuple[str, int]]:
    """The placeholders of ``host`` and the text between them, with their positions."""
    return [(match[0], match.start()) for match in re.finditer(r"\{\w+\}|[^{}]+", host)]


def _secret(spec: AppSpec, _: Auth) -> Mapping[str, AccountField] | None:
    secrets = [field.name for field in spec.fields if field.secret]
    return {"secret_text": AccountField(field=secrets[0])} if len(secrets) == 1 else None


def _basic(spec: AppSpec, _: Auth) -> Mapping[str, AccountField] | None:
    for credential in spec.credentials:
        name, password = _ONE_FIELD.fullmatch(credential.username), _ONE_FIELD.fullmatch(credential.password)
        if credential.place == "basic" and name and password:
            return {"username": AccountField(field=name[1]), "password": AccountField(field=password[1])}
    return None


def _custom(spec: AppSpec, auth: Auth) -> Mapping[str, AccountField] | None:
    by_name = dict(_by_name(spec, auth))
    secrets = [field.name for field in spec.fields if field.secret]
    own = [name for name, each in auth.props.items() if isinstance(each, Mapping) and each.get("type") == "SECRET_TEXT"]
    if len(secrets) == len(own) == 1:
        by_name[own[0]] = AccountField(field=secrets[0])
    for name, described in auth.props.items():
        if name not in by_name and isinstance(described, Mapping) and described.get("required") is True:
            return None
    needed = {name for text in (spec.base_url or "", *spec.allowed_hosts) for name in fields_in(text)}
    return by_name if by_name and needed <= {field.field for field in by_name.values()} else None


def _by_name(spec: AppSpec, auth: Auth) -> dict[str, AccountField]:
    """The app's fields by the piece's names, if the names differ only in spelling."""
    own = {field.name.replace("_", ""): field.name for field in spec.fields}
    entered = connections.of_props(auth).of_piece or {}
    return {
        name: AccountField(field=own[field.field.replace("_", "")], kind=field.kind)
        for name, field in entered.items()
        if field.field.replace("_", "") in own
    }


@dataclass(frozen=True, slots=True)
class Apps:
    """``slug`` is the app of the components.

    ``files`` are the ``app.toml`` to write, by slug, and ``auth`` is the form of each app's accounts. ``left_out`` are
    ways to connect that cannot be expressed, and ``events_app`` is the app whose OAuth clients receive its events, or
    empty.
    """

    slug: str
    name: str
    files: Mapping[str, Mapping[str, Any]]
    auth: Mapping[str, AuthForm] = field(default_factory=dict)
    auth_type: str = "none"
    left_out: tuple[tuple[str, str], ...] = ()
    events_app: str = ""

    @property
    def made(self) -> tuple[str, ...]:
        """The slugs of the new apps."""
        return tuple(slug for slug, facts in self.files.items() if "joins" not in facts)


@dataclass(frozen=True, slots=True)
class Package:
    """The installed package of a piece; ``folder`` is relative to ``DATA/pieces``."""

    name: str
    version: str
    folder: str

    @property
    def docs_url(self) -> str:
        """The address of the documentation."""
        return f"https://www.npmjs.com/package/{self.name}"


def apps(
    description: Description,
    package: Package,
    catalog: Catalog,
    is_own: Callable[[str], bool],
    hosts: Sequence[str],
    keep: Mapping[str, str],
) -> Apps:
    """The apps of ``package``.

    ``is_own`` says whether the package added the app of a slug; ``keep`` are the members of a token response that it
    uses.
    """

    def standing(slug: str) -> App | None:
        app = catalog.app(slug)
        return None if app is None or is_own(app.slug) else app

    ways = [(index, auth) for index, way in enumerate(description.auth) if (auth := metadata.auth(way))]
    slug, title = keys.slug(package.name), texts.line(description.title, 60) or texts.label(keys.slug(package.name))
    app = standing(slug) or standing(slug.replace("_", ""))
    making = _Making(description, package, standing, hosts, keep)
    if app is not None and (joined := _joined(app, catalog, ways, is_own)):
        base, forms = joined
        used = {form.index for form in forms.values()}
        return _beside(base, forms, [way for way in ways if way[0] not in used], making)
    name = keys.title(title, package.name, lambda each: any(not is_own(other.slug) for other in catalog.named(each)))
    return making.new(keys.free_slug(slug, lambda each: standing(each) is not None), name, ways)


def _joined(
    app: App, catalog: Catalog, ways: Sequence[tuple[int, Auth]], is_own: Callable[[str], bool]
) -> tuple[App, dict[str, AuthForm]] | None:
    """The app that the piece joins, and the forms of the auth values of it and of its other auth types, by slug."""
    family = [app, *(other for other in catalog.ways(app) if not is_own(other.slug))]
    if not ways:
        return (app, {}) if app.auth_type == "none" else None
    forms = {each.slug: form for each in family if (form := agreeing(each, ways)) is not None}
    base = next((each for each in family if each.slug in forms), None)
    return None if base is None else (base, forms)


def _beside(base: App, auth: Mapping[str, AuthForm], others: Sequence[tuple[int, Auth]], making: "_Making") -> Apps:
    """The apps of a piece that joins ``base``, including those for auth types that ``base`` lacks."""
    files: dict[str, Mapping[str, Any]] = {base.slug: {"joins": base.slug}}
    forms, left_out = dict(auth), list[tuple[str, str]]()
    for index, each in others if base.spec.of is None else ():
        slug, name = making.way(base.slug, base.name, each, files)
        facts, form, reason = making.facts(index, each, slug, name)
        if form is None:
            left_out.append((name, reason))
        else:
            files[slug], forms[slug] = _of(base.slug, facts), form
    standing = [app for slug in auth if (app := making.standing(slug)) is not None]
    slugs = [app.slug for app in standing if app.auth_type == "oauth" and app.spec.event_webhook is not None]
    events_app = slugs[0] if slugs else _events_app(files)
    return Apps(base.slug, base.name, files, forms, base.auth_type, tuple(left_out), events_app)


@dataclass(frozen=True, slots=True)
class _Making:
    """The values that all new apps of a piece share."""

    description: Description
    package: Package
    standing: Callable[[str], App | None]
    hosts: Sequence[str]
    keep: Mapping[str, str]

    def new(self, slug: str, title: str, ways: Sequence[tuple[int, Auth]]) -> Apps:
        """One app, and another for each further auth type."""
        files: dict[str, Mapping[str, Any]] = {}
        forms, left_out = dict[str, AuthForm](), list[tuple[str, str]]()
        for index, each in ways:
            own, name = (slug, title) if not files else self.way(slug, title, each, files)
            facts, form, reason = self.facts(index, each, own, name)
            if form is None:
                left_out.append((texts.line(each.name, 60) or each.type, reason))
            else:
                files[own], forms[own] = (_of(slug, facts) if files else facts), form
        if not files:
            files[slug] = {**self._shown(slug, title), "auth_type": "none", "docs_url": self.package.docs_url}
        return Apps(slug, title, files, forms, str(files[slug]["auth_type"]), tuple(left_out), _events_app(files))

    def way(self, slug: str, title: str, auth: Auth, taken: Mapping[str, Any]) -> tuple[str, str]:
        """The slug and the name of the app for another auth type."""
        words = texts.line(auth.name, 30) if auth.name not in ("", "Connection") else _WORDS.get(auth.type, "other")
        ending = keys.slug(words)[:20]
        free = keys.free_slug(f"{slug[:29]}_{ending}", lambda each: each in taken or self.standing(each) is not None)
        return free, f"{title} ({words})"

    def facts(self, index: int, auth: Auth, slug: str, name: str) -> tuple[dict[str, Any], AuthForm | None, str]:
        """The ``app.toml`` of one way to connect and the form of its accounts, or why it cannot be expressed."""
        way = connection(index, auth, self.keep, self.package.docs_url)
        if way.form is None:
            return {}, None, way.reason
        hosts = [host for host in self.hosts if "{" not in host]
        facts = {
            **self._shown(slug, name),
            "docs_url": self.package.docs_url,
            **({"allowed_hosts": hosts} if hosts else {}),
            **way.facts,
            "test": {"kind": "piece", "source": self.package.docs_url},
            "piece": {
                "package": self.package.name,
                "folder": self.package.folder,
                "hosts": list(self.hosts),
                "auth": way.form.model_dump(mode="json", exclude_defaults=True),
            },
        }
        if way.facts["auth_type"] == "oauth" and self.description.tells_events:
            facts["piece_events"] = {"package": self.package.name, "folder": self.package.folder}
        return facts, way.form, ""

    def _shown(self, slug: str, name: str) -> dict[str, Any]:
        """The name, description and images of an app."""
        categories = [_CATEGORIES[each] for each in self.description.categories if each in _CATEGORIES]
        logo = logos.of_brand(slug) or logos.of_letter(slug, name)
        return {
            "slug": slug,
            "name": name,
            "description": _ended(texts.sentence(self.description.description, 300) or f"{name}, from npm."),
            "categories": list(dict.fromkeys(categories))[:3] or ["developer_tools"],
            "logo": logo.model_dump(exclude_none=True),
        }


def _events_app(files: Mapping[str, Mapping[str, Any]]) -> str:
    """The first new app of ``files`` whose OAuth clients receive events."""
    return next((slug for slug, facts in files.items() if "piece_events" in facts), "")


def _of(slug: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """``facts`` as those of another auth type of the app ``slug``, which shares its description and logo."""
    own = {name: value for name, value in facts.items() if name not in ("description", "categories", "logo")}
    return {"slug": own.pop("slug"), "of": slug, **own}


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(".") else f"{sentence.rstrip('!?…')}."
