import tracemalloc

import orjson

from webapp.kit.compact_json import compact_json


def test_it_holds_no_more_memory_than_it_needs() -> None:
    tracemalloc.start()
    try:
        kept = [compact_json({"name": "x" * 100, "number": number}) for number in range(100)]
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert orjson.loads(kept[7]) == {"name": "x" * 100, "number": 7}
    assert size < 100 * 300
