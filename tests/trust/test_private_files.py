from __future__ import annotations

import os
from pathlib import Path

import pytest

from glsw.device import egl
from glsw.trust import private_files


def test_folders_of_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(private_files.sys, "platform", "linux")
    assert private_files.folder() == tmp_path / "xdg" / "glsw"
    for unusable in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert private_files.folder() == Path.home() / ".cache" / "glsw"
    monkeypatch.setattr(private_files.sys, "platform", "darwin")
    assert private_files.folder() == Path.home() / "Library" / "Caches" / "glsw"
    monkeypatch.setattr(private_files.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert private_files.folder() == tmp_path / "local" / "glsw"


def test_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(private_files.sys, "platform", "linux")
    monkeypatch.setattr(Path, "home", no_home)
    assert private_files.folder() is None


def test_a_folder_is_made_for_this_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "devices" / "some.txt"
    assert private_files.is_private(file.parent)  # it is not there
    assert private_files.append_private(file, b"a\n")
    assert private_files.append_private(file, b"b\n")
    assert file.read_bytes() == b"a\nb\n"
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o777])
def test_folders_open_to_others_are_not_used(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    assert not private_files.is_private(folder)
    assert not private_files.append_private(folder / "some.txt", b"a\n")
    assert not list(folder.iterdir())


def test_folders_of_other_users_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    assert private_files.is_private(folder)
    monkeypatch.setattr(private_files.os, "geteuid", lambda: os.getuid() + 1)
    assert not private_files.is_private(folder)


def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cache" / "some.txt"
    monkeypatch.setattr(private_files.os, "write", lambda *_: 1)  # a part only
    assert not private_files.append_private(file, b"a\n")
    monkeypatch.setattr(private_files.os, "write", lambda *_: os.close(-1))
    assert not private_files.append_private(file, b"a\n")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="root is a word of Unix")
@pytest.mark.parametrize(
    ("user", "given", "expected"), [(0, None, "1"), (0, "0", "0"), (7, None, None)]
)
def test_the_driver_keeps_programs_of_root_too(
    monkeypatch: pytest.MonkeyPatch, user: int, given: str | None, expected: str | None
) -> None:
    name = "__GL_SHADER_DISK_CACHE"
    monkeypatch.delenv(name, raising=False)
    if given is not None:
        monkeypatch.setenv(name, given)
    monkeypatch.setattr(egl.os, "geteuid", lambda: user)
    with pytest.raises(OSError, match="no such library"):
        egl._loaded.__wrapped__("no such library")
    assert os.environ.get(name) == expected
