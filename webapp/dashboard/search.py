"""Search in everything that a person may open: pages, apps, accounts, triggers, actions and the manual.

It is a page, and the same form and answer in a dialog that Ctrl+K or ⌘K opens on every other page. What is found is
what the lists of the dashboard show to this person: their own accounts and triggers, and the pages of their role.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from flask import Blueprint, abort, g, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import shell
from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.models.accounts import AppOfAccount
from webapp.dashboard.client.models.components import FoundComponent
from webapp.dashboard.dashboard import (
    app_of,
    dashboard,
    if_up,
    known_accounts,
    known_apps,
    known_triggers,
    search_components,
)
from webapp.dashboard.pages import page
from webapp.kit.translation import gettext, translated
from webapp.kit.translation import lazy as _

blueprint = Blueprint("search", __name__)

EACH = 5  # of one kind
MAX_QUERY, SHORTEST_QUERY = 100, 2  # characters


@dataclass(frozen=True, slots=True)
class Hit:
    """What was found: its name and what stands below it, and an app's logo or the name of an icon."""

    label: str
    url: str
    note: str = ""
    app: AppOfAccount | None = None
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Hits:
    """What was found of one kind, best first; ``label`` is the kind."""

    label: str
    hits: Sequence[Hit]
    lang: str = ""


@blueprint.get("/search")
def index() -> AnyResponse:
    """What a query finds; without one, the pages. For htmx only the results."""
    if g.get("portal"):
        abort(404)
    q = " ".join(request.args.get("q", "")[:MAX_QUERY].split())
    found_by_kind = [group for group in _groups(q) if group.hits]
    return page(
        "dashboard/search/index.html",
        "dashboard/search/_results.html",
        q=q,
        groups=found_by_kind,
        count=sum(len(group.hits) for group in found_by_kind),
        down=g.get("service_failed", False),
    )


def _groups(q: str) -> Iterable[Hits]:
    pages = [Hit(str(label), url, icon=icon) for label, url, icon in shell.pages()]
    if not q:
        return [Hits(gettext("Pages"), pages)]
    words = q.casefold().split()
    groups = [Hits(gettext("Pages"), _fitting(pages, words))]
    if len(q) >= SHORTEST_QUERY:
        groups += [
            Hits(gettext("Apps"), if_up(partial(_apps, q)) or ()),
            Hits(gettext("Accounts"), if_up(partial(_accounts, words)) or ()),
            Hits(gettext("Triggers"), if_up(partial(_triggers, words)) or ()),
            Hits(gettext("Actions and triggers"), if_up(partial(_components, q)) or ()),
        ]
    manual = [Hit(heading, url, page_title, icon="docs") for page_title, heading, url in dashboard().headings(q)[:EACH]]
    return [*groups, Hits(gettext("Manual"), manual, lang="en")]


def _fitting(hits: Iterable[Hit], words: Sequence[str]) -> list[Hit]:
    """Those in which every word occurs; first those whose name begins with the first word."""
    fitting = [hit for hit in hits if all(word in f"{hit.label} {hit.note}".casefold() for word in words)]
    return sorted(fitting, key=lambda hit: not hit.label.casefold().startswith(words[0]))[:EACH]


def _apps(q: str) -> list[Hit]:
    apps = known_apps(AppFilter(q, "", False, False, "featured_weight", "desc"), limit=EACH)
    return [Hit(app.name, shell.app_url(app.slug), app=app) for app in apps.items]


def _accounts(words: Sequence[str]) -> list[Hit]:
    accounts = known_accounts().accounts
    hits = [Hit(each.title, shell.account_url(each.id), each.app.name, each.app) for each in accounts]
    return _fitting(hits, words)


def _triggers(words: Sequence[str]) -> list[Hit]:
    triggers = known_triggers().items
    hits = [
        Hit(each.title, url_for("dashboard.trigger.show", trigger_id=each.id, tab="events"), icon="triggers")
        for each in triggers
    ]
    return _fitting(hits, words)


def _components(q: str) -> list[Hit]:
    listed = search_components(q, EACH, [slug for slug, _name in known_accounts().apps()])
    return [hit for component in listed.items if (hit := _component(component))] if listed else []


_NOUNS = {"actions": _("action"), "triggers": _("trigger")}


def _component(component: FoundComponent) -> Hit | None:
    app = app_of(component.app)
    if app is None:
        return None
    url = url_for("dashboard.component.show", slug=app.slug, kind=component.kind, key=component.key)
    return Hit(translated(component.name), url, f"{app.name} · {_NOUNS[component.kind]}", app)
