# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that keep an object before it is deleted. They may hold Secrets, so nobody else may read them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

_FOLDER = "kubeflow-platform"
_LONGEST = 240  # file systems take 255 bytes; a kind, a group, a namespace and a name can have 63 + 253 + 63 + 253


def _short(name: str) -> str:
    """Return a name that a file can have; the hash of a longer one keeps it its own."""
    if len(name) <= _LONGEST:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[: _LONGEST - len(mark) - 1]}_{mark}"


def keep(directory: str, identity: Identity, live: Mapping[str, Any]) -> str:
    """Write an object to a file with mode 0600 in a folder of our own with mode 0700; gives its path. Raises EngineError.

    The folder lies in ``directory``, whose own mode is the user's business. A file that exists is never overwritten: it may
    be the only copy left by a run that was killed.
    """
    folder = Path(directory).expanduser() / _FOLDER
    uid = str((live.get("metadata") or {}).get("uid") or "unknown")
    words = [identity.kind, identity.group, identity.namespace, identity.name, uid]
    path = folder / f"{_short('_'.join(re.sub(r'[^A-Za-z0-9.-]', '-', word) for word in words if word))}.json"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(live, stream, indent=2, sort_keys=True, ensure_ascii=False)
            stream.write("\n")
            stream.flush()
            os.fsync(stream.fileno())
    except FileExistsError:
        return str(path)
    except OSError as error:
        raise EngineError(
            f"Failed to keep {identity} before deleting it: {error.strerror} ({path}). Set `backup_dir` to a folder that can be written."
        ) from error
    return str(path)
