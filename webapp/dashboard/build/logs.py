"""Build → Logs: everything that happened in the project and environment, to whomever."""

from webapp.dashboard.build import menu
from webapp.dashboard.dashboard import has_logs
from webapp.dashboard.logs import PROJECT, add_views
from webapp.people import roles

blueprint = menu.blueprint("logs", menu.BuildPage("logs", 3, roles.DEVELOPERS, offered=has_logs))
add_views(blueprint, PROJECT, "")
