"""The registry of npm on loopback."""

from tests.service.pieces.conftest import _npm_registry as _npm_registry
from tests.service.pieces.conftest import served as served
