"""Every page is looked at in a browser: its address stands in a test that looks with axe, or it is reached by links.

Needs no browser itself.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from flask import Flask
from werkzeug.exceptions import HTTPException

from tests.fakes.installation import Installation

FOLDER = Path(__file__).parent
PAGES = {"dashboard", "link", "manual", "api_reference"}
BY_LINKS = {
    "dashboard.agents_consent.page": "agents/test_conversation.py",
    "dashboard.build_apps.ask_api_removal": "build/test_whole_api.py",
    "dashboard.build_apps.show_api_update": "build/test_whole_api.py",
    "dashboard.build_integrations.ask_directory_removal": "build/test_directory.py",
    "dashboard.build_integrations.ask_import_removal": "build/test_imports.py",
    "dashboard.build_integrations.preview_of_directory": "build/test_directory.py",
    "dashboard.build_integrations.removal_page": "build/test_integrations_changing.py",
    "dashboard.build_integrations.show": "build/test_integrations_changing.py",
    "dashboard.build_integrations.update_page": "build/test_integrations_changing.py",
    "dashboard.build_keys.entry": "test_build_keys.py",
    "dashboard.build_logs.entry": "test_dashboard_pages.py",
    "dashboard.runs.entry": "test_component.py",
    "link.ask_to_stop_mails": "test_reconnect_mails.py",
    "link.ended": "test_link.py",
    "link.of_session": "test_link.py",
    "link.show_mailed_accounts": "test_reconnect_mails.py",
    "manual.find": "test_manual.py",
    "manual.page": "test_manual.py",
}
"""Pages whose addresses hold what only the page before knows, and the test that goes there and looks with axe."""
FRAGMENTS = {
    "dashboard.agents.waiting_count", "dashboard.agents.waiting_now", "dashboard.build_embed.token_now",
    "dashboard.build_integrations.directory_progress", "dashboard.build_integrations.list_packages",
    "dashboard.build_integrations.progress", "dashboard.build_keys.news", "dashboard.build_logs.news",
    "dashboard.build_project_brand.readable", "dashboard.logs.news", "dashboard.runs.news",
    "dashboard.trigger.around", "dashboard.trigger.news",
}  # fmt: skip
"""Parts that htmx puts into a page."""
FILES = {
    "dashboard.build_logs.export", "dashboard.files.download", "dashboard.logs.export", "dashboard.runs.result_csv",
    "dashboard.runs.result_json", "dashboard.trigger.payload", "manual.file",
}  # fmt: skip
REDIRECTS = {
    "dashboard.audit.moved", "dashboard.connections.done", "dashboard.logs.activity", "dashboard.oidc.begin",
    "dashboard.settings.formerly", "dashboard.start.next_steps", "link.open_mailed_link", "link.start",
}  # fmt: skip


def texts() -> Iterator[str]:
    """The texts of the tests that look with axe; what is put in stands as ``id``."""
    for file in FOLDER.rglob("*.py"):
        source = file.read_text("utf-8")
        if "axe" in source or file.name == "language_stage.py":
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.JoinedStr):
                    yield "".join(str(part.value) if isinstance(part, ast.Constant) else "id" for part in node.values)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def named(app: Flask) -> set[str]:
    """The endpoints of the addresses in :func:`texts`, which may follow a host that is put in."""
    routes, endpoints = app.url_map.bind("localhost"), set[str]()
    for text in texts():
        path = text.removeprefix("id").partition("?")[0].partition("#")[0]
        try:
            endpoints |= {str(routes.match(path, method="GET")[0])} if path.startswith("/") else set()
        except HTTPException:
            continue
    return endpoints


def test_each_page_is_in_a_list_of_pages_that_are_looked_at_in_a_browser(data: Path) -> None:
    made = Installation(data)
    try:
        served = {rule.endpoint for rule in made.app.url_map.iter_rules() if "GET" in (rule.methods or ())}
        visited = named(made.app)
    finally:
        made.stop()
    answers = {endpoint for endpoint in served if endpoint.partition(".")[0] in PAGES}
    others = BY_LINKS.keys() | FRAGMENTS | FILES | REDIRECTS
    assert len(answers) > 100 and answers >= others
    assert answers - visited - others == set()


def test_pages_that_are_reached_by_links_are_looked_at() -> None:
    assert [file for file in BY_LINKS.values() if "axe(" not in (FOLDER / file).read_text("utf-8")] == []
