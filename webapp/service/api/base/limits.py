"""The rate limits of the service, by name (contract "Rate limits").

Each operation names the one that it counts towards; :mod:`webapp.service.api.base.dispatch` counts.
"""

from webapp.service.api.base.operations import LimitName
from webapp.service.domain.access.rate_limits import Limit

HEADER = "x-pd-rate-limit"
LIMITS: dict[LimitName, Limit] = {
    "accounts": Limit(2_000, 300),
    "tools": Limit(3_000, 300),
    "executions": Limit(2_000, 300),
    "proxy": Limit(1_000, 300),
    "tokens": Limit(100, 60),
}
