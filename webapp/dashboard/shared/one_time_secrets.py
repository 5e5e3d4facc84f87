"""New secrets, which a page shows once, after they were made (table ``shown_once``).

Any web process may render that page, so they are stored, sealed by a key of the installation. Each is shown until the
person confirms that they have it, for five minutes at most. Expired ones are deleted when the next is stored.
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
class OneTimeSecrets:
    """The secrets of all pages. ``key`` is one of the installation's."""

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
        """Delete the secret of the page called ``name``: it was seen."""
        with self.store.write() as tx:
            tx.run("DELETE FROM shown_once WHERE name = :name", {"name": name})
