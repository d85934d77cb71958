# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m standins --kubeconfig K --dir DIR`: runs all duties until it is told to stop."""

from __future__ import annotations

import argparse
import ipaddress
import signal
import sys
import threading
from pathlib import Path

from .api import Api
from .cabundle import CaBundles, CrdBundles
from .issuers import Issuers
from .metrics import Metrics
from .pipelines import Pipelines
from .profiles import Profiles
from .rotators import Rotators
from .volumes import Volumes
from .webhooks import Webhooks
from .world import World

DUTIES = (Webhooks, CaBundles, CrdBundles, Rotators, Issuers, Profiles, Pipelines, Volumes, Metrics)


def main() -> int:
    """Starts the watches and one thread per duty."""
    parser = argparse.ArgumentParser(prog="standins", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--dir", type=Path, required=True, help="holds faults.json and the authorities")
    parser.add_argument("--service-cidr", type=ipaddress.ip_network, default=ipaddress.ip_network("127.96.0.0/16"))
    parser.add_argument("--without", action="append", default=[], help="a duty to leave out")
    arguments = parser.parse_args()
    if not arguments.service_cidr.is_loopback:
        parser.error("--service-cidr must be inside 127.0.0.0/8: nothing leaves loopback")
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *dummy: stopped.set())
    # many small threads: the default interval of 5 ms makes answers to webhooks late
    sys.setswitchinterval(0.001)
    arguments.dir.mkdir(parents=True, exist_ok=True)
    world = World(Api(arguments.kubeconfig, arguments.dir), arguments.dir)
    duties = [duty(world) for duty in DUTIES if duty.duty not in arguments.without]
    world.start()
    for duty in duties:
        duty.start()
    stopped.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
