"""Every page that somebody reaches by links, in every language: it is in one language as a whole.

Pages for everybody are in the person's language, Build and the set-up of an app in English, each with its menu. The
walk follows links and what htmx asks for, to a page or two of each route; the browser's tests look at the same pages
as they are drawn.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from babel.messages.extract import extract_from_dir
from werkzeug.exceptions import HTTPException
from werkzeug.routing import MapAdapter

from tests import messages
from tests.browser import english
from tests.dashboard.embedded import BASE, Embedded
from tests.fakes.deployed import emit, plant_trigger_of, switch
from tests.fakes.user_data import plant_account
from tests.messages import OTHERS
from tests.once.catalog import linked
from tests.service.domain.agents.planted import plant_agent, plant_approval
from webapp.kit import translation
from webapp.kit.clock import FakeClock
from webapp.service.domain.accounts import account_state as accounts
from webapp.service.domain.components import runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.deliveries import trigger_webhooks
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.triggers import lifecycle as triggers
from webapp.settings import Settings

# German is walked by everybody, the others by an owner, who sees the most.
ROLES = {"de": ("owner", "member")}
OF_EACH_ROUTE = {"de": 2}
STARTS = (
    "/apps", "/apps/github", "/apps?q=zzzz", "/nowhere", "/agents?app=sandbox", "/logs?kind=agent",
    "/logs?kind=account&status=failed",
)  # fmt: skip
# Other sites and formats; the manual and the sandbox are in English.
ELSEWHERE = re.compile(r"/(static|_static|docs|v1|openapi|receiver|sandbox|portal|logo)\b|export\.|/sign-out")
MACRO = "&lt;Macro &#39;"  # how one is written out
FOREIGN = {"script", "style", "template", "noscript", "code", "pre", "kbd", "samp", "textarea"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
SPOKEN = ("aria-label", "title", "placeholder", "alt")


class Page(HTMLParser):
    """What a page says, its language, and where it leads."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.language, self.texts, self.links = "", set[str](), list[str]()
        self._open: list[tuple[str, bool]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        silent = tag in FOREIGN or values.get("translate") == "no" or (tag != "html" and "lang" in values)
        silent = silent or self._silent
        if tag == "html":
            self.language = values.get("lang") or ""
        if tag not in VOID:
            self._open.append((tag, silent))
        self.links += [value for name in ("href", "hx-get") if (value := values.get(name))]
        if not silent:
            self.texts |= {" ".join(value.split()) for name in SPOKEN if (value := values.get(name))}

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._silent and (text := " ".join(data.split())):
            self.texts.add(text)

    @property
    def _silent(self) -> bool:
        return bool(self._open) and self._open[-1][1]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory, built_catalog: Path, migrated: Path) -> Iterator[Embedded]:
    """The dashboard, whose owner and member have accounts, runs, triggers and agents in several states."""
    data = tmp_path_factory.mktemp("languages")
    shutil.copy(migrated, data)
    linked(built_catalog, data)
    clock = FakeClock()
    settings = Settings.from_env({}, data=data)
    service = open_service(settings, clock)
    embedded = Embedded(service, settings, clock)
    for role in ("owner", "member"):
        furnish(embedded, embedded.people[role].id)
    yield embedded
    close_service(service)
    translation.speak(translation.DEFAULT)


def furnish(office: Embedded, user: str) -> None:
    """Give ``user`` one of everything, and of accounts and triggers one in each state."""
    service, scene = office.service, office.scene
    working, dead, retrying = (
        plant_account(service, scene, user, app, {"api_key": "good"}, identity_name=name)
        for app, name in (("sandbox", "Ada"), ("sandbox", "Grace"), ("sandbox_keys", "k-1"))
    )
    accounts.mark_dead(service, dead, "Sandbox Tasks no longer accepts this authorization. Connect the account again.")
    accounts.mark_retrying(service, retrying, "localhost did not answer in time. Try again later.")
    props = {"sandbox": {"authProvisionId": working.id}}
    active, off, paused, waits = (
        plant_trigger_of(service, scene, key, values, user=user)[0]
        for key, values in (
            ("http-new-requests", {}),
            ("http-new-requests", {}),
            ("sandbox-new-task", props),
            ("sandbox-new-task", {"sandbox": {"authProvisionId": dead.id}}),
        )
    )
    assert waits
    trigger_webhooks.change_urls(service, active, ["https://app.example.com/events"])
    emit(service, active, {"n": 1})
    switch(service, paused, active=False)
    with service.store.write() as tx:
        triggers.switch_off(tx, service, off, "Its Sandbox Tasks account Ada was disconnected; choose another account.")
    component = service.catalog.component("sandbox-create-task")
    assert component is not None
    for error in ("", "The component was still working after 30 s, so it was stopped. Ask for less, or try again."):
        run = Run(
            user, component.id, component.key, component.version, component.app, service.clock(), error=error or None
        )
        runs.begin(service, scene, run, {"component_key": component.key, "configured_props": {}, "masked_props": []})
        runs.end(service, scene, run, outputs={"exports": None, "os": [], "ret": None if error else [{"n": 1}]})
    plant_approval(service, scene, plant_agent(service, scene, user))


def walk(office: Embedded, role: str, tag: str) -> Iterator[tuple[str, Page]]:
    """The pages that ``role`` reaches, by their paths."""
    client = office.browser(role).client
    routes = office.app.url_map.bind(urlsplit(BASE).netloc)
    waiting, seen, counts = list(STARTS), set[str](), Counter[str]()
    while waiting:
        path = waiting.pop(0)
        route = _route(routes, path)
        if (
            path in seen
            or ELSEWHERE.search(path)
            or (counts[route] >= OF_EACH_ROUTE.get(tag, 1) and path not in STARTS)
        ):
            continue
        seen.add(path)
        answer = client.get(path, base_url=BASE, headers={"Accept-Language": tag})
        if answer.location:
            waiting.append(urljoin(path, answer.location.removeprefix(BASE)))
        if answer.mimetype != "text/html" or answer.location or not answer.text:
            continue
        assert answer.status_code < 500, (path, answer.text[:2000])
        assert MACRO not in answer.text, f"{path} shows a macro, imported by the name of what it means to show"
        counts[route] += 1
        page = Page(answer.text)
        yield path, page
        links = (urljoin(path, link).partition("#")[0].removeprefix(BASE) for link in page.links)
        waiting += [link for link in links if link.startswith("/")]


def _route(routes: MapAdapter, path: str) -> str:
    try:
        return str(routes.match(urlsplit(path).path)[0])
    except HTTPException:
        return path


@cache
def of_build() -> frozenset[str]:
    """What pages of Build say."""
    methods = [("**.html", "jinja2"), ("**.py", "python")]
    return frozenset(
        str(message)
        for folder in ("templates", "webapp")
        for _file, _line, message, _comments, _context in extract_from_dir(
            messages.ROOT / folder / "dashboard" / "build", methods, keywords=messages.KEYWORDS
        )
    )


@cache
def translations(tag: str) -> frozenset[str]:
    """What is said in ``tag`` and not in English."""
    known = english.messages(tag)
    return frozenset(known.values()) - known.keys() - of_build()


def foreign(page: Page, tag: str, default: str = "") -> list[str]:
    """The texts that are not in the language of ``page``, for a reader of ``tag``; a part has that of ``default``."""
    language = page.language or default
    if language == translation.DEFAULT:
        return sorted(page.texts & translations(tag))
    known = english.messages(tag)
    only_of_build = of_build() - known.keys()
    return sorted(
        text
        for text in page.texts - english.NAMES
        if (text in only_of_build or known.get(text, text) != text or english.reads_like_english(text))
        and not english.waiting(tag).fullmatch(text)
    )


@pytest.mark.parametrize("tag", OTHERS)
def test_no_page_mixes_languages(office: Embedded, tag: str) -> None:
    wrong, languages = dict[str, list[str]](), Counter[str]()
    for role in ROLES.get(tag, ("owner",)):
        for path, page in walk(office, role, tag):
            default = translation.DEFAULT if path.startswith("/build") else tag
            languages[page.language or default] += 1
            if found := foreign(page, tag, default):
                wrong[f"{role} {path}"] = found
    assert wrong == {}
    assert languages.keys() == {tag, translation.DEFAULT}
    assert languages[tag] > 20 and languages[translation.DEFAULT] > 10


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<html lang="de"><p>Speichern</p><code>Save</code></html>', []),
        ('<html lang="de"><p>Save</p><b lang="en">Cancel</b></html>', ["Save"]),
        ('<html lang="de"><button aria-label="Close">x</button><br><p>Rate limits</p>', ["Close", "Rate limits"]),
        ('<html lang="de"><p>It is what you said.</p></html>', ["It is what you said."]),
        ('<html lang="en"><p>Save</p><p>Abbrechen</p></html>', ["Abbrechen"]),
        ("<p>Cancel</p>", ["Cancel"]),
    ],
)
def test_a_page_in_two_languages_is_found(html: str, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(english, "waiting", lambda _: re.compile("(?!)"))  # looking for it takes seconds
    assert foreign(Page(html), "de", "de") == found
