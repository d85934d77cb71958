# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs end with their time, their children with them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.process import run


def test_output_and_messages_come_apart() -> None:
    done = run([sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"], timeout=30, environment={})
    assert (done.code, done.out, done.err) == (3, b"out\n", "err\n")


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    child = f"import os,time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    started = time.monotonic()
    done = run([sys.executable, "-c", parent], timeout=3, environment={})
    assert done.code is None
    assert time.monotonic() - started < 20
    # The pipes are closed once nobody of the group is left, so the child is gone by now (or a zombie of init).
    child_id = int(mark.read_text())
    for _attempt in range(50):
        try:
            os.kill(child_id, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{child_id}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the child is still running")


def test_a_program_that_is_not_there_raises() -> None:
    with pytest.raises(FileNotFoundError):
        run(["/nowhere/program"], timeout=1, environment={})
