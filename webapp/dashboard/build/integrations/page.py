"""Build → Integrations: apps that Patchbay does not bring along are found by name, looked at and added from npm."""

from webapp.dashboard.build.integrations import adding, finding, frame, showing

blueprint = frame.blueprint
__all__ = ["adding", "blueprint", "finding", "showing"]
