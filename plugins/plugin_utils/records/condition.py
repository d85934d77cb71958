# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When an entry of a record counts, and how it takes the values of options. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import numbers

# Values of options by name: those of the inventory laid over the defaults of the argument specs.
Values = Mapping[str, Any]
# Within a text: {name}. Other braces are text.
_NAMED = re.compile(r"\{([a-z][a-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Condition:
    """Releases and values of options for which an entry counts; everything that is named must hold.

    C(when) gives the allowed values of each option, sorted by its name; None among them is an option that nobody set. C(given) names
    options that must have been set, C(absent) those that must not, C(same) some that must have one value, and C(selected) components
    that must be in the selection.
    C(since) is the first release, C(until) the first one for which the entry no longer counts.
    """

    when: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    given: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    selected: tuple[str, ...] = ()
    same: tuple[str, ...] = ()

    def holds(self, release: str, values: Values, selected: Collection[str] = ()) -> bool:
        """Whether the entry counts for a release with these values, next to these components."""
        return self.covers(release) and self.fits(values) and all(name in selected for name in self.selected)

    def covers(self, release: str) -> bool:
        """Whether the release lies in the range."""
        if self.since is not None and numbers(release) < numbers(self.since):
            return False
        return self.until is None or numbers(release) < numbers(self.until)

    def fits(self, values: Values) -> bool:
        """Whether the values of the options are those that are asked for."""
        return (
            all(values.get(name) in allowed for name, allowed in self.when)
            and all(is_given(values.get(name)) for name in self.given)
            and not any(is_given(values.get(name)) for name in self.absent)
            and all(values.get(name) == values.get(self.same[0]) for name in self.same)
        )

    def allows(self, name: str, value: Any) -> bool:
        """Whether C(when) names this very value of the option."""
        return any(option == name and value in allowed for option, allowed in self.when)


ALWAYS = Condition()


def is_given(value: Any) -> bool:
    """Whether an option was set to something: false and 0 are something, an empty text or list is nothing."""
    return value is not None and value not in ("", [], {}, ())


def is_option(value: Any) -> bool:
    """Whether a value of a record stands for that of an option.

    C({option: name}), C({option: name, default: value}) for when it is not given, C({option: name, join: ","}) for a list as a text.
    """
    return isinstance(value, Mapping) and "option" in value and set(value) <= {"option", "default", "join"}


def may_be_absent(value: Any, name: str) -> bool:
    """Whether every reference to the option in a value says what stands there when it is not given."""
    if is_option(value):
        return value["option"] != name or "default" in value
    if is_text(value):
        return name not in referenced(value)
    if isinstance(value, Mapping):
        return all(may_be_absent(item, name) for item in value.values())
    return not isinstance(value, (list, tuple)) or all(may_be_absent(item, name) for item in value)


def is_text(value: Any) -> bool:
    """Whether a value of a record is a text around options: C({text: "http://{name}:80"})."""
    return isinstance(value, Mapping) and set(value) == {"text"}


def referenced(value: Any) -> Iterator[str]:
    """The names of all options that a value, or anything in it, stands for."""
    if is_option(value):
        yield str(value["option"])
    elif is_text(value):
        yield from _NAMED.findall(str(value["text"]))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from referenced(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from referenced(item)


def substitute(value: Any, values: Values) -> Any:
    """The value with every reference replaced by what the option has: as it is, or as text within a text."""
    if is_option(value):
        given = values.get(str(value["option"]))
        if "default" in value and not is_given(given):
            return value["default"]
        return value["join"].join(str(item) for item in given or ()) if "join" in value else given
    if is_text(value):
        return _NAMED.sub(lambda found: _word(values.get(found[1])), str(value["text"]))
    if isinstance(value, Mapping):
        return {key: substitute(item, values) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [substitute(item, values) for item in value]
    return value


def _word(value: Any) -> str:
    """A value within a text, as YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
