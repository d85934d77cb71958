# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage that compares the whole set with the cluster: an action for each object, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.compare import NOT_YET, Comparer
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.dependents import Dependents
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.dying import doomed, dying_namespaces
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.graph import crds_by_kind
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Ledger, verified
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.makers import stranger
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Decision, EngineError, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.observe import live_metadata
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.predict import Predictor, schema_failure, schema_problems
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Row
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.retry import backoff
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import classify_transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

if TYPE_CHECKING:
    from ansible_collections.kubeflow.platform.plugins.module_utils.apply.run import Tools

NAMESPACES = Resource("", "v1", "Namespace", "namespaces", False)
PASSING = frozenset({"transport", "throttled", "server_down", "internal"})
ENDING = frozenset({"terminating", "ns_terminating"})
TRIES = 4
MOST_NAMED = 5


@dataclass(slots=True)
class Comparison:
    """What each item (by index) would need; items without a decision are compared again when their turn comes."""

    items: Sequence[Item]
    live: Mapping[Identity, dict[str, Any]]
    verified: frozenset[int]
    crds: Mapping[tuple[str, str], Item]
    decisions: dict[int, Decision] = field(default_factory=dict)
    # Who made each object that is neither recorded nor ever applied by us, nor made by the cluster.
    adopting: Mapping[int, str] = field(default_factory=dict)

    @property
    def to_send(self) -> list[Item]:
        """Items that are not as desired, or of which that is not known."""
        return [item for item in self.items if self.action(item) != "unchanged"]

    def action(self, item: Item) -> str:
        """The action for one item."""
        return "unchanged" if item.index in self.verified else self.decisions[item.index].action

    def rows(self) -> list[Row]:
        """The plan: what a run made now would do."""
        rows = []
        for item in self.items:
            decision = self.decisions.get(item.index)
            failure = decision.failure if decision else None
            rows.append(Row(item.identity, item.part.component, self.action(item), decision.reason if decision else "", decision, failure))
        return rows

    def failures(self) -> list[Decision]:
        """The decisions that no run can carry out as things are."""
        return [decision for decision in self.decisions.values() if decision.failure is not None]

    def findings(self) -> list[str]:
        """Parts of our objects that somebody else added: no comparison by the server shows them."""
        return [
            f"{self.items[index].identity}: {path} was added by somebody else and is left as it is"
            for index, decision in sorted(self.decisions.items())
            for path in decision.additions
        ]

    def warnings(self) -> list[str]:
        """What the server warned of, and whether objects of others would be taken over."""
        found = [text for decision in self.decisions.values() for text in decision.warnings]
        if self.adopting:
            found.append(self.adoption())
        return found

    def adoption(self) -> str:
        """One sentence about the objects that others made, and who they are."""
        named = ", ".join(f"{self.items[index].identity} ({self.adopting[index]})" for index in sorted(self.adopting)[:MOST_NAMED])
        more = f" and {len(self.adopting) - MOST_NAMED} more" if len(self.adopting) > MOST_NAMED else ""
        return f"{len(self.adopting)} objects exist already and were applied by another tool or by hand: {named}{more}"

    def refuse_before_writing(self, settings: Settings) -> None:
        """End the run while nothing is written: adoption and recreation that were not allowed, objects of another set."""
        if self.adopting and settings.adopt != "allow":
            raise EngineError(
                f"{self.adoption()}. Nothing of the set was written. Look at the plan (check mode), "
                "then set `adopt: allow` to take them over."
            )
        barred = [
            row.failure
            for row in self.decisions.values()
            if row.failure is not None and row.failure.error_class in ("transition", "foreign_set", "crd_unsafe")
        ]
        if barred:
            told = "; ".join(f"{failure.message}. {failure.advice}" for failure in barred[:MOST_NAMED])
            more = f" ({len(barred) - MOST_NAMED} more like these.)" if len(barred) > MOST_NAMED else ""
            raise EngineError(f"{told}{more} Nothing of the set was written.")


def comparer(settings: Settings, tools: Tools) -> Comparer:
    """A comparer that looks itself for what would be deleted together with an object, so that each stage knows how things are now."""
    dependents = Dependents(tools.client, tools.discovery, tools.clock.sleep)
    return Comparer(tools.client, settings.set_name, settings.takeover, settings.recreate, dependents.of)


class CompareStage:
    """Compares; in check mode also predicts what creating the absent objects would meet."""

    def __init__(self, settings: Settings, tools: Tools) -> None:
        self._settings = settings
        self._tools = tools
        self._comparer = comparer(settings, tools)

    def compare(self, items: Sequence[Item], ledger: Ledger) -> Comparison:
        """Observe everything by metadata; look closely only at what is not known to be as desired."""
        tools = self._tools
        served = frozenset(item.index for item in items if tools.discovery.find(item.identity.group, item.version, item.identity.kind))
        resources = [NAMESPACES, *self._places(items, served), *self._recorded(ledger)]
        live = live_metadata(tools.client, resources, tools.pool, tools.clock.sleep)
        crds = crds_by_kind(items)
        ending = dying_namespaces(live)
        sound = frozenset(index for index in self._verified(items, ledger, live, crds) if items[index].identity.namespace not in ending)
        comparison = Comparison(items, live, sound, crds)
        near = [item for item in items if item.index not in sound and item.identity in live]
        absent = [item for item in items if item.identity not in live]
        tools.say(f"compared {len(items)} objects: {len(sound)} as recorded, {len(near)} to look at, {len(absent)} not there")
        asked = [item for item in near if item.index in served]
        comparison.decisions.update(zip((item.index for item in asked), tools.pool.map(partial(self._decide, ending=ending), asked)))
        comparison.decisions.update(self._absent(absent, comparison, served))
        comparison.decisions.update(await_crds(near, comparison, served))
        makers = {item.index: stranger(ledger, item.identity, live[item.identity], self._settings.takeover) for item in near}
        comparison.adopting = {index: who for index, who in makers.items() if who}
        return comparison

    def _places(self, items: Sequence[Item], served: frozenset[int]) -> list[Resource]:
        """Where live objects are found: in the desired version, or where only a new CRD will serve that, in the present one."""
        found = (item.resource if item.index in served else self._tools.discovery.preferred(*item.group_kind) for item in items)
        return [resource for resource in found if resource is not None]

    def _recorded(self, ledger: Ledger) -> list[Resource]:
        """The kinds of recorded objects, as far as they are served still: what is no longer desired may be live."""
        kinds = {(identity.group, identity.kind) for identity in ledger.entries}
        return [found for found in (self._tools.discovery.preferred(*kind) for kind in sorted(kinds)) if found is not None]

    def _verified(
        self, items: Sequence[Item], ledger: Ledger, live: Mapping[Identity, dict[str, Any]], crds: Mapping[tuple[str, str], Item]
    ) -> frozenset[int]:
        sound = {
            item.index
            for item in items
            if item.identity in live and verified(ledger.entries.get(item.identity), live[item.identity], item.digest)
        }
        # Another schema may give a custom resource other defaults, so its record is worth nothing once its CRD changes.
        return frozenset(index for index in sound if (crd := crds.get(items[index].group_kind)) is None or crd.index in sound)

    def _decide(self, item: Item, ending: frozenset[str]) -> Decision:
        doom = doomed(item, ending)
        decision = Decision("blocked", item.desired, failure=doom) if doom is not None else self._patiently(item, self._comparer.decide)
        if self._settings.check and decision.failure is not None and decision.failure.error_class in ENDING:
            # A run would wait until it is gone, and make it again.
            return Decision("create", item.desired, predicted=True, reason=decision.failure.reason)
        return decision

    def _patiently(self, item: Item, decide: Callable[[Item], Decision]) -> Decision:
        decision = Decision("blocked", item.desired)
        for attempt in range(TRIES):
            try:
                decision = decide(item)
            except Unreachable as error:
                decision = Decision("blocked", item.desired, failure=classify_transport(error))
            failure = decision.failure
            if failure is None or failure.error_class not in PASSING:
                break
            self._tools.clock.sleep(backoff(failure, attempt, self._tools.jitter()))
        return decision

    def _absent(self, absent: Sequence[Item], comparison: Comparison, served: frozenset[int]) -> dict[int, Decision]:
        if self._settings.check:
            namespaces = frozenset(identity.name for identity in comparison.live if (identity.group, identity.kind) == ("", "Namespace"))
            predictor = Predictor(self._tools.client, comparison.crds, served, namespaces)
            predicted = self._tools.pool.map(lambda item: self._predict(item, predictor), absent)
            return dict(zip((item.index for item in absent), predicted))
        found = {}
        for item in absent:
            problems = schema_problems(item, comparison.crds)
            failure = schema_failure(item, problems) if problems else None
            found[item.index] = Decision("invalid" if problems else "create", item.desired, failure=failure)
        return found

    def _predict(self, item: Item, predictor: Predictor) -> Decision:
        decision = self._patiently(item, predictor.predict)
        if decision.action == "blocked" and decision.failure is not None:
            return Decision("create", item.desired, predicted=True, reason=decision.failure.message)
        return decision


def await_crds(near: Sequence[Item], comparison: Comparison, served: frozenset[int]) -> dict[int, Decision]:
    """Decisions about custom resources that the live CRD does not take, while the set brings another: their turn is after it."""
    found = {}
    for item in near:
        crd = comparison.crds.get(item.group_kind)
        if item.index in served:
            failure = comparison.decisions[item.index].failure
            if failure is None or failure.error_class not in ("schema", "invalid"):
                continue
            if crd is None or comparison.action(crd) not in ("configure", "recreate"):
                continue
        problems = schema_problems(item, comparison.crds)
        if problems:
            found[item.index] = Decision("invalid", item.desired, failure=schema_failure(item, problems))
        else:
            reason = f"{crd.identity if crd else 'its CustomResourceDefinition'} changes first"
            found[item.index] = Decision("configure", item.desired, predicted=True, reason=reason)
    return found


def deferred_by_crd(comparison: Comparison, item: Item) -> bool:
    """Whether a live object waits for another CRD of its kind."""
    return item.index in comparison.decisions and comparison.decisions[item.index].predicted and item.group_kind in comparison.crds


def deferred(decision: Decision) -> bool:
    """Whether a decision only says that the cluster could not be asked yet."""
    return decision.predicted or (decision.failure is not None and decision.failure.error_class in NOT_YET)
