"""Values for a while, and no more of them than fit."""

from webapp.dashboard.client.memory import Memory
from webapp.kit.clock import SECOND, FakeClock


def test_a_value_ends_with_its_lifetime() -> None:
    clock = FakeClock()
    memory: Memory[str] = Memory(clock, lifetime=30 * SECOND)
    assert memory.put("a", "1") == "1"
    memory.put("b", "2", lifetime=5 * SECOND)
    clock.advance(5 * SECOND)
    assert (memory.get("a"), memory.get("b"), memory.get("c")) == ("1", None, None)
    memory.drop("a")
    assert memory.get("a") is None


def test_the_oldest_make_room() -> None:
    memory: Memory[int] = Memory(FakeClock(), lifetime=SECOND, size=2)
    for number, key in enumerate("abac"):
        memory.put(key, number)
    assert [memory.get(key) for key in "abc"] == [2, None, 3]
