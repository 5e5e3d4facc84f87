"""The apps of a piece: one that is there already and connects as the piece does, or new ones, one for each way.

Of several ways the first is the app, and the others are other ways to connect it (``of``). Where a built-in app agrees
with one of them, it is the app, and those that it does not have are brought beside it. A new app never has the name of
another: names stand alone in many places, and nobody could tell the two apart.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.service.catalog import logos
from webapp.service.catalog.app import App
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.spec import Logo
from webapp.service.components.pieces import texts
from webapp.service.components.pieces.form import AuthForm
from webapp.service.pieces import keys, metadata
from webapp.service.pieces.connecting import joining
from webapp.service.pieces.connecting.connections import connection
from webapp.service.pieces.metadata import Auth, Description

COLORS = ("#0f766e", "#1d4ed8", "#6d28d9", "#9d174d", "#9a3412", "#3f6212", "#0e7490", "#4338ca")
_CATEGORIES = {
    "ACCOUNTING": "accounting", "ANALYTICS": "analytics", "ARTIFICIAL_INTELLIGENCE": "artificial_intelligence",
    "BUSINESS_INTELLIGENCE": "analytics", "COMMERCE": "ecommerce", "COMMUNICATION": "communication",
    "CONTENT_AND_FILES": "file_storage", "CORE": "developer_tools", "CUSTOMER_SUPPORT": "customer_support",
    "DEVELOPER_TOOLS": "developer_tools", "FORMS_AND_SURVEYS": "forms", "HUMAN_RESOURCES": "hr",
    "MARKETING": "marketing", "PAYMENT_PROCESSING": "payments", "PRODUCTIVITY": "productivity",
    "SALES_AND_CRM": "crm",
}  # fmt: skip
_WORDS = {"OAUTH2": "sign-in", "SECRET_TEXT": "key", "BASIC_AUTH": "password", "CUSTOM_AUTH": "keys"}


@dataclass(frozen=True, slots=True)
class Apps:
    """``slug`` is the app to which the components belong. ``files`` are the ``app.toml`` to write, by slug, and
    ``auth`` says of each app what its accounts become. ``left_out`` are ways to connect that cannot be said, and
    ``hearing`` is the app whose OAuth clients are told its events, empty for none."""

    slug: str
    name: str
    files: Mapping[str, Mapping[str, Any]]
    auth: Mapping[str, AuthForm] = field(default_factory=dict)
    auth_type: str = "none"
    left_out: tuple[tuple[str, str], ...] = ()
    hearing: str = ""

    @property
    def made(self) -> tuple[str, ...]:
        """The slugs of those that are new."""
        return tuple(slug for slug, facts in self.files.items() if "joins" not in facts)


@dataclass(frozen=True, slots=True)
class Package:
    """The installed package that a piece is: ``folder`` is its place in ``DATA/pieces``."""

    name: str
    version: str
    folder: str

    @property
    def docs_url(self) -> str:
        """Where people read about it."""
        return f"https://www.npmjs.com/package/{self.name}"


def apps(
    description: Description,
    package: Package,
    catalog: Catalog,
    is_own: Callable[[str], bool],
    hosts: Sequence[str],
    keep: Mapping[str, str],
) -> Apps:
    """The apps of ``package``. ``is_own`` tells whether the package itself brought the app of a slug; ``keep`` is what
    it looks at of a token answer."""

    def standing(slug: str) -> App | None:
        app = catalog.app(slug)
        return None if app is None or is_own(app.slug) else app

    ways = [(index, auth) for index, told in enumerate(description.auth) if (auth := metadata.auth(told))]
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
    """The app whose components they become, and what accounts of it and of its other ways to connect become."""
    family = [app, *(other for other in catalog.ways(app) if not is_own(other.slug))]
    if not ways:
        return (app, {}) if app.auth_type == "none" else None
    forms = {each.slug: form for each in family if (form := joining.agreeing(each, ways)) is not None}
    base = next((each for each in family if each.slug in forms), None)
    return None if base is None else (base, forms)


def _beside(base: App, auth: Mapping[str, AuthForm], others: Sequence[tuple[int, Auth]], making: "_Making") -> Apps:
    """Those of a piece whose components join ``base``: the other ways to connect, where the app has no such yet."""
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
    told = [app.slug for app in standing if app.auth_type == "oauth" and app.spec.told is not None]
    hearing = told[0] if told else _hearing(files)
    return Apps(base.slug, base.name, files, forms, base.auth_type, tuple(left_out), hearing)


@dataclass(frozen=True, slots=True)
class _Making:
    """What all new apps of a piece share."""

    description: Description
    package: Package
    standing: Callable[[str], App | None]
    hosts: Sequence[str]
    keep: Mapping[str, str]

    def new(self, slug: str, title: str, ways: Sequence[tuple[int, Auth]]) -> Apps:
        """One app, and another for each further way to connect it."""
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
        return Apps(slug, title, files, forms, str(files[slug]["auth_type"]), tuple(left_out), _hearing(files))

    def way(self, slug: str, title: str, auth: Auth, taken: Mapping[str, Any]) -> tuple[str, str]:
        """The slug and the name of another way to connect."""
        words = texts.line(auth.name, 30) if auth.name not in ("", "Connection") else _WORDS.get(auth.type, "other")
        ending = keys.slug(words)[:20]
        free = keys.free_slug(f"{slug[:29]}_{ending}", lambda each: each in taken or self.standing(each) is not None)
        return free, f"{title} ({words})"

    def facts(self, index: int, auth: Auth, slug: str, name: str) -> tuple[dict[str, Any], AuthForm | None, str]:
        """What the ``app.toml`` of one way to connect says, and what its accounts become; or why it cannot be said."""
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
        """What people see of an app."""
        categories = [_CATEGORIES[each] for each in self.description.categories if each in _CATEGORIES]
        icon = Logo(icon=slug.replace("_", ""))
        letter = next((character for character in name if character.isalnum()), "P").upper()[:1]
        drawn = {"letter": letter, "color": COLORS[zlib.crc32(slug.encode()) % len(COLORS)]}
        return {
            "slug": slug,
            "name": name,
            "description": _ended(texts.sentence(self.description.description, 300) or f"{name}, from npm."),
            "categories": list(dict.fromkeys(categories))[:3] or ["developer_tools"],
            "logo": {"icon": icon.icon} if logos.exists(icon) else drawn,
        }


def _hearing(files: Mapping[str, Mapping[str, Any]]) -> str:
    """The first new app of ``files`` whose OAuth clients are told events."""
    return next((slug for slug, facts in files.items() if "piece_events" in facts), "")


def _of(slug: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of another way to connect the app ``slug``, which it looks like."""
    own = {name: value for name, value in facts.items() if name not in ("description", "categories", "logo")}
    return {"slug": own.pop("slug"), "of": slug, **own}


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(".") else f"{sentence.rstrip('!?…')}."
