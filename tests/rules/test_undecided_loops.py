"""A loop under a compiler that has no loops of its own and does not know a number."""

import numpy as np
import pytest

from adinterface import BackendError
from adinterface.core.contract.loops import known


class Compiling:
    """A library of an engine that traces f while it compiles."""

    name = "compiling"

    def __init__(self, value):
        self.value = value

    def traced(self, x):
        return True

    def value_under_trace(self, x):
        return self.value


def test_a_loop_that_the_compiler_cannot_decide_names_the_hook():
    def unknown(x):
        raise TypeError("a symbolic value has no truth")

    message = (
        "while_loop: compiling does not know a number that while_loop decides by, as it compiles f or takes a batch at once. "
        "Make the call without prepare, or batched with chunk_size=1 in the backend; or let the backend of the engine compile "
        "loops and branches (`Library.loops`)."
    )
    with pytest.raises(BackendError) as caught:
        known("while_loop", Compiling(None), object(), unknown)
    assert str(caught.value) == message
    with pytest.raises(TypeError, match="a symbolic value"):
        known("while_loop", Compiling(np.array(1.0)), object(), unknown)
    assert known("while_loop", Compiling(None), True, bool) is True
