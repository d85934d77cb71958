# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long planning takes, from the files of the records to ordered parts, for each release. At most 0.3 s is wanted.

make bench-planning
"""

from __future__ import annotations

import time

from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load

WANTED = 0.3
TIMES = 5


def main() -> int:
    """Print the best of five times for each release; 1 when one is too long."""
    slow = False
    print("release   parts   seconds")
    for release in load(collection_root()).releases:
        taken = []
        for _time in range(TIMES):
            started = time.perf_counter()
            made = plan(load(collection_root()), Request(release))
            taken.append(time.perf_counter() - started)
        slow = slow or min(taken) > WANTED
        print(f"{release:<9} {len(made.parts):>5}   {min(taken):.3f}")
    return int(slow)


if __name__ == "__main__":
    raise SystemExit(main())
