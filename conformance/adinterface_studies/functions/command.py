"""`python -m adinterface_studies functions`: the table of functions, as text and Markdown."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from adinterface_conformance.uses import USES as STANDARD

from adinterface import AutoBackend
from adinterface.core.contract.registry import find

from .. import options as studies
from ..progress import steps
from . import table
from .checks import MODES


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if every function is right or a known upstream fact, 1 if not, 2 for a
    wrong command line.
    """
    options = _parser().parse_args(argv)
    backends = studies.backends(options.backend)
    if options.sweep:
        return _swept(options, backends)
    if options.numpy:
        from .numpy_code import USES as NUMPY_CODE  # here, because it needs SciPy

        all_uses = NUMPY_CODE
    elif options.scipy:
        from .scipy_code import USES as SCIPY_CODE

        all_uses = SCIPY_CODE
    else:
        all_uses = STANDARD
    uses = [
        use
        for use in all_uses
        if not options.function or any(fnmatchcase(use.name, name) for name in options.function)
    ]
    if not uses:
        print("No function matches.", file=sys.stderr)
        return 2
    prefix = "numpy:scipy." if options.scipy else "numpy:" if options.numpy else "function:"
    trials: list[table.Trial] = []
    stale: list[str] = []
    with steps(len(backends) * len(uses), "uses") as advance:
        for backend in backends:
            own = table.run(uses, backend, modes=options.mode or None, progress=advance)
            trials += own
            if len(uses) == len(all_uses) and not options.mode:
                name = type(backend).__name__
                stale += [
                    f"{name}: {known.scenario} is right now"
                    for known in table.unexpected(own, backend, prefix)
                ]
    for trial in trials:
        if not trial.good:
            print(trial)
    for line in stale:
        print(line)
    for name in dict.fromkeys(trial.backend for trial in trials):
        counts = Counter(trial.status for trial in trials if trial.backend == name)
        print(
            f"{name}: " + ", ".join(f"{count} {status}" for status, count in counts.most_common())
        )
    print(f"{len({use.name for use in uses})} functions in {len(uses)} uses")
    if options.markdown:
        Path(options.markdown).write_text(table.markdown(trials), encoding="utf-8")
    return 0 if all(trial.good for trial in trials) and not stale else 1


def _swept(options: argparse.Namespace, backends: Sequence[AutoBackend]) -> int:
    """Special functions over their whole domain."""
    from . import sweep  # here, because it needs mpmath and SciPy
    from .exact import FUNCTIONS

    chosen = [
        name
        for name in FUNCTIONS
        if not options.function or any(fnmatchcase(name, part) for part in options.function)
    ]
    # Differences of numbers that are nearly alike say nothing of the tails.
    engines = [backend for backend in backends if find(backend).library is not None]
    findings = sweep.run(chosen, engines, options.points, dtypes=options.dtype or ["float64"])
    for finding in findings:
        if finding.wrong:
            print(finding)
    names = {finding.name for finding in findings}
    print(f"{len(names)} functions, {sum(finding.right for finding in findings)} numbers right")
    if options.markdown:
        Path(options.markdown).write_text(sweep.markdown(findings), encoding="utf-8")
    return 1 if any(finding.wrong for finding in findings) else 0


def _parser() -> argparse.ArgumentParser:
    parser = studies.parser("functions", __doc__)
    add = parser.add_argument
    add("--numpy", action="store_true", help="NumPy's functions inside numpy_function")
    add("--scipy", action="store_true", help="SciPy's functions, those of adinterface.scipy")
    add("--sweep", action="store_true", help="special functions over their whole domain")
    dtypes = ["float64", "float32"]
    add("--dtype", action="append", default=[], choices=dtypes, help="with --sweep: float64")
    add("--points", type=int, default=100, help="with --sweep: at most so many of each function")
    add("--function", action="append", default=[], metavar="PATTERN", help="with * for any part")
    add("--mode", action="append", default=[], choices=MODES, help="default: all")
    add("--markdown", metavar="FILE", help="write the table for the documentation")
    return parser
