"""How many decimals the amounts of a currency have, as payment providers write them (ISO 4217)."""

_NO_DECIMALS = frozenset(
    {"bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"}
)
_THREE_DECIMALS = frozenset(["bhd", "jod", "kwd", "omr", "tnd"])


def decimals(currency: str) -> int:
    """The number of decimals; ``currency`` is its code in lower case."""
    return 0 if currency in _NO_DECIMALS else 3 if currency in _THREE_DECIMALS else 2
