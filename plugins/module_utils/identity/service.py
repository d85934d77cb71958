# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stands between the module and a rotation: parameters in, the module's result out, and no secret in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError, Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import PatientClient
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.portforward import PodWeb
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.rbac import missing_permissions
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import passwords
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.dex import Unclear
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.passwords import Hash, Uninstalled, Unusable
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.rotation import Failed, Rotation, Tools, Wish
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.web import Gateway, GatewayWeb
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor


def spec() -> dict[str, Any]:
    """Return the module's own options. The connection has a ``password`` of its own, so the user's is called otherwise."""
    return {
        "email": {"type": "str", "required": True},
        "user_password": {"type": "str", "no_log": True},
        "user_hash": {"type": "str", "no_log": True},
        "cost": {"type": "int"},
        "namespace": {"type": "str", "default": "auth"},
        "deployment": {"type": "str", "default": "dex"},
        "proof": {"type": "str", "choices": ["port_forward", "gateway", "none"], "default": "port_forward"},
        "gateway_url": {"type": "str"},
        "gateway_host": {"type": "str"},
        "gateway_ca": {"type": "path"},
        "gateway_validate_certs": {"type": "bool", "default": True},
        "wait_timeout": {"type": "int", "default": 300},
        "proof_timeout": {"type": "int", "default": 60},
    }


def execute(params: Mapping[str, Any], *, check: bool, diff: bool) -> dict[str, Any]:
    """Give a user the password; return the module's result, with ``msg`` and ``failed`` where it failed, and ``warnings``."""
    redactor = Redactor([value for name in ("user_password", "user_hash") if (value := params.get(name))])
    try:
        wish, findings = read(params)
        if findings:
            text = f"{len(findings)} problems: " if len(findings) > 1 else ""
            return _failed(text + "; ".join(findings) + ". Nothing was written.", findings=findings)
        return _run(params, wish, redactor, check=check, diff=diff)
    except Uninstalled as error:
        return _failed(str(error))
    except ClusterError as error:
        return _failed(redactor.text(str(error)))


def read(params: Mapping[str, Any]) -> tuple[Wish, list[str]]:
    """Return what is asked for, and everything that is wrong with it."""
    password, given, cost = params.get("user_password"), params.get("user_hash"), params.get("cost")
    email = str(params["email"]).strip()
    wrong = {
        "`email` is empty": not email,
        "neither `user_password` nor `user_hash` is given": password is None and given is None,
        "`cost` is that of a hash to be made, and `user_hash` is one already; give one of them": given is not None and cost is not None,
        "`wait_timeout` must be a number of seconds above 0": params["wait_timeout"] < 1,
        "`proof_timeout` must be a number of seconds above 0": params["proof_timeout"] < 1,
    }
    findings = [text for text, holds in wrong.items() if holds]
    found: list[Hash] = []
    judges: tuple[tuple[str, Any, Callable[[Any], object]], ...] = (
        ("user_hash", given, lambda text: found.append(passwords.read_hash(text))),
        ("user_password", password, passwords.check),
        ("cost", cost, passwords.check_cost),
    )
    for option, value, judge in judges:
        try:
            if value is not None:
                judge(value)
        except Unusable as error:
            findings.append(f"`{option}`: {error}")
    findings += _gateway_faults(params)
    if not findings and found and password is not None and not passwords.matches(password, found[0]):
        findings.append("`user_hash` is not a hash of `user_password`")
    wish = Wish(
        email,
        password or "",
        found[0] if found else None,
        cost or 0,
        params["namespace"],
        params["deployment"],
        params["proof"],
        float(params["wait_timeout"]),
        float(params["proof_timeout"]),
    )
    return wish, findings


def _gateway(params: Mapping[str, Any]) -> Gateway:
    ca, host = params.get("gateway_ca") or "", params.get("gateway_host") or ""
    return Gateway(params.get("gateway_url") or "", host, ca, params["gateway_validate_certs"])


def _gateway_faults(params: Mapping[str, Any]) -> list[str]:
    gateway = _gateway(params)
    if params["proof"] == "gateway":
        return [text for text in [gateway.fault()] if text]
    return ["`gateway_url` is given, and `proof` is not `gateway`; set it, or leave out the address"] if gateway.url else []


def _run(params: Mapping[str, Any], wish: Wish, redactor: Redactor, *, check: bool, diff: bool) -> dict[str, Any]:
    connection = from_params(params)
    client = PatientClient(connection, "kubeflow.platform", 2)
    tools = Tools(
        client,
        time,
        lambda pod, port: PodWeb(connection, wish.namespace, pod, port),
        lambda: GatewayWeb(_gateway(params)),
        lambda value: redactor.learn_values([value]),
    )
    rotation = Rotation(wish, tools, check=check)
    error, more = "", {}
    try:
        rotation.run()
    except Failed as end:
        error, more = str(end), {} if end.restored is None else {"restored": end.restored}
        more.update(missing_permissions([end.refused.failure] if end.refused is not None else []))
    except Refused as end:
        error, more = str(end), missing_permissions([end.failure])
        rotation.outcome.changed = rotation.outcome.restarted
    except (ClusterError, Unclear, Unusable) as end:
        error = f"The password of {wish.email} cannot be changed: {end}" if isinstance(end, Unclear | Unusable) else str(end)
        rotation.outcome.changed = rotation.outcome.restarted
    finally:
        client.close()
    outcome = rotation.outcome
    result = {
        "failed": bool(error),
        "changed": outcome.changed,
        "email": outcome.email,
        "place": outcome.place,
        "restarted": outcome.restarted,
        "proved": outcome.proved,
        "requests": dict(client.counts),
        "warnings": outcome.warnings,
        **({"msg": error if error.endswith(".") else f"{error}."} if error else {}),
        **({"diff": {"before": outcome.before, "after": outcome.after}} if diff else {}),
        **more,
    }
    return {name: redactor.text(value) if isinstance(value, str) else value for name, value in result.items()}


def _failed(text: str, **more: Any) -> dict[str, Any]:
    return {"failed": True, "changed": False, "msg": text, "warnings": [], **more}
