"""The worker's tests work on the same bench as the domain's."""

from tests.service.domain.conftest import acme, acme_folder, acme_port, bench, open_bench

__all__ = ["acme", "acme_folder", "acme_port", "bench", "open_bench"]
