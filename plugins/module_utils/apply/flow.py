# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of the dataflow: objects and gates as the scheduler sees them, and the tasks that it gives out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gate, GateKind
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure


@dataclass(frozen=True, slots=True)
class Node:
    """One object as the scheduler sees it."""

    index: int
    title: str
    rank: int
    hard: frozenset[int]
    soft: frozenset[int]
    gates: frozenset[str]
    is_crd: bool = False


@dataclass(frozen=True, slots=True)
class Apply:
    """Send one object."""

    index: int


@dataclass(frozen=True, slots=True)
class Poll:
    """Look once at the cluster for all gates of one kind."""

    kind: GateKind
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """Try a closed webhook gate with a dry run of one object behind it."""

    key: str
    index: int


Task = Union[Apply, Poll, Probe]  # noqa: UP007 - pylint takes `|` between classes for an operation


@dataclass(frozen=True, slots=True)
class Answer:
    """What asking a webhook led to. ``failing`` names the webhook that did not answer, None means that all did, and "" that
    nothing was told about webhooks. ``guilty`` is the failing webhook's gate, where it is known; ``missing`` says what stands
    behind that webhook no more, when this run cannot bring it back."""

    failing: str | None
    reason: str = ""
    guilty: Gate | None = None
    missing: str = ""


@dataclass(slots=True)
class GateState:
    """How a gate stands; times are of the run's clock."""

    gate: Gate
    open: bool = False
    failed: str = ""
    reason: str = ""
    wanted_since: float | None = None
    opened_at: float | None = None
    next_look: float = 0.0
    pause: float = 0.0
    looking: bool = False
    members: set[int] = field(default_factory=set)
    # How often asking with an object told nothing about the webhook.
    mute: dict[int, int] = field(default_factory=dict)
    # The gate whose webhook is asked before this one and does not answer: of this one nothing is known.
    behind: str = ""
    # Since when nothing stands behind the webhook, and what is missing once it was given up.
    missing_since: float | None = None
    missing: str = ""


@dataclass(slots=True)
class NodeState:
    """How an object stands: waiting, sent, done, failed or skipped."""

    node: Node
    gates: set[str]
    phase: str = "waiting"
    attempts: int = 0
    not_before: float = 0.0
    retries: dict[str, int] = field(default_factory=dict)
    last: Failure | None = None
    because: str = ""
    outcome: Outcome | None = None
    started: float = 0.0
    seconds: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.phase in ("done", "failed", "skipped")
