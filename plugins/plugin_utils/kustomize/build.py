# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Building parts: one kustomize process for each, as many at a time as there are cores, the longest first."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import messages, process, secrets
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.binary import Kustomize
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError, listing
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import Rendered, objects
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import Part
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.wrapper import Wrapper, selects

# The slowest part of 26.03.1 (KServe) takes 5 s on an idle machine.
BUILD_TIMEOUT = 300.0
# kustomize spends a third of its time in garbage collection; this saves most of that for some 100 MB more.
_COLLECTOR = "300"
# Where nothing may be fetched, whatever tries all the same fails at once: the discard port refuses, and git is not found.
_CLOSED = "http://127.0.0.1:9"
_DURATIONS = "durations.json"
# As many objects as a message can name.
_FEW = 12


@dataclass(frozen=True, slots=True)
class Job:
    """One build: of the part's folder, or of the wrapper around it. ``files`` is what it reaches, ``size`` their bytes."""

    part: Part
    wrapper: Wrapper | None
    files: tuple[str, ...]
    size: int
    may_fetch: bool


@dataclass(frozen=True, slots=True)
class Built:
    """The objects of one part and what kustomize had to say. ``idle`` are the numbers of patches whose target none of them answers."""

    objects: tuple[Rendered, ...]
    messages: str
    seconds: float
    idle: tuple[int, ...] = ()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def build_all(jobs: Sequence[Job], kustomize: Kustomize, cache: Cache, keep: Callable[[int, Built], None]) -> list[Built]:
    """Build all jobs; results are in the order of ``jobs``. Raises RenderError that names every part that failed.

    ``keep`` gets each result, with the job's number, as soon as it is there: what was built stays built when another fails.
    """
    known: Mapping[str, float] = cache.read_json(cache.path("index", _DURATIONS)) or {}
    order = _longest_first(jobs, known)
    results: dict[int, Built | RenderError] = {}

    def one(number: int) -> None:
        try:
            results[number] = built = build(jobs[number], kustomize, cache)
            keep(number, built)
        except RenderError as error:
            results[number] = error

    with ThreadPoolExecutor(max_workers=max(1, min(cores(), len(jobs)))) as pool:
        try:
            list(pool.map(one, order))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            process.end_all()
            raise
    done = {jobs[number].part.folder: result.seconds for number, result in results.items() if isinstance(result, Built)}
    cache.write_json(cache.path("index", _DURATIONS), {**known, **done})
    failures = [str(results[number]) for number in range(len(jobs)) if isinstance(results[number], RenderError)]
    if len(failures) == 1:
        raise RenderError(failures[0])
    if failures:
        raise RenderError(f"Failed to render {len(failures)} parts:{listing(failures)}")
    return [result for number in range(len(jobs)) if isinstance(result := results[number], Built)]


def _longest_first(jobs: Sequence[Job], known: Mapping[str, float]) -> list[int]:
    """By the time a part took before; by the bytes it reads where it was never built (a second for about 300 kB)."""
    return sorted(range(len(jobs)), key=lambda number: -known.get(jobs[number].part.folder, jobs[number].size / 300_000))


def build(job: Job, kustomize: Kustomize, cache: Cache) -> Built:
    """Build one part, and note which of its patches may have done nothing."""
    folder = job.wrapper.write(cache) if job.wrapper else job.part.folder
    started = time.monotonic()
    done = _run(job, folder, kustomize)
    found = objects(done.out, job.part.name)
    seconds = time.monotonic() - started
    return Built(tuple(found), done.err, round(seconds, 3), _without_answer(job.wrapper, found) if job.wrapper else ())


def _run(job: Job, folder: str, kustomize: Kustomize) -> process.Finished:
    try:
        done = process.run([*kustomize.command, folder], timeout=BUILD_TIMEOUT, environment=_environment(job.may_fetch))
    except OSError as error:
        raise RenderError(f"Failed to run {kustomize.path}: {error.strerror}. Set `kustomize_path` to another program.") from error
    if done.code is None:
        raise RenderError(f"Failed to render part {job.part.name}: kustomize was ended after {BUILD_TIMEOUT:.0f} s. Run it again.")
    if done.code != 0:
        # Masked before it is shortened: half a value would not be recognised.
        reason = messages.failure(_without_secrets(done.err, job), job.files)
        raise RenderError(f"Failed to render part {job.part.name} ({job.part.folder}): {reason}. Correct it and run again.")
    return done


def _without_secrets(text: str, job: Job) -> str:
    patches = [str(patch.get("patch") or "") for patch in job.wrapper.patches] if job.wrapper else []
    return secrets.redactor(job.files, patches).text(text)


def _environment(may_fetch: bool) -> dict[str, str]:
    if may_fetch:
        environment = dict(os.environ)
    else:
        environment = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
        environment |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _CLOSED)
    environment["GOGC"] = os.environ.get("GOGC", _COLLECTOR)
    return environment


def _without_answer(wrapper: Wrapper, found: Iterable[Rendered]) -> tuple[int, ...]:
    headers = [entry.header() for entry in found]
    targets = [patch.get("target") for patch in wrapper.patches]
    return tuple(number for number, target in enumerate(targets) if target and not any(selects(target, header) for header in headers))


def refuse_idle_patches(rows: Sequence[tuple[Job, Built]], kustomize: Kustomize, cache: Cache) -> None:
    """Raise RenderError that names every patch whose target matches nothing; kustomize ignores such a patch in silence.

    A patch that several parts share has to match in one of them.
    """
    bearers: dict[str, list[tuple[Job, Built, int]]] = {}
    for job, built in rows:
        for number, label in enumerate(job.wrapper.labels if job.wrapper else ()):
            bearers.setdefault(label, []).append((job, built, number))
    faults = []
    for label, entries in bearers.items():
        if all(number in built.idle and _did_nothing(job, built, number, kustomize, cache) for job, built, number in entries):
            job, _built, number = entries[0]
            target = job.wrapper.patches[number]["target"] if job.wrapper else {}
            words = ", ".join(f"{key} {value}" for key, value in target.items())
            faults.append(f"{label}: its target ({words}) matches nothing{_instead(target, entries)}")
    if faults:
        raise RenderError(f"Failed to patch: kustomize would ignore these in silence:{listing(faults)}\nCorrect or remove them.")


def _did_nothing(job: Job, built: Built, number: int, kustomize: Kustomize, cache: Cache) -> bool:
    """A target that no rendered object answers to may still have matched: the patch deleted its object, or the target uses a
    name from before a prefix. The build without the patch tells."""
    if job.wrapper is None:
        return False
    less = job.wrapper.without_patch(number)
    without = objects(_run(job, less.write(cache), kustomize).out, job.part.name)
    return sorted(entry.sha256 for entry in without) == sorted(entry.sha256 for entry in built.objects)


def _instead(target: Mapping[str, str], entries: Iterable[tuple[Job, Built, int]]) -> str:
    """The objects of that kind that are there, if they are few."""
    found = [entry for _job, built, _number in entries for entry in built.objects if entry.kind == target.get("kind")]
    return f"; there is {', '.join(map(str, found))}" if 0 < len(found) <= _FEW else ""
