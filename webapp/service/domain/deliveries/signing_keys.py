"""New signing keys, and those of a project (table ``signing_keys``), one for each environment.

These sign what goes to the project webhook, Connect notifications and general webhooks. One is made when it is first
needed, sealed, and shown only when the project webhook is made or the key is regenerated.
"""

import base64

from webapp import audit
from webapp.kit.crypto import new_key
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Tx

PREFIX = "whsec_"
SEALED = SealedColumn("signing_keys", "key_sealed")
_SELECT = "SELECT key_sealed FROM signing_keys WHERE id = :id"


def new_signing_key() -> str:
    """A new key to sign deliveries with, 256 random bits, such as ``whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw…``."""
    return PREFIX + base64.b64encode(new_key()).decode()


def ensure(tx: Tx, service: Service, scene: Scene) -> None:
    """Give ``scene`` a signing key, unless it has one."""
    if tx.one(_SELECT, {"id": _id(scene)}) is None:
        _write(tx, service, scene, new_signing_key())


def regenerate(tx: Tx, service: Service, scene: Scene) -> str:
    """Replace the signing key of ``scene``. Later deliveries are signed with the new one."""
    key = new_signing_key()
    _write(tx, service, scene, key)
    sentence = f"The signing key of {scene.environment} was replaced."
    audit.write(tx, service.clock(), "key", scene.project_id, "regenerated", sentence, **scene.params)
    return key


def key_of(service: Service, scene: Scene) -> str:
    """The key of ``scene``, made now when there is none yet. Not to be called inside a transaction."""
    row = service.store.one(_SELECT, {"id": _id(scene)})
    if row is None:
        with service.store.write() as tx:
            ensure(tx, service, scene)
        return key_of(service, scene)
    return SEALED.open(service, scene.project_id, _id(scene), row["key_sealed"]).decode()


def _write(tx: Tx, service: Service, scene: Scene, key: str) -> None:
    sealed = SEALED.seal(service, tx, scene.project_id, _id(scene), key.encode())
    tx.run(
        "INSERT INTO signing_keys (id, project_id, key_sealed, created_at, updated_at) "
        "VALUES (:id, :project, :sealed, :now, :now) "
        "ON CONFLICT (id) DO UPDATE SET key_sealed = excluded.key_sealed, updated_at = excluded.updated_at",
        {"id": _id(scene), "project": scene.project_id, "sealed": sealed, "now": service.clock()},
    )


def _id(scene: Scene) -> str:
    return f"{scene.project_id}|{scene.environment}"
