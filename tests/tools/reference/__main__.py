# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what is generated of the documentation. A unit test compares, so that no page can say something else than the code.

make docs
"""

from __future__ import annotations

from tests.tools.reference.files import ROOT, wanted


def main() -> None:
    """Write the files that are not as they should be."""
    for path, text in wanted(ROOT).items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
