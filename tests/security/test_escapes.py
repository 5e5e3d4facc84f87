"""Code of a component that means harm: it takes nothing that it was not given, reaches nobody, and harms nobody.

Where the kernel of this machine lacks what one of these needs, that one is skipped with what remains there.
"""

import json
import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import indent

import pytest

from webapp.service.components.calls import AccountGrant, Call, Reply
from webapp.service.components.confinement.confinement import look
from webapp.service.components.runner import Runner

HOLDS = {measure.name: measure for measure in look()}
HEAD = """
import ctypes, os, signal, socket, subprocess, sys, threading, time
from pathlib import Path
from webapp.service.components.authoring import *

def called(name, *arguments):
    result = getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result

def tried(work):
    try:
        result = work()
    except BaseException as error:
        return f"{type(error).__name__}"
    return f"DONE {result!r}"[:200]

class Bad(Action):
    name = description = "Bad"
    def run(self, ctx):
"""


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [HOLDS[name].sentence for name in names if not HOLDS[name].holds]
    return pytest.mark.skipif(bool(missing), reason=" ".join(missing))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner.start() as started:
        yield started


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a key, a database and a component that means harm."""
    (tmp_path / "keys").write_text("canary")
    (tmp_path / "patchbay.db").write_text("canary")
    return tmp_path


def run(runner: Runner, data: Path, body: str, deadline_s: float = 10.0) -> Reply:
    path = data / "components" / "bad" / "1.0.0.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + indent(body.strip("\n"), "        "))
    return runner.call(Call(str(path), deadline_s=deadline_s))


def attempts(runner: Runner, data: Path, *works: str) -> dict[str, str]:
    """What came of each attempt, all in one call."""
    reply = run(runner, data, "return {" + ", ".join(f"{work!r}: tried(lambda: {work})" for work in works) + "}")
    assert reply.error is None, reply.error
    assert set(reply.value) == set(works)
    return dict(reply.value)


def succeeded(outcomes: dict[str, str]) -> dict[str, str]:
    return {work: outcome for work, outcome in outcomes.items() if outcome.startswith("DONE")}


@needs("files", "processes")
def test_nothing_is_read_or_written_that_was_not_given(runner: Runner, data: Path) -> None:
    own, root = os.getpid(), Path(__file__).parents[2]
    outcomes = attempts(
        runner, data,
        f"open({str(data / 'keys')!r}).read()",
        f"open({str(data / 'patchbay.db')!r}).read()",
        f"open({str(data / 'patchbay.db')!r}, 'a')",
        f"os.listdir({str(data)!r})",
        f"os.symlink({str(data)!r}, 'link') or open('link/keys').read()",
        f"os.link({str(data / 'keys')!r}, 'key')",
        f"os.truncate({str(data / 'keys')!r}, 0)",
        f"os.rename({str(data / 'keys')!r}, 'key')",
        f"os.unlink({str(data / 'keys')!r})",
        f"os.chmod({str(data)!r}, 0o777) or open({str(data / 'keys')!r}).read()",
        "open(__file__, 'a')",
        f"open('/proc/{own}/environ').read()",
        f"open('/proc/{own}/cmdline').read()",
        f"open('/proc/{own}/mem', 'rb')",
        f"os.listdir('/proc/{own}/fd')",
        f"os.listdir('/proc/{own}/root/')",
        "open(f'/proc/{os.getppid()}/environ').read()",
        "os.listdir('/proc')",
        f"open('/proc/self/root{data}/keys').read()",
        f"open('/proc/self/cwd/../../../../../..{data}/keys').read()",
        "open('/etc/passwd').read()",
        "open('/etc/shadow').read()",
        "os.listdir('/etc')",
        "os.listdir('/root')",
        "os.listdir('/home')",
        "os.listdir('/tmp')",
        "os.listdir('/dev')",
        "os.listdir('..')",
        f"os.listdir({str(root)!r})",
        f"open({str(root / 'README.md')!r}).read()",
        "open('/dev/mem', 'rb')",
        "open('/dev/kmsg').read(1)",
        "open('/dev/shm/x', 'w')",
        "open('/tmp/x', 'w')",
        "open('/var/tmp/x', 'w')",
        "os.mkfifo('/tmp/pipe')",
        "os.mknod('device', 0o60666, os.makedev(8, 0))",
        "os.chroot('.')",
        "subprocess.run(['cat', '/etc/passwd'], check=True)",
        f"subprocess.run(['cat', {str(data / 'keys')!r}], check=True)",
        f"ctypes.CDLL(None, use_errno=True).ptrace(16, {own}, 0, 0) and 1 / 0",
    )  # fmt: skip
    assert succeeded({work: outcome for work, outcome in outcomes.items() if "ptrace" not in work}) == {}
    assert [outcome for work, outcome in outcomes.items() if "ptrace" in work] == ["ZeroDivisionError"]
    assert (data / "keys").read_text() == (data / "patchbay.db").read_text() == "canary"


@needs("files", "calls")
def test_nothing_is_watched_or_changed_that_can_be_named(runner: Runner, data: Path) -> None:
    """Landlock looks after what is opened, made and removed. The rest is the filter's."""
    key = data / "keys"
    before = key.stat()
    outcomes = attempts(
        runner, data,
        f"called('inotify_add_watch', called('inotify_init1', 0), {bytes(data)!r}, 0xfff)",
        "called('inotify_init')",
        "called('fanotify_init', 0x200, 0)",
        "called('klogctl', 3, ctypes.create_string_buffer(4096), 4096)",
        "called('memfd_create', b'x', 0)",
        "called('syscall', 447, 0)",  # memfd_secret
        "called('syscall', 457, 0, 0, 0, 0)",  # statmount
        "called('syscall', 469, -100, b'x', 0, 0, 0)",  # file_setattr
        "called('syscall', 470, 0)",
        "socket.send_fds(socket.socketpair()[0], [b'x'], [0])",
        f"os.setxattr({str(key)!r}, 'user.x', b'y')",
        f"os.removexattr({str(key)!r}, 'user.x')",
        "called('capset', 0, 0)",
        "called('iopl', 3)",
        "called('sethostname', b'x', 1)",
        "called('mlockall', 7)",
        "os.listdir('/usr/local')",
        "open('/dev/tty')",
        "open('/proc/self/oom_score_adj', 'w').write('-1000')",
        "open('/proc/sys/kernel/hostname').read()",
        "os.readlink('/proc/1/exe')",
        "os.readlink('/proc/1/cwd')",
        f"os.listdir('/proc/{os.getpid()}/cwd/')",
        f"os.listdir('/proc/{os.getpid()}/map_files')",
    )  # fmt: skip
    assert succeeded(outcomes) == {}
    attempts(
        runner, data,
        f"os.chmod({str(key)!r}, 0o777)",
        f"os.chmod({str(data)!r}, 0)",
        f"os.chown({str(key)!r}, os.getuid(), -1)",
        f"os.utime({str(key)!r}, (1, 1))",
        f"os.fchmod(os.open({str(data)!r}, os.O_PATH), 0)",
    )  # fmt: skip
    after = key.stat()
    assert (after.st_mode, after.st_uid, after.st_mtime) == (before.st_mode, before.st_uid, before.st_mtime)
    assert data.stat().st_mode & 0o700


@needs("files")
def test_another_calls_folder_and_messages_stay_its_own(runner: Runner, data: Path) -> None:
    other = data / "components" / "other" / "1.0.0.py"
    other.parent.mkdir(parents=True)
    other.write_text(
        "import os, time\nfrom webapp.service.components.authoring import *\nclass Other(Action):\n"
        "    def run(self, ctx):\n        ctx.files.write('secret', b'canary')\n        time.sleep(0.5)\n"
        "        return os.path.exists('secret')\n"
    )
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(runner.call, Call(str(other)))
        time.sleep(0.2)
        reply = run(
            runner, data,
            "above = Path.cwd().parent\n"
            "names = [str(number) for number in range(2000)]\n"
            "read = [tried(lambda: (above / name / 'secret').read_text()) for name in names]\n"
            "killed = [tried(lambda: os.kill(pid, 9)) for pid in range(2, 20_000) if pid != os.getpid()]\n"
            "return [*{*read}, *{*killed}]",
        )  # fmt: skip
        assert working.result().value is True
    assert reply.error is None and not [outcome for outcome in reply.value if outcome.startswith("DONE")]


LOOK_THROUGH_MEMORY = """
import re
read = hits = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    for place, rights in (line.split()[:2] for line in maps):
        if rights.startswith("rw"):
            first, end = (int(number, 16) for number in place.split("-"))
            memory.seek(first)
            block = memory.read(end - first)
            read += len(block)
            hits += len(re.findall(rb"ca" + rb"nary-[0-9a-f]{32}", block))
return [read > 2 ** 20, hits]
"""


def test_nothing_of_another_call_is_in_its_memory(runner: Runner, data: Path) -> None:
    secret = f"canary-{os.urandom(16).hex()}"
    other = data / "components" / "other" / "1.0.0.py"
    other.parent.mkdir(parents=True)
    other.write_text(
        "import time\nfrom webapp.service.components.authoring import *\nclass Other(Action):\n"
        "    reads_secrets = True\n    def run(self, ctx):\n        ctx.export('told', ctx.props['text'])\n"
        "        time.sleep(ctx.props['pause'])\n        return ctx.props['text']\n"
    )

    def call(pause: float, size: int) -> Reply:
        props = {"text": secret * size, "pause": pause}
        return runner.call(Call(str(other), props=props, accounts={"a": AccountGrant({"password": secret})}))

    with ThreadPoolExecutor(1) as pool:
        assert call(0, 1).ok and call(0, 5000).ok
        working = pool.submit(call, 0.5, 5)
        time.sleep(0.1)
        looks = [run(runner, data, LOOK_THROUGH_MEMORY) for _ in range(2)]
        assert working.result().ok
    assert [(look.error, look.value) for look in looks] == [(None, [True, 0])] * 2


@needs("network", "calls")
def test_nobody_is_reached(runner: Runner, data: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        port, name = server.getsockname()[1], f"patchbay-escape-{os.getpid()}"
        local.bind(str(data / "s"))
        abstract.bind(f"\0{name}")
        for listener in (local, abstract):
            listener.listen()
        runners = runner._address()
        outcomes = attempts(
            runner, data,
            *(
                f"socket.create_connection(({host!r}, {number}), 0.5)"
                for host, number in (
                    ("127.0.0.1", port), ("localhost", port), ("10.0.0.1", 80), ("192.168.0.1", 80), ("::1", port),
                    ("169.254.169.254", 80), ("1.1.1.1", 443), ("2606:4700:4700::1111", 443), ("fd00:ec2::254", 80),
                    ("100.100.100.200", 80), ("0.0.0.0", port), ("::ffff:127.0.0.1", port),
                )
            ),
            "socket.create_server(('127.0.0.1', 0))",
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('1.1.1.1', 53))",
            "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
            "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
            "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
            "socket.socket(40, socket.SOCK_STREAM)",
            "socket.getaddrinfo('example.com', 443)",
            "socket.gethostbyname('example.com')",
            f"socket.socket(socket.AF_UNIX).connect({str(data / 's')!r})",
            f"socket.socket(socket.AF_UNIX).connect({str(runners)!r})",
            f"socket.socket(socket.AF_UNIX).connect(chr(0) + {name!r})",
            f"socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', {str(data / 's')!r})",
            "subprocess.run(['python3', '-c', 'import socket; socket.socket()'], check=True)",
            "__import__('urllib.request').request.urlopen('http://1.1.1.1/', timeout=1)",
        )  # fmt: skip
    assert succeeded(outcomes) == {}


@needs("signals", "count")
def test_nobody_is_signalled_and_nothing_is_gained(runner: Runner, data: Path) -> None:
    outcomes = attempts(
        runner, data,
        f"os.kill({os.getpid()}, 0)",
        "os.kill(os.getppid(), 0)",
        "os.killpg(os.getpgid(os.getppid()), 0)",
        f"os.kill({os.getpid()}, 19)",
        "os.setuid(0)",
        "os.setgid(0)",
        "os.nice(-5)",
        "__import__('resource').setrlimit(8, (2 ** 40, 2 ** 40))",
        "__import__('resource').setrlimit(6, (4096, 4096))",
        f"__import__('resource').prlimit({os.getpid()}, 7)",
        f"__import__('resource').prlimit({os.getpid()}, 7, (20, 20))",
        f"os.sched_setaffinity({os.getpid()}, {{0}})",
        f"os.sched_setscheduler({os.getpid()}, 5, os.sched_param(0))",
        f"os.setpriority(0, {os.getpid()}, 19)",
        f"signal.pidfd_send_signal(os.pidfd_open({os.getpid()}), 0)",
    )  # fmt: skip
    assert succeeded(outcomes) == {}


BOMB = """
made = 0
while made < 100_000:
    try:
        if os.fork() == 0:
            os.setsid()
        made += 1
    except OSError:
        time.sleep(0.001)
"""


@needs("count")
def test_a_fork_bomb_ends_at_its_deadline_with_everything_below(runner: Runner, data: Path) -> None:
    good = run(runner, data, "return os.getppid()")
    began = time.monotonic()
    reply = run(runner, data, BOMB, deadline_s=1.0)
    assert reply.error is not None and time.monotonic() - began < 8
    assert run(runner, data, "return os.getppid()").value == good.value
    ends = time.monotonic() + 8
    while len(_below(good.value)) > 2:  # one that waits for the next call, and the one that forks
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param("kept = [bytearray(2 ** 24) for _ in range(1000)]", "memory", marks=pytest.mark.faults),
        pytest.param(
            "with open('x', 'wb') as f:\n    for _ in range(100_000): f.write(bytes(2 ** 20))",
            "exception",
            marks=pytest.mark.faults,
        ),
        ("while True: os.write(1, bytes(2 ** 16))", "output"),
        ("while True: pass", "timeout"),
        ("signal.signal(15, lambda *_: None)\nsignal.pthread_sigmask(0, range(1, 64))\nwhile True: pass", "timeout"),
        ("os.close(3); os.close(4)\nwhile True: pass", "timeout"),
    ],
)
def test_what_takes_too_much_ends_and_the_next_call_works(runner: Runner, data: Path, body: str, kind: str) -> None:
    reply = run(runner, data, body, deadline_s=0.3 if kind == "timeout" else 10.0)
    assert reply.error is not None and reply.error.kind == kind
    assert run(runner, data, "return 1").value == 1


def test_folders_without_end_do_not_end_the_runner(runner: Runner, data: Path) -> None:
    good = run(runner, data, "return os.getppid()")
    deep = run(runner, data, "for _ in range(1500):\n    os.mkdir('a')\n    os.chdir('a')\nreturn os.getppid()")
    assert (deep.error, deep.value) == (None, good.value)
    assert run(runner, data, "return [os.getppid(), os.listdir()]").value == [good.value, []]


HOLDING = """
kept = []
for _ in range(8):
    file = os.open('x', os.O_RDWR | os.O_CREAT)
    for _ in range(100):
        os.write(file, bytes(2 ** 20))
    os.unlink('x')
    kept.append(HELD)
time.sleep(60)
"""
MAPPED = "(ctypes.CDLL(None).mmap(None, ctypes.c_size_t(4096), 1, 1, file, ctypes.c_long(0)), os.close(file))"


@pytest.mark.faults
@pytest.mark.parametrize(
    "body",
    [
        HOLDING.replace("HELD", "file"),
        HOLDING.replace("HELD", MAPPED),
        HOLDING.replace("os.open('x', os.O_RDWR | os.O_CREAT)", "os.open('.', os.O_TMPFILE | os.O_RDWR)")
        .replace("    os.unlink('x')\n", "").replace("HELD", "file"),
        "for _ in range(40):\n    os.mkdir('a' * 200)\n    os.chdir('a' * 200)\ntime.sleep(60)",
        "os.mkdir('shut', 0o300)\nfor n in range(8): Path(f'shut/{n}').write_bytes(bytes(2 ** 27))\ntime.sleep(60)",
        "n = 0\nwhile True:\n    os.close(os.open(str(n), os.O_CREAT))\n    n += 1",
    ],
)  # fmt: skip
def test_what_is_hidden_from_the_eye_is_counted(runner: Runner, data: Path, body: str) -> None:
    reply = run(runner, data, body, deadline_s=20.0)
    assert reply.error is not None and "wrote more than 512 MiB" in reply.error.message


@pytest.mark.faults
@needs("count")
def test_what_waits_in_sockets_is_counted(runner: Runner, data: Path) -> None:
    reply = run(
        runner, data,
        "for _ in range(60):\n    if os.fork() == 0: break\n"
        "kept = []\n"
        "while len(kept) < 120:\n"
        "    near, far = socket.socketpair()\n    near.setblocking(False)\n    kept.append((near, far))\n"
        "    tried(lambda: [near.send(bytes(2 ** 16)) for _ in range(10)])\n"
        "time.sleep(60)",
        deadline_s=20.0,
    )  # fmt: skip
    assert reply.error is not None and "more than 1 GiB of memory" in reply.error.message


@needs("count")
def test_processes_that_flee_from_child_to_child_are_caught(runner: Runner, data: Path) -> None:
    flee = (
        "def flee():\n    while True:\n        if tried(os.fork) == 'DONE 0': os.setsid()\n        else: os._exit(0)\n"
        "for _ in range(5):\n    if os.fork() == 0: flee()\ntime.sleep(0.1)\nreturn os.getppid()"
    )
    parent = run(runner, data, flee, deadline_s=5.0).value
    ends = time.monotonic() + 8
    while len(_below(parent)) > 2:
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.faults
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "for _ in range(6):\n    if os.fork() == 0:\n        kept = bytearray(2 ** 28)\n"
            "        for n in range(0, 2 ** 28, 4096): kept[n] = 1\n        time.sleep(60)\ntime.sleep(60)",
            "more than 1 GiB of memory",
        ),
        (
            "for n in range(1000):\n    Path(f'{n}').write_bytes(bytes(2 ** 26))\n    time.sleep(0.01)\ntime.sleep(60)",
            "wrote more than 512 MiB",
        ),
    ],
)  # fmt: skip
def test_what_several_processes_or_files_take_together_is_bounded(
    runner: Runner, data: Path, body: str, said: str
) -> None:
    reply = run(runner, data, body, deadline_s=20.0)
    assert reply.error is not None and said in reply.error.message


def _below(pid: int) -> list[int]:
    lines = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(each) for each in lines if json.loads(each)]
