"""The backend that docs/writing-a-backend.md builds for mygrad: a real engine, installed as anyone
would, through the table.
"""

import json
import re
from pathlib import Path

import pytest
from installed import installed

SOURCE = Path(__file__).parent / "tutorial_backend"
PAGE = Path(__file__).parents[3] / "docs" / "writing-a-backend.md"

#: The outcomes of every scenario on AutoMygrad().
TABLE = """
import json
from adinterface_conformance import run_scenario
from adinterface_studies.scenarios import SCENARIOS
from adinterface_mygrad import AutoMygrad

outcomes = [outcome for scenario in SCENARIOS for outcome in run_scenario(scenario, AutoMygrad())]
print(json.dumps([(o.scenario, o.check, o.status, o.message, o.reason, o.link) for o in outcomes]))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return installed(SOURCE, tmp_path_factory.mktemp("tutorial"))


def test_the_table_holds(run):
    alone = json.loads(run("-c", TABLE))
    wrong = [outcome for outcome in alone if outcome[2] not in ("passed", "known")]
    assert not wrong, "\n".join(map(str, wrong))
    passed = {name for name, *_ in alone} - {
        name for name, _, status, *_ in alone if status != "passed"
    }
    assert len(passed) >= 300
    assert all(
        reason and link.startswith("https://")
        for _, _, status, _, reason, link in alone
        if status == "known"
    )


def test_the_session_of_the_page(run):
    run(
        "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS", str(SOURCE / "session.txt")
    )


def test_the_three_files_of_the_first_engine_install(tmp_path):
    source = tmp_path / "page"
    source.mkdir()
    for caption, code in re.findall(
        r"^```\{code-block\} \w+\n:caption: (\S+)\n\n(.*?)^```$", PAGE.read_text(), re.M | re.S
    ):
        (source / caption).write_text(code)
    run = installed(source, tmp_path)
    assert {path.name for path in (tmp_path / "site").glob("*.py")} == {
        "dual.py",
        "adinterface_dual.py",
    }
    call = (
        "from adinterface import *; from adinterface_dual import *; print(gradient(lambda x: x * x"
        " * x, AutoDual(), 2.0))"
    )
    assert run("-c", call) == "(12.0,)\n"
    assert run("-m", "adinterface").splitlines()[-1].endswith("pip install adinterface-dual")
