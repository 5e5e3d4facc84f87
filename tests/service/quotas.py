"""A service whose operator allows other numbers."""

from dataclasses import replace
from typing import Any

from webapp.service.domain.base.service import Service


def with_quotas(service: Service, **numbers: Any) -> Service:
    """``service`` with ``numbers`` for some of the rows of :data:`webapp.settings.BOUNDS`."""
    return replace(service, settings=replace(service.settings, quotas={**service.settings.quotas, **numbers}))
