"""The first line of each test file says what holds while it passes, so what breaks unseen without it: no two say the same."""

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
#: A test file of another project, which the tests of the plugin run.
FILES = [path for path in sorted(TESTS.rglob("test_*.py")) if "downstream" not in path.parts]
LINES = {
    str(path.relative_to(TESTS)): (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    for path in FILES
}


def test_each_file_says_what_holds():
    assert [name for name, line in LINES.items() if len(line.split()) < 5 or line.startswith("Test")] == []


def test_no_two_files_say_the_same():
    assert [line for line, count in Counter(LINES.values()).items() if count > 1] == []
