"""JSON that is kept for long. What orjson gives holds on to its whole buffer of 4 KiB, so it is copied out of it."""

import orjson


def kept_json(value: object) -> bytes:
    """``value`` as JSON."""
    return memoryview(orjson.dumps(value)).tobytes()
