"""`python -m adinterface_studies pymanopt`: pymanopt's own tests, with its backends and with ours.

The source distribution of the installed version is downloaded by pip, for the wheel has no tests; some minutes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PLUGIN = "adinterface_studies.integrations.through"


def main(argv: list[str] | None = None) -> int:
    """The exit status: 0 if no test passes with pymanopt's backends and fails through ours."""
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies pymanopt", description=__doc__)
    parser.add_argument("--source", type=Path, metavar="FOLDER", help="the unpacked source distribution, with `tests`")
    options = parser.parse_args(argv)
    try:
        installed = version("pymanopt")
    except PackageNotFoundError:
        print("pymanopt is not installed: pip install 'adinterface[pymanopt]'", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        source = options.source or _download(installed, Path(folder))
        own = _outcomes(source, Path(folder) / "own.xml", [])
        through = _outcomes(source, Path(folder) / "through.xml", ["--through-adinterface"])
    worse = sorted(name for name, passed in own.items() if passed and not through[name])
    print(f"pymanopt {installed}: {len(own)} tests")
    print(f"  with its own backends {sum(own.values())} pass, through adinterface {sum(through.values())}")
    print(f"  passed by its own backends and failed through adinterface: {', '.join(worse) or 'none'}")
    return 1 if worse else 0


def _download(installed: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "pymanopt", f"pymanopt=={installed}"]
    subprocess.run([*command, "-d", str(folder)], check=True)
    (archive,) = folder.glob("pymanopt-*")
    shutil.unpack_archive(archive, folder)
    return folder / f"pymanopt-{installed}"


def _outcomes(source: Path, report: Path, options: list[str]) -> dict[str, bool]:
    """Whether each test passed, by its name."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", PLUGIN]
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [*command, f"--junit-xml={report}", *options, "tests"],
        cwd=source, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not report.exists():
        raise RuntimeError(f"pymanopt's tests did not run:\n{done.stdout}{done.stderr}")
    print("\n".join(line for line in done.stdout.splitlines() if line.startswith("functions made")))
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return {f"{case.get('classname')}::{case.get('name')}": len(case) == 0 for case in cases}
