"""The names of actions as MCP tools (contract "Agents"): the key of the action with ``_`` for other characters.

A name has at most 64 letters, digits and ``_``, which strict clients accept. If two keys would share a name, or a key
is too long, the name ends with a hash of the key, so that it is stable.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

MAX_NAME = 64
SEARCH, RUN, OPTIONS, CONFIGURATION = "search_tools", "run_tool", "list_options", "begin_configuration"
UPLOAD = "upload_file"
RESERVED = frozenset({SEARCH, RUN, OPTIONS, CONFIGURATION, UPLOAD})
"""The tools beside the actions."""
_HASH = 6
_OTHERS = re.compile("[^a-zA-Z0-9_]")


class NamedAction(NamedTuple):
    """An action with its tool name; ``app`` is the slug of its app."""

    name: str
    key: str
    app: str | None


class ToolNames:
    """The tool names of ``actions``, pairs of a key and an app's slug. Actions of ``unlisted`` keys are in no list, nor
    are those of ``searched`` keys, which are operations of an app's whole API and found by a search only.

    Instances are immutable.
    """

    def __init__(
        self,
        actions: Iterable[tuple[str, str | None]],
        unlisted: Collection[str] = (),
        searched: Collection[str] = (),
    ) -> None:
        hidden = {*unlisted, *searched}
        self.by_name: dict[str, NamedAction] = {}
        self.by_key: dict[str, NamedAction] = {}
        self.searched = frozenset(searched)
        self._searched = set[str | None]()
        apps = defaultdict[str | None, list[NamedAction]](list)
        for key, app in sorted(actions, key=lambda action: action[0]):  # ~ sorts the operator's own components last
            action = NamedAction(self._free(key), key, app)
            self.by_name[action.name] = self.by_key[key] = action
            if key not in hidden:
                apps[app].append(action)
            elif key in searched:
                self._searched.add(app)
        self._by_app = {app: sorted(actions) for app, actions in apps.items()}
        self.without_app: Sequence[NamedAction] = self._by_app.get(None, ())
        self._sorted = sorted(action for action in self.by_name.values() if action.key not in hidden)

    def of_apps(self, slugs: Sequence[str]) -> list[NamedAction]:
        """The actions of these apps, sorted by name; of all apps if there are no slugs."""
        if not slugs:
            return self._sorted
        return sorted(action for slug in dict.fromkeys(slugs) for action in self._by_app.get(slug, ()))

    def is_searched(self, slugs: Sequence[str]) -> bool:
        """Whether one of these apps, or of all apps if there are no slugs, has actions that only a search finds."""
        return not self._searched.isdisjoint(slugs) if slugs else bool(self._searched)

    def _free(self, key: str) -> str:
        name = _OTHERS.sub("_", key).strip("_") or "action"
        if len(name) <= MAX_NAME and name not in self.by_name and name not in RESERVED:
            return name
        return f"{name[: MAX_NAME - _HASH - 1]}_{hashlib.sha256(key.encode()).hexdigest()[:_HASH]}"
