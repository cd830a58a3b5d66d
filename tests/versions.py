"""`make versions`: the core tests and the conformance table in fresh environments, at both ends of
what is declared.

The lowest versions (constraints-lowest.txt) on the oldest Python that is here, the newest that the
package index offers on the newest one. What was found becomes a row of docs/tables/versions.md,
what the newest environment holds is written to constraints-newest.txt. Needs nothing but Python and
pip; each environment takes some gigabytes while it is tested, and is removed afterwards unless
`--keep` says where it shall stay.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "tables" / "versions.md"
LOWEST, PINNED, NEWEST = (ROOT / f"constraints{end}.txt" for end in ("-lowest", "", "-newest"))
ENDS = ("lowest", "newest")
#: The columns of the table, as distributions.
COLUMNS = {
    "NumPy": "numpy",
    "array-api-compat": "array-api-compat",
    "JAX": "jax",
    "PyTorch": "torch",
    "autograd": "autograd",
    "SciPy": "scipy",
}
#: What pins a version to what it prints (documentation), to a tool's own output, or installs,
#: measures and checks the checkout.
NOT_CORE = (
    "docs",
    "readme",
    "typing",
    "packaging",
    "demo",
    "benchmark",
    "tutorial_backend",
    "conformance",
    "conformance_jax",
)

Version = tuple[int, ...]


def release(python: Path) -> Version:
    """The version of an interpreter, such as (3, 13, 0).

    () for what makes no environment, as the shims of absent versions.
    """
    code = "import ensurepip, sys, venv; print(*sys.version_info[:3])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(map(int, done.stdout.split()))


def pythons() -> dict[Version, Path]:
    """Every interpreter on the path and of pyenv that pyproject.toml allows, from the oldest on."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = tuple(map(int, settings["requires-python"].removeprefix(">=").split(".")))
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [place for folder in folders for place in folder.glob("python3*")] + list(
        pyenv.glob("*/bin/python3")
    )
    named = [place for place in places if re.fullmatch(r"python3(\.\d+)?", place.name)]
    found = {release(python): python for python in reversed([Path(sys.executable), *named])}
    return {version: found[version] for version in sorted(found) if version >= least}


def declared() -> dict[str, str]:
    """The lowest versions of what the library and its engines require, as pyproject.toml has
    them.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = settings["optional-dependencies"]
    lines = [
        *settings["dependencies"],
        *(line for name in ("jax", "torch", "autograd") for line in extras[name]),
    ]
    return dict(line.split(">=") for line in lines)


def pins(path: Path) -> dict[str, str]:
    """The versions of a constraints file."""
    return dict(
        line.split("==")
        for line in path.read_text().splitlines()
        if "==" in line and not line.startswith("#")
    )


def repinned(text: str, installed: dict[str, str]) -> str:
    """A constraints file with the installed versions in place of its own.

    A build's own mark, as `+cpu`, is left out.
    """

    def pin(match: re.Match[str]) -> str:
        version = installed.get(match[1].lower(), match[2])
        return f"{match[1]}=={version.partition('+')[0]}"

    return re.sub(r"^([\w.-]+)==(\S+)$", pin, text, flags=re.M)


def replaced(table: str, rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with these rows in place of those that begin with the same word."""
    head = ("versions", "Python", *COLUMNS, "core tests", "conformance checks", "date")
    kept = {
        line.split("|")[1].strip(): line for line in table.splitlines()[2:] if line.startswith("|")
    }
    kept |= {row[0]: f"| {' | '.join(row)} |" for row in rows}
    lines = [
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(kept[end] for end in ENDS if end in kept),
    ]
    return "\n".join(lines) + "\n"


class Environment:
    """An environment with one end of the versions: fresh, unless the folder has one that was made
    whole.
    """

    def __init__(self, end: str, python: Path, folder: Path) -> None:
        self.end, self.folder = end, folder
        self.python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        ready = folder / "ready"
        if not ready.exists():
            self._install(python)
            ready.touch()

    def _install(self, python: Path) -> None:
        end = self.end
        subprocess.run([python, "-m", "venv", "--clear", self.folder], check=True)
        pip = [self.python, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        limits = ["-c", LOWEST] if end == "lowest" else []
        subprocess.run([*pip, "--upgrade", "pip"], check=True)
        # torch first and alone, as the Makefile has it: only so is it sure which build is taken.
        subprocess.run([*pip, *limits, "torch"], check=True)
        groups = ["test", "docs"] if end == "newest" else ["test"]
        subprocess.run(
            [
                *[*pip, *limits, "-e", f"{ROOT}[all,scipy,conformance,export,optax,plot]"],
                *(word for name in groups for word in ("--group", f"{ROOT}/pyproject.toml:{name}")),
            ],
            check=True,
        )

    def installed(self) -> dict[str, str]:
        command = [
            self.python,
            "-m",
            "pip",
            "list",
            "--format",
            "json",
            "--disable-pip-version-check",
        ]
        listed = json.loads(
            subprocess.run(command, capture_output=True, text=True, check=True).stdout
        )
        return {entry["name"].lower().replace("_", "-"): entry["version"] for entry in listed}

    def run(self, *arguments: str | Path) -> int:
        """A module of the environment in the checkout; its exit status."""
        # What JAX compiled for one version is none of another's business.
        settings = os.environ | {
            "JAX_ENABLE_COMPILATION_CACHE": "0",
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        }
        settings.pop("PYTHONPATH", None)
        return subprocess.run(
            [self.python, "-m", *arguments], cwd=ROOT, env=settings, check=False
        ).returncode

    def tests(self, paths: Sequence[str], jobs: int) -> tuple[bool, str]:
        """Whether the core tests pass, and how many did."""
        report = self.folder / "tests.xml"
        left_out = [f"--ignore-glob=tests/**/test_{name}.py" for name in NOT_CORE]
        spread = ["-n", str(jobs), "--dist", "worksteal"] if jobs > 1 else []
        # the newer form refuses what some tests record
        reported = ["-o", "junit_family=legacy", f"--junit-xml={report}"]
        status = self.run(
            "pytest", "-q", *spread, "-p", "no:cacheprovider", *reported, *left_out, *paths
        )
        if not report.exists():
            return False, "ended early"
        suites = ElementTree.parse(report).getroot().findall("testsuite")
        total, bad, skipped = (
            sum(int(suite.get(key, 0)) for suite in suites for key in keys)
            for keys in (("tests",), ("failures", "errors"), ("skipped",))
        )
        return status == 0, f"{total - bad - skipped:,}" + (f", {bad} failed" if bad else "")

    def table(self, scenarios: Sequence[str], jobs: int) -> tuple[bool, str]:
        """Whether the conformance table of all engines is as it should be, and how many checks
        passed.
        """
        report = self.folder / "table.json"
        chosen = [word for scenario in scenarios for word in ("--scenario", scenario)]
        status = self.run("adinterface_conformance", "--jobs", str(jobs), "--json", report, *chosen)
        if not report.exists():
            return False, "ended early"
        counts: dict[str, int] = {}
        for count in json.loads(report.read_text())["counts"].values():
            counts = {key: counts.get(key, 0) + count.get(key, 0) for key in {*counts, *count}}
        bad = counts.get("failed", 0) + counts.get("unexpected", 0)
        return status == 0, f"{counts.get('passed', 0):,}" + (f", {bad} failed" if bad else "")


def tested(end: str, python: Path, options: argparse.Namespace) -> bool:
    """Test one end, and write what was found if everything was tested. Whether all is well."""
    with contextlib.ExitStack() as stack:
        print(f"{end} versions on {python}", flush=True)
        place = options.keep or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="adinterface-versions-"))
        )
        environment = Environment(end, python, place.resolve() / end)
        installed = environment.installed()
        versions = [installed.get(name, "-").partition("+")[0] for name in COLUMNS.values()]
        print(
            ", ".join(f"{title} {version}" for title, version in zip(COLUMNS, versions)), flush=True
        )
        table_is_right, checks = environment.table(options.scenario, options.jobs)
        tests_pass, tests = environment.tests(options.test, options.jobs)
        print(f"{end}: {tests} core tests, {checks} conformance checks", flush=True)
        if not (options.scenario or options.test):
            date = datetime.datetime.now(datetime.UTC).date().isoformat()
            row = [end, ".".join(map(str, release(python))), *versions, tests, checks, date]
            TABLE.write_text(replaced(TABLE.read_text() if TABLE.exists() else "", [row]))
            if end == "newest" and table_is_right and tests_pass:
                text = repinned(PINNED.read_text().partition("\n")[2], installed)
                NEWEST.write_text(
                    "# The newest versions that adinterface was tested with, on Python"
                    f" {row[1]}.\n{text}"
                )
        return table_is_right and tests_pass


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make versions", description=__doc__)
    parser.add_argument("--end", choices=ENDS, action="append", default=[], help="default: both")
    parser.add_argument(
        "--python", type=Path, help="in place of the oldest and the newest that are here"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="the environments stay there, and are used again",
    )
    parser.add_argument("--jobs", type=int, default=2, help="that many processes")
    parser.add_argument(
        "--scenario",
        action="append",
        default=[],
        help="only these of the table; nothing is written then",
    )
    parser.add_argument(
        "--test",
        action="append",
        default=[],
        help="only these files of the tests; nothing is written then",
    )
    options = parser.parse_args(argv)
    here = list(pythons().values())
    chosen = {"lowest": options.python or here[0], "newest": options.python or here[-1]}
    if shutil.disk_usage(tempfile.gettempdir()).free < 12 * 2**30:
        print(
            "An environment takes up to 12 GB of temporary space; TMPDIR names another place.",
            file=sys.stderr,
        )
        return 2
    # the second end too if the first fails
    passed = [tested(end, chosen[end], options) for end in options.end or ENDS]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
