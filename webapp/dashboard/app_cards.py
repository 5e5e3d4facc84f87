"""The cards of apps: what one shows of its app, and those that were drawn before.

A card is kept by its app, group, badge and language, for as long as the service says the same of what it shows.
A card that names who can set the app up, has the address of a portal in its link or wants the focus is drawn each time,
so what is kept is the same for everybody in the project.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self, cast

from flask import current_app, g
from markupsafe import Markup

from webapp.dashboard import shell
from webapp.dashboard.app_groups import STATES, Group
from webapp.dashboard.client.models.accounts import App, Extras
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.words import AUTH
from webapp.kit.translation import gettext, language

Badge = tuple[str, str]  # its text and tone
_NOTHING = Extras()


class Shown(NamedTuple):
    """What a card shows of its app, whose page is at ``slug``."""

    slug: str
    name: str
    logo: str
    description: str
    auth: str
    connects: str
    curated: bool
    added: bool
    actions: int
    triggers: int

    @classmethod
    def of(cls, app: App) -> Self:
        """That of ``app``."""
        has = app.extras or _NOTHING
        return cls(
            app.slug, app.name, app.logo, app.description, app.ways_to_connect,
            has.connects, has.origin is None, has.added, has.actions or 0, has.triggers or 0,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cards:
    """Draws the cards of one page. ``badges`` has those of connected apps by slug.

    ``set_up_by`` is who can set an app up, as the viewer reads it; "" for viewers who can.
    """

    badges: Mapping[str, Badge]
    set_up_by: str

    def of(self, group: Group, *, focus: bool) -> Markup:
        """The cards of ``group``; with ``focus``, the link of the first one gets it."""
        who = self.set_up_by if group.state == "setup" else ""
        if who or g.get("portal"):
            cards = [
                _drawn(Shown.of(app), group.state, self.badges.get(app.slug), who, focus and place == 0)
                for place, app in enumerate(group.apps)
            ]
        else:
            cards = self._kept(group, focus)
        return Markup("").join(cards)

    def _kept(self, group: Group, focus: bool) -> list[Markup]:
        """The cards as they were drawn before, or else drawn now."""
        memory, end, cards = dashboard().cards, viewer().here(f"{group.state} {language()}"), list[Markup]()
        for app in group.apps:
            badge = self.badges.get(app.slug)
            shown = Shown.of(app)
            if focus and not cards:
                cards.append(_drawn(shown, group.state, badge, "", True))
                continue
            key = f"{app.slug} {badge[0] if badge else ''} {end}"
            known, card = memory.get(key) or (None, Markup())
            if known != shown:
                card = memory.put(key, (shown, _drawn(shown, group.state, badge, "", False)))[1]
            cards.append(card)
        return cards


def _drawn(app: Shown, state: str, badge: Badge | None, who: str, focus: bool) -> Markup:
    draw = cast(
        Callable[..., Markup],
        current_app.jinja_env.get_template("dashboard/apps/_card.html").module.card,  # type: ignore[attr-defined]
    )
    auth, source = AUTH.get(app.auth, app.auth), _source(app)
    return draw(
        app.name,
        shell.app_url(app.slug),
        shell.logo_url(app.logo),
        f"{auth} · {source}" if source else auth,
        app.description,
        badge or _mark(app, state),
        state == "setup",
        who,
        app.actions,
        app.triggers,
        focus,
    )


def _source(app: Shown) -> str:
    """Where the app is from; "" for one that comes with Patchbay."""
    if not app.curated:
        return gettext("Not curated")
    if app.connects:
        return gettext("MCP server")
    return gettext("Added here") if app.added else ""


def _mark(app: Shown, state: str) -> Badge | None:
    """The badge of an app that is not connected; None if the service does not say whether it is ready."""
    if state == "ready" and app.connects == "registers":
        return gettext("Nothing to set up"), "open"
    return (STATES[state], "todo" if state == "setup" else "open") if state else None
