"""A function of NumPy or scipy.special stands in one place, and in a file of an engine where that needs something special."""

import importlib
import operator
import types

import numpy as np
import pytest

from adinterface.numpy_code.compositions import COMPOSITIONS
from adinterface.numpy_code.names import names_of
from adinterface.scipy.special.table import ROWS, TABLE
from adinterface.scipy.special.ufunc_rules import scipy_ufunc

pytestmark = pytest.mark.sweep  # test_numpy_code.py, test_numpy_function.py and test_numpy_errors.py run with every change

#: How many functions with a composition an engine has in its own form, for the reasons given in its files. JAX has a library
#: with NumPy's names, of which all others are taken as they are.
OWN_FORMS = {"torch": 4, "autograd": 17, "jax": 18}
#: The functions that have no composition, because the Array API cannot express them.
WITHOUT_COMPOSITION = {"frexp"}


def _sources(engine):
    pytest.importorskip(engine)
    module = importlib.import_module(f"adinterface_{engine}.numpy_code")
    return getattr(module, "SOURCES", (module,))


def _special(engine):
    return next(source.special for source in _sources(engine) if hasattr(source, "special"))


def _own_forms(engine):
    """NumPy's functions, by their canonical names, that stand in the files of an engine."""
    for names in names_of().values():
        for source in _sources(engine):
            for name in names:
                folder, _, last = name.rpartition(".")
                try:
                    holder = operator.attrgetter(folder)(source) if folder else source
                except AttributeError:
                    continue
                # A whole namespace stands in a module of its own.
                listed = getattr(holder, "OWN", {} if folder and isinstance(holder, types.ModuleType) else vars(holder))
                if last in listed:
                    yield names[0]


@pytest.mark.parametrize("engine", OWN_FORMS)
def test_engines_have_few_functions_in_a_form_of_their_own(engine):
    own = set(_own_forms(engine))
    assert {name for name in own if not any(alias in COMPOSITIONS for alias in _aliases(name))} <= WITHOUT_COMPOSITION
    assert len(own) <= OWN_FORMS[engine], sorted(own)


def _aliases(name):
    return next(names for names in names_of().values() if names[0] == name)


def test_a_special_function_stands_in_one_row():
    assert len(ROWS) == len(TABLE)
    assert [name for name in COMPOSITIONS if name.startswith("special.")] == ["special.i0"]  # which is np.i0


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_has_the_signature_of_scipy_s_ufunc(row):
    ufunc = scipy_ufunc(row.name)
    if not isinstance(ufunc, np.ufunc):
        pytest.skip("the installed SciPy has no such ufunc")
    assert ufunc.__name__ == row.name
    assert ufunc.nin == len(row.parameters)
    assert row.orders < ufunc.nin


@pytest.mark.parametrize("engine", OWN_FORMS)
def test_what_an_engine_has_natively_is_in_the_table(engine):
    special = _special(engine)
    used = {part for row in ROWS for part in row.parts} | {row.name for row in ROWS if row.partials is not None}
    assert set(special.PARTS) <= used
    assert all(callable(function) for function in special.PARTS.values())
    right = [name for name, value in vars(special).items() if callable(value) and isinstance(scipy_ufunc(name), np.ufunc)]
    assert right
    assert set(right) <= set(TABLE)


def test_a_command_shows_the_table_beside_what_engines_have(capsys):
    from adinterface_studies.__main__ import main

    assert main(["special"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("(")[0] for line in lines[2:]] == [f"| `{row.name}" for row in ROWS]
    (beta,) = [line for line in lines if line.startswith("| `beta(")]
    assert "the engine, corrected" in beta
