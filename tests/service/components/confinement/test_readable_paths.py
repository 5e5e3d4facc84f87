"""What a call may read and write: folders of libraries, its component, and its own folder."""

import os
import sys
from pathlib import Path

from webapp.service.components.confinement.readable_paths import libraries, of_call

ROOT = Path(__file__).parents[4]


def test_no_folder_that_may_hold_data_is_a_library() -> None:
    places = libraries()
    assert all({*path.parents} & {*places} for path in (ROOT / "webapp" / "app.py", Path(os.__file__)))
    assert not [place for place in places if {*place.parents} & {*places}]
    assert not {ROOT, Path(sys.prefix), Path("/"), Path.home(), Path("/etc"), Path("/dev"), Path("/proc")} & {*places}


def test_a_component_reads_its_app_or_its_neighbours_only(tmp_path: Path) -> None:
    call = tmp_path / "call"
    app = of_call(tmp_path / "acme" / "actions" / "do" / "1.0.0.py", call, tcp=False)
    assert tmp_path / "acme" in app.readable and tmp_path not in app.readable
    own = of_call(tmp_path / "components" / "do" / "1.0.0.py", call, tcp=True)
    assert tmp_path / "components" in own.readable
    assert (own.writable, own.tcp, app.tcp) == ((call,), True, False)


def test_a_file_elsewhere_reads_the_python_files_above_it_only(tmp_path: Path) -> None:
    (tmp_path / "common.py").touch()
    (tmp_path / "secret").touch()
    reach = of_call(tmp_path / "do" / "1.0.0.py", tmp_path / "call", tcp=False)
    assert {tmp_path / "do", tmp_path / "common.py"} <= {*reach.readable}
    assert not {tmp_path, tmp_path / "secret"} & {*reach.readable}
    assert reach.listable == (tmp_path,)
