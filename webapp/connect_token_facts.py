"""What the contract says of Connect tokens ("Connect tokens"), for the service that makes them and for its clients."""

PREFIX = "ctok_"
"""What a token begins with."""
MAX_LIFETIME_S = 14_400
"""The longest life of a token."""
REMEMBERED_S = 7 * 86_400
"""How long its row and its origins are kept after it expired."""
