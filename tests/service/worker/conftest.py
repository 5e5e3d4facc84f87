"""The worker's tests work on the same bench as the domain's."""

from tests.service.domain.conftest import acme, bench, open_bench

__all__ = ["acme", "bench", "open_bench"]
