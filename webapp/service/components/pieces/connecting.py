"""Connections to the hosts that a piece may reach: named by a rule, and public or opened by the operator.

A name is looked up once, and the connection goes to the address that was checked.
"""

import socket
import sys

from webapp.kit.clock import Deadline
from webapp.service.outbound.guard import DATABASE_PORTS, MAIL_PORTS, Guard
from webapp.service.outbound.outcomes import Failure, connect_failure
from webapp.service.outbound.transport import Limits, connect
from webapp.service.outbound.urls import parse_host, split_authority

PORTS = frozenset({22, 80, 443, 993, 995}) | MAIL_PORTS | DATABASE_PORTS
"""Those below 1024 that a rule without a port admits, as it does those above."""


def refusal(rules: tuple[str, ...], host: str, port: int) -> Failure | None:
    """Why a piece with these ``rules`` may not connect to ``port`` of ``host``; None where it may."""
    name = parse_host(f"[{host}]" if ":" in host and not host.startswith("[") else host)
    if isinstance(name, Failure):
        return name
    if any(_admits(rule, name, port) for rule in rules):
        return None
    sentence = f"{host} is not among the hosts that this integration may reach. Ask an owner to allow it."
    return Failure("refused_by_guard", sentence)


def connected(allow_hosts: tuple[str, ...], host: str, port: int, deadline: Deadline) -> socket.socket | Failure:
    """A connection to ``port`` of ``host``, looked up and checked once; or why there is none."""
    addresses = Guard(allow_hosts).pin_host(host, port, deadline, PORTS)
    if isinstance(addresses, Failure):
        return addresses
    try:
        connection = connect(addresses, port, Limits(deadline, sys.maxsize))
    except OSError as error:
        return connect_failure(error, host)
    return socket.socket(fileno=connection.detach())  # one without limits of its own, which may block


def _admits(rule: str, host: str, port: int) -> bool:
    """Whether ``rule``, a host or ``*.`` and a suffix with a port or without, admits ``port`` of ``host``."""
    name, its_port = split_authority(rule.lower())
    if its_port is not None and its_port != str(port):
        return False
    if name.startswith("*."):
        return host.endswith(name[1:])
    return host == name.strip("[]")
