"""A run as a file for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from .runner import Run


def write_json(run: Run, path: Path) -> None:
    """All outcomes, the versions and the counts."""
    counts = {backend: run.counts(backend) for backend in run.backends}
    path.write_text(json.dumps({**asdict(run), "counts": counts}, indent=1), encoding="utf-8")
