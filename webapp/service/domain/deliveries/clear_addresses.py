"""URLs of endpoints that stand in the clear, from before they were sealed, and those whose hash was forgotten.

Both are brought up to date when the folder is opened. It may be killed at any point: the next opening goes on.
"""

from typing import Any

from webapp.kit.crypto import CannotOpen
from webapp.service.domain.base.keyring import KeyGone
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.store.contract import Tx

BATCH = 200


def seal_some(service: Service) -> bool:
    """Seal and hash the next of them; whether there were any."""
    if not endpoints.select(service.store, "url_hash IS NULL LIMIT 1"):
        return False
    with service.store.write() as tx:
        for endpoint in endpoints.select(tx, "url_hash IS NULL ORDER BY id LIMIT :limit", {"limit": BATCH}):
            endpoints.write(tx, endpoint.id, **_address(tx, service, endpoint))
    return True


def forget_hashes(tx: Tx) -> None:
    """The key of the hashes goes: have every URL hashed anew when the folder is opened next."""
    for endpoint in endpoints.select(tx, "url_hash IS NOT NULL"):
        endpoints.write(tx, endpoint.id, url_hash=None)


def _address(tx: Tx, service: Service, endpoint: Endpoint) -> dict[str, Any]:
    """The columns of its URL, which stands in ``masked_url`` until it is sealed."""
    if not endpoint.url_sealed:
        return endpoints.address_of(tx, service, endpoint.project_id, endpoint.id, endpoint.masked_url)
    try:
        return {"url_hash": endpoints.hash_of(service, endpoints.url_of(service, endpoint))}
    except (CannotOpen, KeyGone):
        return {"url_hash": endpoint.id}  # it is damaged, and nobody finds it by its URL
