# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run over tenants as a module's result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.rbac import missing_permissions
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import difference
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.changes import Change
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.run import Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.send import Sent

_LONGEST_DIFF = 4000


def as_result(outcome: Outcome, *, check: bool, diff: bool, requests: dict[str, int]) -> dict[str, Any]:
    """Return what a module returns; "changed", the actions and the diff all come from the changes that were sent."""
    redactor = Redactor()
    done = [row for row in outcome.sent if row.failure is None and (row.wrote or check)]
    result: dict[str, Any] = {
        "changed": bool(done),
        "counts": dict(Counter(row.change.action for row in done)),
        "actions": [_action(row.change) for row in done],
        "tenants": outcome.states,
        "unnamed_contributors": outcome.unnamed,
        "lost": outcome.lost,
        "failed": bool(outcome.failures or outcome.late),
        "failures": [_failure(row) for row in outcome.failures] + [{"tenant": name, "reason": text} for name, text in outcome.late.items()],
        "requests": requests,
    }
    result.update(missing_permissions(row.failure for row in outcome.failures if row.failure is not None))
    result = redactor.object(result)
    if diff:
        result["diff"] = [shown for row in done if (shown := _diff(row.change, redactor)) is not None]
    return result


def message(outcome: Outcome) -> str:
    """Return one text for a run that failed: the first reason, and how many more there are."""
    texts = [str(row.failure) for row in outcome.failures] + list(outcome.late.values())
    more = f" {len(texts) - 1} more failed; failures lists them." if len(texts) > 1 else ""
    return f"{texts[0]}{more}" if texts else ""


def _action(change: Change) -> dict[str, Any]:
    identity = change.identity
    row: dict[str, Any] = {
        "tenant": change.tenant,
        "action": change.action,
        "kind": identity.kind,
        "namespace": identity.namespace,
        "name": identity.name,
    }
    if change.verb == "patch":
        row["paths"] = list(change.differing())
    if change.why:
        row["reason"] = change.why
    return row


def _failure(row: Sent) -> dict[str, Any]:
    failure = row.failure
    return {
        "tenant": row.change.tenant,
        "kind": row.change.identity.kind,
        "name": row.change.name,
        "class": failure.error_class if failure else "",
        "reason": failure.message if failure else "",
        "what_to_do": failure.advice if failure else "",
    }


def _diff(change: Change, redactor: Redactor) -> dict[str, str] | None:
    found = difference.compare(change.before, change.after)
    return difference.render(found, redactor, _LONGEST_DIFF) if found is not None else None


def in_one_message(errors: Sequence[str]) -> str:
    """Return one text for a run that was refused, with every finding, numbered; the order is that of the data."""
    if len(errors) == 1:
        return f"Nothing was written: {errors[0]}"
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(errors, 1))
    return f"Nothing was written, since {len(errors)} things are wrong:\n{listed}"


def masked(text: str) -> str:
    """Return a text without what looks like a credential."""
    return Redactor().text(text)
