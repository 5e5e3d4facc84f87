"""A service whose operator allows other numbers."""

from dataclasses import replace

from webapp.service.domain.base.service import Service


def with_quotas(service: Service, **numbers: int) -> Service:
    """``service`` with ``numbers`` for some of the rows of :data:`webapp.quotas.TABLE`."""
    return replace(service, settings=replace(service.settings, quotas={**service.settings.quotas, **numbers}))
