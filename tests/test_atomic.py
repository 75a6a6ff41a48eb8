"""Atomic writes: all of a file or nothing of it, with the permissions that it had."""

import os
import stat
import threading
from pathlib import Path

import pytest

from bayleaf.atomic import replacing, write


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write(tmp_path / "written", b"all")
    assert mode(tmp_path / "written") == mode(tmp_path / "plain")
    assert (tmp_path / "written").read_bytes() == b"all"


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.touch()
    path.chmod(0o640)
    write(path, b"all")
    assert mode(path) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch()
    link.symlink_to(target)
    write(link, b"all")
    assert link.is_symlink()
    assert target.read_bytes() == b"all"


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write(path, b"all")
    assert path.read_bytes() == b"all"


def test_threads_that_write_at_once_do_not_change_the_umask(tmp_path: Path) -> None:
    def writes(thread: int) -> None:
        for number in range(50):
            write(tmp_path / f"{thread}-{number}", b"x")

    before = os.umask(0o027)
    try:
        threads = [threading.Thread(target=writes, args=(thread,)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {mode(path) for path in tmp_path.iterdir()} == {0o640}
    finally:
        assert os.umask(before) == 0o027


def test_the_file_and_its_folder_are_on_disk_before_the_call_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []

    def fsync(handle: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))
        os.fdatasync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    write(tmp_path / "file", b"all")
    assert synced == [False, True]
