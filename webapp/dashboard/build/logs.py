"""Build → Logs: everything that happened in the project and environment, to whomever."""

from webapp.dashboard.build import menu
from webapp.dashboard.logs import PROJECT, add_views

blueprint = menu.blueprint("logs")
add_views(blueprint, PROJECT, "")
