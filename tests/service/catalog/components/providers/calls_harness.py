"""Makes the calls of ``calls/<app>.toml`` against one fake for all apps, which answers exactly what the file says.

A component that is data is given the account as the service gives it, with the app's own addresses: the connection
alone leads to loopback. One that is code runs in its child, whose account has the address of the fake. Either way a
request that lacks the credential or a header of the app, or that differs from the one whose turn it is, is a failure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from tests.service.catalog.components.providers.calls_fake import FakeProvider
from webapp.kit.clock import Deadline
from webapp.service.catalog.app import App
from webapp.service.components.calls import AccountGrant, Call, Reply
from webapp.service.components.declared.interpreter import Interpreter
from webapp.service.components.declared.source import is_declared
from webapp.service.components.executor import Executor
from webapp.service.domain.components import account_grants
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.headers import USER_AGENT
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import Message, Transport, Watch, tls_context
from webapp.service.outbound.urls import Url, parse_url


@dataclass(frozen=True)
class CallsHarness:
    """Makes calls for the account of one app; components that are data by ``interpreter``, code by ``executor``."""

    app: App
    grant: AccountGrant
    provider: FakeProvider
    interpreter: Interpreter
    executor: Executor

    def call(self, call: Call) -> Reply:
        """Make ``call`` with the account, as the trigger harness asks for it, too."""
        if is_declared(call.path):
            return self.interpreter.call(replace(call, accounts={"account": self.grant}))
        base = urlsplit(self.grant.base_url or "")
        loopback = f"http://{self.provider.host}/{base.scheme}://{base.netloc}{base.path}"
        grant = replace(self.grant, base_url=loopback, allowed_hosts=(self.provider.host,))
        accounts = {self.app.slug: grant}
        return self.executor.call(replace(call, accounts=accounts, allow_hosts=(self.provider.host,)))


class RedirectedInterpreter(Interpreter):
    """An interpreter whose connections all lead to the fake at ``host``."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self._redirected = OutboundClient(Guard(), user_agent=USER_AGENT)
        guard = Guard([host])
        self._redirected._transport = RedirectedTransport(guard, USER_AGENT, tls_context(None), f"http://{host}/")

    def _outbound(self, allow_hosts: tuple[str, ...]) -> OutboundClient:
        return self._redirected


@dataclass(frozen=True, slots=True)
class RedirectedTransport(Transport):
    """Sends each message to ``origin``, in whose path its own address stands."""

    origin: str = ""

    def exchange(
        self, message: Message, deadline: Deadline, max_bytes: int, cut: bool = False, watch: Watch | None = None
    ) -> Response | Failure:
        url = parse_url(self.origin + str(message.url))
        assert isinstance(url, Url)
        outcome = Transport.exchange(self, replace(message, url=url), deadline, max_bytes, cut)
        return replace(outcome, url=str(message.url)) if isinstance(outcome, Response) else outcome


def harness_of(
    app: App, values: Mapping[str, str], provider: FakeProvider, interpreter: Interpreter, executor: Executor
) -> CallsHarness:
    """A harness for an account of ``app`` with ``values``."""
    return CallsHarness(app, account_grants.of_values(app, values), provider, interpreter, executor)
