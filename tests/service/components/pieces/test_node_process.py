"""What the kernel keeps a process of Node from, whatever runs in it: nothing of ours stands between."""

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.service.components.pieces.conftest import Ask, asking
from webapp.service.components.confinement.confinement import look
from webapp.service.components.runner import Runner

SECRET = "a key that nobody may read"
REFUSED = ("EACCES", "EPERM", "ENOENT", "ESRCH")
HOLDS = {measure.name for measure in look() if measure.holds}
TCP = """
const { TCP, constants, TCPConnectWrap } = process.binding("tcp_wrap");
const socket = new TCP(constants.SOCKET);
const call = new TCPConnectWrap();
const [host, port, six] = %s;
const code = six ? socket.connect6(call, host, port) : socket.connect(call, host, port);
if (code) return code;
return await new Promise((resolve) => (call.oncomplete = (status) => resolve(status)));
"""
UDP = """
const { UDP, SendWrap } = process.binding("udp_wrap");
const socket = new UDP();
return socket.bind("0.0.0.0", 0, 0);
"""
SPAWN = """
const { Process, constants } = process.binding("process_wrap");
const child = new Process();
return child.spawn({ file: %r, args: [%r, "-e", "0"], stdio: [{ type: "ignore" }, { type: "ignore" }] });
"""


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "patchbay.db"
    path.write_text(SECRET)
    return path


@pytest.mark.skipif("files" not in HOLDS, reason="this kernel has no Landlock")
def test_files_of_others_are_neither_read_nor_written(ask: Ask, secret: Path, package: Path) -> None:
    (package / "own").write_text("own")
    own = ask(f"return require('fs').readFileSync('{package}/own', 'utf8')")
    assert (own.error, own.value) == (None, "own")
    paths = [
        secret,
        "/etc/passwd",
        "/etc/shadow",
        "/proc/1/environ",
        f"/proc/{os.getpid()}/environ",
        f"/proc/{os.getpid()}/mem",
    ]
    for path in paths:
        reply = ask(f"return require('fs').readFileSync('{path}').length")
        assert reply.error is not None and reply.error.message in REFUSED, path
    for folder in (secret.parent, package, "..", "/tmp", "/dev/shm"):
        reply = ask(f"require('fs').writeFileSync('{folder}/new-{os.getpid()}', 'x')")
        assert reply.error is not None and reply.error.message in REFUSED, folder
    assert ask("return require('fs').readdirSync('..').length").error is not None


@pytest.mark.skipif("files" not in HOLDS and os.geteuid() != 0, reason="this kernel has no Landlock")
def test_the_folder_of_another_call_is_not_entered(ask: Ask) -> None:
    theirs = ask("require('fs').writeFileSync('theirs', 'x'); return process.cwd()", user="other").value
    reply = ask(f"return require('fs').readdirSync('{theirs}')")
    assert reply.error is not None and reply.error.message in REFUSED


@pytest.mark.skipif("network" not in HOLDS, reason="this kernel lets this user make no network namespace")
def test_no_socket_leads_anywhere(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for target in ((f'["127.0.0.1", {port}]'), '["169.254.169.254", 80]', '["1.1.1.1", 443]', '["::1", 80, true]'):
            assert ask(TCP % target).value == -13, target  # EACCES
        assert ask(UDP).value == -13
        named = ask("return await require('dns').promises.resolve4('example.com').catch((error) => error.code)")
        assert named.value != [] and isinstance(named.value, str)
        server.settimeout(0.05)
        with pytest.raises(TimeoutError):
            server.accept()


def test_it_starts_no_process(ask: Ask) -> None:
    for program in ("/bin/sh", "/usr/bin/node"):
        reply = ask(SPAWN % (program, program))
        assert reply.value is None or reply.value < 0  # some versions of Node end themselves where it is refused
    forks = ask("try { require('child_process').execSync('true'); return 'ran' } catch { return 'refused' }")
    assert forks.value == "refused"


@pytest.mark.skipif(not HOLDS & {"signals", "calls"}, reason="it would end all processes of this user")
def test_it_signals_nobody(ask: Ask, node_runner: Runner) -> None:
    ours = subprocess.Popen(["/bin/sleep", "30"])
    try:
        for target in ("process.ppid", "1", str(os.getpid()), str(ours.pid)):
            reply = ask(f"process.kill({target}, 9); return 'done'", user="signals")
            assert reply.error is not None, target
        ask("process.kill(-1, 9)", user="signals")  # the kernel leaves out whom it may not, and says nothing
        time.sleep(0.05)
        assert ours.poll() is None
    finally:
        ours.kill()
        ours.wait()
    assert ask("return 1").value == 1


def test_it_has_no_capability_but_to_read_what_landlock_allows(ask: Ask) -> None:
    status = ask("return require('fs').readFileSync('/proc/self/status', 'utf8')").value
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert os.geteuid() != 0 or fields["CapBnd"] == "0" * 16
    assert fields["CapEff"] in ("0" * 16, f"{4:016x}")
    assert fields["NoNewPrivs"] == "1"
    if os.geteuid() == 0 and "signals" in HOLDS:
        assert fields["Uid"].split()[0] not in ("0", str(os.getuid()))


def test_it_meets_no_setting_of_ours_and_no_descriptor(
    node_runner: Runner, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATCHBAY_SECRET_KEY", SECRET)
    ask = asking(node_runner, package, monkeypatch)
    kept = {"LANG", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "TMPDIR", "NODE_ENV", "UV_THREADPOOL_SIZE"}
    assert set(ask("return Object.keys(process.env)").value) <= {*kept, "NODE_EXTRA_CA_CERTS"}
    pid = ask("return process.pid").value
    links = {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    assert {link for link in links if link.startswith("/")} <= {"/dev/null"}


def test_it_ends_with_the_runner(package: Path, monkeypatch: pytest.MonkeyPatch, node_runner: Runner) -> None:
    with Runner.start() as runner:
        pid = asking(runner, package, monkeypatch)("return process.pid").value
        assert runner._process is not None
        runner._process.kill()
        runner._process.wait()
    until = time.monotonic() + 3
    while Path(f"/proc/{pid}/cwd").exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}/cwd").exists()
