"""Build → Logs: everything that happened in the project and environment, to whomever."""

from webapp.dashboard.build import frame
from webapp.dashboard.dashboard import has_logs
from webapp.dashboard.logs import PROJECT, add_views

blueprint = frame.blueprint("logs", frame.BuildPage("logs", 3, offered=has_logs))
add_views(blueprint, PROJECT, "")
