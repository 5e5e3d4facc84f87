"""Which assistant the address is for."""

from webapp.dashboard.agents.hosts import HOSTS, host_of


def test_an_unknown_host_is_any() -> None:
    assert host_of("editor").name == "editor" and host_of("none-such") == HOSTS[0]
