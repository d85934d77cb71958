# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a webhook is that a run does not bring itself: waiting for it is in vain when nothing stands behind it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import SET_LABEL
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.probes import ADMISSION_GROUP, Webhook
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Row
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity


@dataclass(frozen=True, slots=True)
class Owner:
    """Who applied a webhook's configuration; both empty when nobody knows. ``guessed``: only its name says so."""

    component: str = ""
    set_name: str = ""
    guessed: bool = False

    def __str__(self) -> str:
        """The owner in words."""
        if self.set_name:
            return f"the set {self.set_name}"
        if self.component:
            return f"the component {self.component}" + (" (by its name)" if self.guessed else "")
        return "something outside this set"

    def advice(self, hook: Webhook) -> str:
        """What to do so that the webhook answers, or is asked no more."""
        what = f"{hook.configuration_kind} {hook.configuration}"
        if self.set_name:
            first = f"Apply the set {self.set_name} again first"
        elif self.component:
            first = f"Apply {self.component} first (`scope: [{self.component}]`), or together with this run (leave `scope` empty)"
        else:
            first = f"Bring back what it belongs to (`kubectl describe {hook.configuration_kind.lower()} {hook.configuration}`)"
        return f"{first}; or delete {what} if nothing needs it any more."


@dataclass(frozen=True, slots=True)
class Records:
    """What is known of who applied what: this set's name, and the component of each object that its ledger holds."""

    set_name: str = ""
    components: Mapping[Identity, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a run brings: its components, and the namespaces that it puts objects into."""

    components: frozenset[str]
    namespaces: frozenset[str]


def outside(configuration: Mapping[str, Any], hook: Webhook, reach: Reach, records: Records) -> Owner | None:
    """Whose a webhook is when no run of these objects can mend it; None when this one may.

    The caller has made sure that neither the configuration nor its Service is among the run's objects. Operators make
    webhooks of their own while they start, so that one which nobody recorded counts as this run's when its name, or else the
    namespace of its Service, says that it could be.
    """
    other = ((configuration.get("metadata") or {}).get("labels") or {}).get(SET_LABEL, "")
    if other and other != records.set_name:
        return Owner(set_name=other)
    recorded = records.components.get(Identity(ADMISSION_GROUP, hook.configuration_kind, "", hook.configuration))
    if recorded:
        return Owner(recorded)
    guess = named_after(hook.configuration, {*records.components.values(), *reach.components})
    if guess:
        return None if guess in reach.components else Owner(guess, guessed=True)
    if hook.service is not None and hook.service.namespace in reach.namespaces:
        return None
    return Owner()


def named_after(name: str, components: Iterable[str]) -> str:
    """The component whose name is part of another name, word by word; the longest one, "" where there is none."""
    words = f"-{'-'.join(re.findall(r'[a-z0-9]+', name.lower()))}-"
    found = [component for component in components if f"-{component.replace('_', '-')}-" in words]
    return max(sorted(found), key=len, default="")


def orphan_row(hook: Webhook, owner: Owner, missing: str) -> Row:
    """The row of a webhook that nobody can answer and that this run cannot mend; ``missing`` says what is not there."""
    failure = Failure(
        "webhook_down",
        f"Webhook {hook.name} of {hook.configuration_kind} {hook.configuration} cannot answer: {missing}; "
        f"it belongs to {owner}, so nothing in this run brings that back",
        owner.advice(hook),
        webhook=hook.name,
        reason=missing,
    )
    identity = Identity(ADMISSION_GROUP, hook.configuration_kind, "", hook.configuration)
    return Row(identity, owner.component, "not_ready", missing, None, failure)
