"""The keys that seal what authenticator apps know: those of the whole installation."""

from dataclasses import dataclass

from webapp.service.domain.base.keyring import INSTANCE
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.store.contract import Tx

SEALED = SealedColumn("totp_secrets", "secret_sealed", key="user_id", owner=f"'{INSTANCE}'")


@dataclass(frozen=True, slots=True)
class TotpSealer:
    """Seals the secrets of :mod:`webapp.people.totp`."""

    service: Service

    def seal(self, tx: Tx, row: str, plain: bytes) -> bytes:
        """``plain`` as it is kept in ``row``."""
        return SEALED.seal(self.service, tx, INSTANCE, row, plain)

    def open(self, row: str, box: bytes) -> bytes:
        """What was sealed."""
        return SEALED.open(self.service, INSTANCE, row, box)
