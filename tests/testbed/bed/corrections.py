# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections of pinned Go modules, applied to a copy of the module before the build."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .report import BedError


@dataclass(frozen=True, slots=True)
class Correction:
    """One piece of text in one file of a module, and what stands in its place."""

    file: str
    old: str
    new: str


_EXEC_SERVER = "pkg/kwok/server/debugging_exec.go"
_FORWARD_SERVER = "pkg/kwok/server/debugging_port_forword.go"

# KWOK 0.8.0 never closes the standard input of a command that `kubectl exec -i` runs, so whoever reads to its end (`cat`, database
# clients) hangs; it reports every exit code but 0 as an internal error; and a forwarded connection that the server closes stays open.
KWOK = (
    Correction(
        "pkg/utils/exec/exec.go", "_, _ = io.Copy(inPipe, opt.In)\n", "_, _ = io.Copy(inPipe, opt.In)\n\t\t\t\t_ = inPipe.Close()\n"
    ),
    Correction(_EXEC_SERVER, '\t"context"\n\t"fmt"\n', '\t"context"\n\t"errors"\n\t"fmt"\n'),
    Correction(_EXEC_SERVER, '\t"net/http"\n\t"slices"\n', '\t"net/http"\n\tosexec "os/exec"\n\t"slices"\n'),
    Correction(
        _EXEC_SERVER,
        '\t"k8s.io/cri-streaming/pkg/streaming/remotecommand"\n',
        '\t"k8s.io/cri-streaming/pkg/streaming/remotecommand"\n\tutilexec "k8s.io/utils/exec"\n',
    ),
    Correction(
        _EXEC_SERVER,
        "cmd[1:]...)\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n\nfunc getExecTarget",
        "cmd[1:]...)\n\tvar exitErr *osexec.ExitError\n\tif errors.As(err, &exitErr) {\n"
        "\t\treturn utilexec.ExitErrorWrapper{ExitError: exitErr}\n\t}\n\treturn err\n}\n\nfunc getExecTarget",
    ),
    Correction(_FORWARD_SERVER, '\tutilsnet "sigs.k8s.io/kwok/pkg/utils/net"\n', ""),
    Correction(
        _FORWARD_SERVER,
        "\t\tbuf1 := s.bufPool.Get()\n\t\tbuf2 := s.bufPool.Get()\n\t\tdefer func() {\n"
        "\t\t\ts.bufPool.Put(buf1)\n\t\t\ts.bufPool.Put(buf2)\n\t\t}()\n\t\treturn utilsnet.Tunnel(ctx, stream, dial, buf1, buf2)\n",
        "\t\tgo func() {\n\t\t\t_, _ = io.Copy(dial, stream)\n\t\t\tif half, ok := dial.(*net.TCPConn); ok {\n"
        "\t\t\t\t_ = half.CloseWrite()\n\t\t\t}\n\t\t}()\n\t\t_, err = io.Copy(stream, dial)\n\t\treturn err\n",
    ),
)


def corrected(module_folder: Path, path: str, corrections: tuple[Correction, ...], go: str, work: Path) -> list[str]:
    """Makes a corrected copy of module `path` in `work`; returns the flags that make `go build` use it."""
    answer = _go(go, module_folder, "mod", "download", "-json", path)
    source = answer.partition('"Dir": "')[2].partition('"')[0]
    copy = work / "module"
    shutil.copytree(source, copy)
    for correction in corrections:
        _apply(copy / correction.file, correction)
    shutil.copy(module_folder / "go.sum", work / "go.sum")
    modfile = work / "go.mod"
    modfile.write_text((module_folder / "go.mod").read_text(encoding="utf-8") + f"\nreplace {path} => {copy}\n", encoding="utf-8")
    return [f"-modfile={modfile}", "-mod=mod"]


def _apply(path: Path, correction: Correction) -> None:
    text = path.read_text(encoding="utf-8")
    if text.count(correction.old) != 1:
        raise BedError(f"the correction of {correction.file} does not fit this version of the module any more")
    # The module cache is read-only, and so is a copy of it.
    for each in (path.parent, path):
        os.chmod(each, 0o755)
    path.write_text(text.replace(correction.old, correction.new), encoding="utf-8")


def _go(go: str, folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "GOWORK": "off", "GOTOOLCHAIN": "local"}
    done = subprocess.run([go, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BedError(f"go {' '.join(arguments)} failed: {done.stderr.strip()[-500:]}{done.stdout[-500:]}")
    return done.stdout
