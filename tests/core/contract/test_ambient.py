"""Ambient state: scopes restore it, other threads do not see it, and it stands in few files."""

import threading
from pathlib import Path

import pytest

import adinterface
from adinterface.core.contract.ambient import CORE, Ambient, now, within
from adinterface.core.contract.notes import Note, note_of


def test_scopes_restore_what_was_before():
    with within(CORE, now()._replace(evaluating=("outer",))):
        with within(CORE, now()._replace(form=float)):
            assert (now().evaluating, now().form) == (("outer",), float)
        with pytest.raises(KeyError), within(CORE, now()._replace(evaluating=("inner",))):
            raise KeyError
        assert now() == Ambient(evaluating=("outer",))
    assert now() == Ambient()


def test_a_thread_begins_with_nothing():
    seen = []
    with within(CORE, now()._replace(evaluating=("here",))):
        thread = threading.Thread(target=lambda: seen.append(now()))
        thread.start()
        thread.join()
    assert seen == [Ambient()]


def _count(text):
    return text.count("ContextVar(") + text.count("threading.local")


def test_ambient_state_stands_in_few_files():
    root = Path(adinterface.__file__).parents[1]
    sources = [path for folder in ("adinterface", "backends") for path in (root / folder).rglob("*.py")]
    counts = {str(path.relative_to(root)): _count(path.read_text(encoding="utf-8")) for path in sources}
    found = {name: count for name, count in counts.items() if count}
    expected = {
        "adinterface/batching/workers.py": 1,
        "adinterface/core/contract/ambient.py": 1,
        "adinterface/numpy_code/refusals.py": 1,
        "adinterface/rules/fixed_values.py": 1,
        "adinterface/rules/namespace.py": 1,
        "backends/adinterface_finite/differences/levels.py": 1,
        "backends/adinterface_torch/ambient.py": 2,
    }
    # An extension may be deleted.
    assert found == {name: count for name, count in expected.items() if (root / name).exists()}


def test_the_first_note_that_fits_counts():
    notes = [Note(TypeError, "a.*b", "types"), Note((TypeError, ValueError), r"^builtins: .*b", "either")]
    assert note_of(TypeError("a\nb"), notes) == "types"
    assert note_of(ValueError("a b"), notes) == "either"
    assert note_of(KeyError("a b"), notes) is None
