# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of the engine, stage by stage: meet the cluster, compare and, unless in check mode, record the intent, apply, wait and prune."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import check_stage, requirements
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import ledger as ledgers
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.apply_stage import ApplyStage
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.compare_stage import CompareStage, Comparison
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ensure import Ensurer, secret_values
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.execute import Mailbox
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.home import ensure_home
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document, resolve
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.lease import Lease
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.observe import reading
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.prune_stage import PruneStage
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Report
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.shipped import take_out
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.verify_stage import VerifyStage
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import CONNECT_TIMEOUT, Client

# Seconds for the first connection: an address that swallows packets is told of within five seconds.
FIRST_CONNECT_TIMEOUT = 4.0


@dataclass(slots=True)
class Tools:
    """The edges of a run: the cluster, the clock, chance, threads and how their results arrive, the operator's screen, and the Lease."""

    client: Client
    discovery: Discovery
    clock: Clock
    jitter: Callable[[], float]
    pool: ThreadPoolExecutor
    say: Callable[[str], None]
    mailbox: Callable[[], Mailbox] = queue.SimpleQueue
    lease: Callable[[Client, Clock, str, str], Lease] = Lease
    # Told every secret value that the run makes or reads, so that none gets into what is shown.
    learn: Callable[[Iterable[str]], object] = tuple


class Run:
    """One call of the engine. ``execute`` may be called once."""

    def __init__(self, settings: Settings, tools: Tools, holder: str) -> None:
        self._settings = settings
        self._tools = tools
        self._holder = holder
        self.report = Report()
        self._taken: Mapping[tuple[str, str], Mapping[str, str]] = {}
        self._begun = tools.clock.monotonic()

    def execute(self, documents: Sequence[Document], warnings: Sequence[str]) -> Report:
        """Apply the documents, or in check mode only say what would happen. Raises EngineError, ClusterError, Unreachable."""
        self.report.warnings += warnings
        self._tools.client.end_by(self._begun + self._settings.run_timeout, self._tools.clock.monotonic)
        items = self._meet(documents)
        self._mark("met")
        if self._settings.check:
            self._check(items)
        else:
            with self._lease() as lease:
                self._carry_out(items, lease)
        self.report.requests = self._tools.client.counts
        self._mark("total")
        return self.report

    def _mark(self, stage: str) -> None:
        self.report.timeline[stage] = self._tools.clock.monotonic() - self._begun

    def _meet(self, documents: Sequence[Document]) -> list[Item]:
        """First contact: version, discovery and namespaces; whatever is wrong with the input ends the run here."""
        tools = self._tools
        tools.client.connect_timeout = FIRST_CONNECT_TIMEOUT
        reading(tools.discovery.refresh, "the API's discovery", tools.clock.sleep, first_contact=True)
        tools.client.connect_timeout = CONNECT_TIMEOUT
        self._check_version()
        rows = reading(lambda: tools.client.list_metadata("/api/v1/namespaces"), "the namespaces", tools.clock.sleep)
        live = frozenset(row["name"] for row in rows)
        check_stage.assure_known(self._settings, documents, tools.discovery)
        wanted, required = requirements.split(documents)
        requirements.assure(required, tools.discovery.find, tools.client, tools.pool, tools.clock.sleep)
        wanted, self._taken = take_out(wanted, self._settings.credentials)
        return resolve(wanted, tools.discovery.find, self._settings.set_name, live.__contains__)

    def _check_version(self) -> None:
        window = self._settings.kubernetes_window
        if window is None or self._settings.allow_untested_kubernetes:
            return
        found = reading(lambda: self._tools.discovery.server_version, "the version of the API server", self._tools.clock.sleep)
        if not within(found, *window):
            raise EngineError(
                f"Kubernetes {found} is outside the range {window[0]} to {window[1]} that release {self._settings.release} was tested on, "
                "and nothing was written. Choose another release or cluster, or set `allow_untested_kubernetes: true`."
            )

    @contextmanager
    def _lease(self) -> Iterator[Lease]:
        tools = self._tools
        ensure_home(tools.client, tools.clock)
        lease = tools.lease(tools.client, tools.clock, self._settings.set_name, self._holder)
        lease.acquire(self._settings.lease_timeout, tools.say)
        lease.start_renewing()
        try:
            yield lease
        finally:
            lease.release()

    def _check(self, items: Sequence[Item]) -> None:
        ledger = ledgers.LedgerStore(self._tools.client, self._tools.clock, self._settings.set_name).load()
        items = self._ensure(self._ensurer(), items)
        comparison = self._compare(items, ledger)
        pruning = PruneStage(self._settings, self._tools, ledger, ledger.release)
        self.report.rows += comparison.rows()
        self.report.rows += pruning.plan(items, comparison.live, failed=bool(comparison.failures()))
        self._note(check_stage.not_made(self._settings.checks, "check mode only reads their expressions"))

    def _ensurer(self) -> Ensurer:
        return Ensurer(self._tools.client, self._tools.clock, self._settings.credentials, check=self._settings.check)

    def _ensure(self, ensurer: Ensurer, items: Sequence[Item]) -> list[Item]:
        ensured = ensurer.complete(items, self._taken)
        self._tools.learn(secret_values(ensured))
        self.report.credentials = [state.as_result() for state in ensured.states]
        self.report.first_user = ensured.first_user
        self.report.findings += ensured.findings
        return ensured.items

    def _note(self, findings: Sequence[check_stage.Finding]) -> None:
        self.report.checks = [finding.as_result() for finding in findings]
        self.report.rows += check_stage.rows(findings)

    def _make_checks(self, deadline: float) -> None:
        """Ask the checks, if everything works: what follows from an object that does not is no news."""
        if not self._settings.wait or self.report.failures:
            reason = "this run does not wait" if not self.report.failures else "something else failed first"
            self._note(check_stage.not_made(self._settings.checks, reason))
            return
        stage = check_stage.CheckStage(self._settings, self._tools, deadline)
        self._note(stage.make())
        self.report.waited += stage.waits

    def _compare(self, items: Sequence[Item], ledger: ledgers.Ledger) -> Comparison:
        comparison = CompareStage(self._settings, self._tools).compare(items, ledger)
        self.report.findings += comparison.findings()
        self.report.warnings += comparison.warnings()
        self._mark("compared")
        return comparison

    def _carry_out(self, items: Sequence[Item], lease: Lease) -> None:
        settings, tools = self._settings, self._tools
        store = ledgers.LedgerStore(tools.client, tools.clock, settings.set_name)
        ledger = store.load()
        ensurer = self._ensurer()
        items = self._ensure(ensurer, items)
        comparison = self._compare(items, ledger)
        comparison.refuse_before_writing(settings)
        ensurer.write_first()
        deadline = self._begun + settings.run_timeout
        stage = ApplyStage(settings, tools, comparison, store, ledger, self._holder, deadline, lease)
        try:
            stage.run()
        finally:  # a run that is cut short has changed things too
            self.report.rows += stage.rows()
            self.report.waited += stage.waits()
            self.report.warnings += stage.warnings
            self.report.requests = tools.client.counts
            self._mark("applied")
        verify = VerifyStage(settings, tools, comparison, stage, deadline)
        self.report.findings += verify.explain_closed_gates()
        if settings.wait and not stage.failed:
            self.report.rows += verify.wait()
            self.report.waited += verify.waits
            self.report.waited_for_all = True
            self._mark("ready")
        self._make_checks(deadline)
        pruning = PruneStage(settings, tools, stage.ledger, ledger.release, stage.since, deadline)
        planned = pruning.plan(items, comparison.live, failed=bool(self.report.failures))
        for row in pruning.carry_out(planned, lease.assure):  # one by one, since a run that is cut short has deleted things too
            self.report.rows.append(row)
        lease.assure()
        settled = verify.settle(stage.ledger)
        self.report.findings += sorted(verify.findings)
        store.save(ledgers.without(settled, *pruning.gone), patience=30.0)


def within(version: str, least: str, most: str) -> bool:
    """Whether a version lies in a window whose ends are inclusive prefixes: 1.36.4 lies within 1.34 to 1.36."""

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(int(piece) for piece in text.lstrip("v").split("-")[0].split("+")[0].split(".") if piece.isdigit())

    found, low, high = numbers(version), numbers(least), numbers(most)
    return found >= low and found[: len(high)] <= high
