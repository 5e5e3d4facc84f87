"""Connections that the broker opens for the process of a call: to the server of the call's own account, guarded.

Only a component that declares that it reads the account's secrets may ask for one, for a driver that opens its sockets
itself. The host must be a field of the account, for this call alone.
"""

import socket
import sys
from pathlib import Path

from webapp.kit.clock import Deadline
from webapp.service.components.calls import Call
from webapp.service.components.child_calls import DECLARATION, reads_secrets
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import Failure, connect_failure
from webapp.service.outbound.transport import Limits, connect


def connected(call: Call, host: str, port: int, deadline: Deadline) -> socket.socket | Failure:
    """A connection to ``port`` of ``host``, looked up and checked once; or why there is none."""
    if not reads_secrets(Path(call.path)):
        return _no(f"Only a component with {DECLARATION} = True may connect to the server of its account.")
    if not any(host in grant.values.values() for grant in call.accounts.values()):
        return _no(f"{host} is not the server of this account. Use the one that the account names.")
    addresses = Guard(call.allow_hosts).pin_host(host, port, deadline)
    if isinstance(addresses, Failure):
        return addresses
    try:
        connection = connect(addresses, port, Limits(deadline, sys.maxsize))
    except OSError as error:
        return connect_failure(error, host)
    connection.setblocking(True)
    return connection


def _no(sentence: str) -> Failure:
    return Failure("refused_by_guard", sentence)
