"""A job's connection: what is no request of ours ends it, and nothing stays open or registered after it."""

import selectors
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Places
from webapp.service.components.runner_job import REQUEST_S, Job, Jobs
from webapp.service.components.wire import MAX_MESSAGE, encode, frame


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    made = Jobs(Places(tmp_path, Confinement()))
    yield made
    for job in list(made.open):
        job.close()
    made.selector.close()


@pytest.fixture
def asker(jobs: Jobs) -> Iterator[socket.socket]:
    """The other end of the only job's connection."""
    near, far = socket.socketpair()
    jobs.begin(far)
    near.settimeout(2)
    with near:
        yield near


def job_of(jobs: Jobs) -> Job:
    (job,) = jobs.open
    assert isinstance(job, Job)
    return job


def is_closed(jobs: Jobs, asker: socket.socket) -> bool:
    return not jobs.open and not jobs.selector.get_map() and asker.recv(1) == b""


def test_a_connection_waits_for_its_request_for_a_while(jobs: Jobs, asker: socket.socket) -> None:
    job = job_of(jobs)
    (key,) = jobs.selector.get_map().values()
    assert (key.events, key.data) == (selectors.EVENT_READ, job.receive)
    job.receive()  # nothing has come yet
    asker.sendall(encode({"deadline_s": 5})[:3])
    job.receive()
    assert job in jobs.open
    assert jobs.by_pid == {}
    assert REQUEST_S > 0


@pytest.mark.parametrize(
    "sent",
    [
        frame(b"no JSON"),
        frame(b"[]"),
        encode({}),
        encode({"deadline_s": "soon"}),
        encode({"deadline_s": None}),
        (MAX_MESSAGE + 1).to_bytes(4, "big"),
    ],
)
def test_what_is_no_request_ends_the_job(jobs: Jobs, asker: socket.socket, sent: bytes) -> None:
    asker.sendall(sent)
    job_of(jobs).receive()
    assert is_closed(jobs, asker)
    assert jobs.by_pid == {}


def test_an_asker_that_hangs_up_ends_the_job(jobs: Jobs, asker: socket.socket) -> None:
    asker.shutdown(socket.SHUT_WR)
    job_of(jobs).receive()
    assert is_closed(jobs, asker)


def test_one_that_never_asks_is_cut_off(jobs: Jobs, asker: socket.socket) -> None:
    job = job_of(jobs)
    job.end_late()
    assert is_closed(jobs, asker)
    job.close()
    job.finish(0)  # too late to matter
    assert jobs.open == set()
