"""Places of the mail server: the longest idle gives way, and whoever is being served does not."""

from dataclasses import dataclass, field

from webapp.connection_limits import DEFAULTS
from webapp.service.worker import mail_sessions
from webapp.service.worker.mail_sessions import MailSessions


@dataclass(eq=False)
class Conversation:
    """A sender, and how it was told to go."""

    network: str
    since: float
    busy: bool = False
    received_bytes: int = 0
    ended: list[str] = field(default_factory=list)

    def end(self, sentence: str) -> None:
        self.ended.append(sentence)


def test_the_longest_idle_of_its_address_gives_way() -> None:
    places = MailSessions({**DEFAULTS, "ADDRESS_MAIL_SESSIONS": 2})
    busy, idle, other = Conversation("a", 1, busy=True), Conversation("a", 3), Conversation("b", 2)
    assert all(map(places.admit, (busy, idle, other)))
    newest = Conversation("a", 4)
    assert places.admit(newest) and len(places) == 3
    assert (len(idle.ended), busy.ended, other.ended) == (1, [], [])
    newest.busy = True
    assert not places.admit(Conversation("a", 5)) and len(places) == 3
    places.leave(busy)
    assert places.admit(Conversation("a", 6))


def test_the_longest_idle_of_all_gives_way_when_there_are_too_many() -> None:
    places = MailSessions({**DEFAULTS, "MAIL_SESSIONS": 2})
    first, second, third = (Conversation(network, since) for since, network in enumerate("abc"))
    assert all(map(places.admit, (first, second, third)))
    assert [len(sender.ended) for sender in (first, second, third)] == [1, 0, 0]
    assert set(places) == {second, third}


def test_what_all_send_has_one_bound() -> None:
    places = MailSessions(DEFAULTS)
    many = [Conversation("a", number, received_bytes=mail_sessions.MOST_BYTES // 10) for number in range(11)]
    for sender in many[:10]:
        places.admit(sender)
    assert not places.is_full()
    places.admit(many[10])
    assert places.is_full()
