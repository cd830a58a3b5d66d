"""Many cells of one table in one test: each is tried, and those that are wrong are named
together.
"""

import contextlib
import traceback


class Cells:
    """As pytest's `subtests`, which takes longer for a cell than most cells here: it reports each,
    between processes too.
    """

    def __init__(self):
        self._wrong = {}
        self._count = 0

    @contextlib.contextmanager
    def cell(self, name):
        """What fails in here is an error of this cell, of which `all_right` tells."""
        self._count += 1
        try:
            yield
        except Exception:
            self._wrong[name] = traceback.format_exc()

    def all_right(self):
        """AssertionError with the names of the cells that are wrong, and what was wrong with each.

        Or if there were none.
        """
        told = "\n".join(f"{name}:\n{error}" for name, error in self._wrong.items())
        assert not self._wrong, (
            f"{len(self._wrong)} of {self._count} are wrong:"
            f" {', '.join(map(str, self._wrong))}\n{told}"
        )
        assert self._count
