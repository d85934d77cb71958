# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives are unpacked whole or not at all, and never outside their folder."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.archive import is_archive, top_folder, unpack
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError

Add = Callable[[tarfile.TarFile], None]


def file(name: str, text: str = "x", mode: int = 0o644) -> Add:
    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = len(text), mode
        archive.addfile(info, io.BytesIO(text.encode()))

    return add


def entry(name: str, kind: bytes, target: str = "") -> Add:
    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        archive.addfile(info)

    return add


def tar(path: Path, *adds: Add) -> Path:
    mode: Any = "w:" + path.suffix.removeprefix(".").replace("tar", "")
    with tarfile.open(path, mode) as archive:
        for add in adds:
            add(archive)
    return path


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.xz", "tar.bz2"])
def test_files_folders_and_inner_links_are_unpacked(tmp_path: Path, suffix: str) -> None:
    adds = [
        file("top/common/a.yaml", "hello"),
        file("top/run.sh", mode=0o755),
        entry("top/link", tarfile.SYMTYPE, "common/a.yaml"),
        entry("top/empty", tarfile.DIRTYPE),
    ]
    unpack(tar(tmp_path / f"x.{suffix}", *adds), tmp_path / "out")
    top = top_folder(tmp_path / "out")
    assert top.name == "top"
    assert (top / "link").read_text() == "hello"
    assert (top / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (top / "common/a.yaml").stat().st_mode & 0o777 == 0o644
    assert (top / "empty").is_dir()


@pytest.mark.parametrize(
    ("adds", "reason"),
    [
        ([file("../outside")], "would be written outside"),
        ([file("/etc/outside")], "would be written outside"),
        ([file("a/../../outside")], "would be written outside"),
        ([entry("link", tarfile.SYMTYPE, "../outside")], "is a link that leads outside"),
        ([entry("link", tarfile.SYMTYPE, "/etc/passwd")], "is a link that leads outside"),
        ([entry("link", tarfile.LNKTYPE, "/etc/passwd")], "is a hard link"),
        ([entry("device", tarfile.CHRTYPE)], "is a device"),
        ([entry("fifo", tarfile.FIFOTYPE)], "is a device"),
        # Each step stays inside; together they do not: a/b/c/up is the top, so up/../.. is above it.
        (
            [
                file("a/b/c/x"),
                entry("a/b/c/up", tarfile.SYMTYPE, "../../../z"),
                file("z/x"),
                entry("far", tarfile.SYMTYPE, "a/b/c/up/../.."),
            ],
            "the link far leads outside",
        ),
    ],
)
def test_what_would_leave_the_folder_is_refused(tmp_path: Path, adds: list[Add], reason: str) -> None:
    with pytest.raises(RenderError, match=reason):
        unpack(tar(tmp_path / "x.tar", file("harmless"), *adds), tmp_path / "work" / "out")
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "work" / "outside").exists()


def test_a_link_is_never_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(RenderError):
        unpack(tar(tmp_path / "x.tar", entry("d", tarfile.SYMTYPE, str(tmp_path / "elsewhere")), file("d/f")), tmp_path / "out")
    assert os.listdir(tmp_path / "elsewhere") == []


def test_zip_archives_follow_the_same_rules(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "good.zip", "w") as archive:
        archive.writestr("top/a.yaml", "x")
    unpack(tmp_path / "good.zip", tmp_path / "good")
    assert (tmp_path / "good/top/a.yaml").read_text() == "x"
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("../a.yaml", "x")
    with pytest.raises(RenderError, match="would be written outside"):
        unpack(tmp_path / "bad.zip", tmp_path / "bad")
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(RenderError, match="is a link that leads outside"):
        unpack(tmp_path / "link.zip", tmp_path / "link")


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    whole = tar(tmp_path / "x.tar.xz", file("a", "".join(str(number) for number in range(20_000)))).read_bytes()
    (tmp_path / "cut.tar.xz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "page.tar.gz").write_text("<html>not found</html>")
    for name in ("cut.tar.xz", "page.tar.gz"):
        with pytest.raises(RenderError, match=f"Failed to unpack .*{name}"):
            unpack(tmp_path / name, tmp_path / f"out-{name}")


def test_archives_are_known_by_name() -> None:
    assert all(is_archive(name) for name in ("a.tar.xz", "A.TAR.GZ", "a.tgz", "a.zip"))
    assert not any(is_archive(name) for name in ("a.git", "a.yaml", "zip"))
