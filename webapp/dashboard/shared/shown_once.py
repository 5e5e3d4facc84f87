"""New secrets for the page that follows their creation (table ``shown_once``).

Any web process may render that page, so they are in the store, in boxes that only a key of the installation opens. Each
is shown until the person has seen it, for five minutes at most. Expired boxes are removed when the next is stored.
"""

import json
from dataclasses import dataclass

from webapp.kit import crypto
from webapp.kit.clock import MINUTE, Clock
from webapp.kit.crypto import CannotOpen
from webapp.store.contract import Store

LIFETIME = 5 * MINUTE
_PURPOSE = "shown-once"


@dataclass(frozen=True, slots=True)
class ShownOnce:
    """All of them. ``key`` is one of the installation's."""

    store: Store
    clock: Clock
    key: bytes

    def put(self, name: str, sentence: str, secret: str) -> None:
        """Store ``secret``, and a ``sentence`` about it, for the page called ``name``."""
        content = json.dumps([sentence, secret]).encode()
        box, now = crypto.seal(crypto.derive(self.key, _PURPOSE), content, name), self.clock()
        with self.store.write() as tx:
            tx.run("DELETE FROM shown_once WHERE until <= :now", {"now": now})
            tx.run(
                "INSERT INTO shown_once (name, secret_box, until) VALUES (:name, :box, :until) "
                "ON CONFLICT (name) DO UPDATE SET secret_box = excluded.secret_box, until = excluded.until",
                {"name": name, "box": box, "until": now + LIFETIME},
            )

    def get(self, name: str) -> tuple[str, str] | None:
        """The sentence and the secret for the page called ``name``, if there is one."""
        row = self.store.one(
            "SELECT secret_box FROM shown_once WHERE name = :name AND until > :now",
            {"name": name, "now": self.clock()},
        )
        if row is None:
            return None
        try:
            box = crypto.open_sealed(crypto.derive(self.key, _PURPOSE), row["secret_box"], name)
        except CannotOpen:  # the key of the installation was replaced
            return None
        sentence, secret = json.loads(box)
        return sentence, secret

    def drop(self, name: str) -> None:
        """It was seen."""
        with self.store.write() as tx:
            tx.run("DELETE FROM shown_once WHERE name = :name", {"name": name})
