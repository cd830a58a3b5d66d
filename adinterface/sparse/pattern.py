"""The sparsity pattern and its colouring as data: immutable NumPy arrays.

`adinterface.sparse` finds them. Here they are compared, saved, and drawn.
"""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np

from ..core.contract.errors import MissingEngineError

Indices = np.ndarray[Any, np.dtype[Any]]

#: Columns of one colour share no row and are one pushforward; rows of one colour share no column
#: and are one pullback; a
#: symmetric matrix is read from either of an entry's two places.
By = Literal["columns", "rows", "symmetric"]


@dataclass(frozen=True, eq=False)
class Colouring:
    """How the entries of a pattern are compressed into few products.

    by: what is coloured.
    colours: for each column (each row, with `by="rows"`) the number of its product; -1 for one
        without entries.
    singles: full rows (full columns, with `by="rows"`), each of which has a product of its own.
    """

    by: By
    colours: Indices
    singles: Indices

    def __post_init__(self) -> None:
        for name in ("colours", "singles"):
            object.__setattr__(self, name, _fixed(getattr(self, name)))

    @property
    def count(self) -> int:
        """How many colours there are."""
        return int(self.colours.max(initial=-1)) + 1

    @property
    def passes(self) -> int:
        """How many products with the derivative are needed for all entries."""
        return self.count + self.singles.size

    def __str__(self) -> str:
        single, many = {"columns": ("row", "columns"), "rows": ("column", "rows")}.get(
            self.by, ("line", "columns")
        )
        singles = (
            f" and {_counted(self.singles.size, f'full {single}')}" if self.singles.size else ""
        )
        return f"{_counted(self.count, 'colour')} of {many}{singles}"


class SparsityPattern:
    """Which entries of a matrix may differ from zero: a value, compared and hashed by its content.

    matrix: any SciPy sparse matrix, JAX's BCOO, a sparse torch tensor, or a dense 2-d array. Every
    stored entry counts, also a stored zero; in a dense array, every entry that is not zero.

    For several arguments, or for trees, rows and columns are those of all leaves, concatenated in
    the order of `tree.leaves`, each row-major. A pattern that `sparsity` has found at values, by
    probing or along a branch, is `local`: it may lack entries that exist for other values, and
    differs from a pattern of the same entries that holds everywhere.

    Raises TypeError for anything but a matrix, ValueError for one that is not two-dimensional.

    >>> import numpy as np
    >>> SparsityPattern(np.eye(3))
    SparsityPattern(3 x 3, 3 entries, density 33.3 %)
    """

    __slots__ = ("_digest", "colouring", "columns", "local", "rows", "shape")

    _digest: bytes | None
    #: Rows and columns of the entries, sorted by rows, none twice.
    rows: Indices
    columns: Indices
    shape: tuple[int, int]
    #: The colouring; None until it is chosen.
    colouring: Colouring | None
    #: Whether it was found at values, by probing or along a branch: it may lack entries that there
    #: are at others.
    local: bool

    def __init__(self, matrix: Any, /):
        rows, columns, shape = _taken_apart(matrix)
        self._fill(rows, columns, shape, None, isinstance(matrix, SparsityPattern) and matrix.local)

    @classmethod
    def of_entries(
        cls,
        rows: Any,
        columns: Any,
        shape: tuple[int, int],
        colouring: Colouring | None = None,
        local: bool = False,
    ) -> SparsityPattern:
        """The pattern with these entries. Raises ValueError for entries outside the shape."""
        new: SparsityPattern = object.__new__(cls)
        new._fill(np.asarray(rows), np.asarray(columns), shape, colouring, local)
        return new

    def _fill(
        self,
        rows: Indices,
        columns: Indices,
        shape: tuple[int, int],
        colouring: Colouring | None,
        local: bool,
    ) -> None:
        height, width = int(shape[0]), int(shape[1])
        rows, columns = (
            rows.astype(np.int64, copy=False).ravel(),
            columns.astype(np.int64, copy=False).ravel(),
        )
        if rows.size and (
            rows.min() < 0 or columns.min() < 0 or rows.max() >= height or columns.max() >= width
        ):
            raise ValueError(
                f"SparsityPattern: an entry stands outside the shape ({height}, {width})."
            )
        key = rows * max(width, 1) + columns
        if key.size and not (key[1:] > key[:-1]).all():
            key = distinct(key)
            rows, columns = np.divmod(key, max(width, 1))
        self.shape, self._digest = (height, width), None
        narrow = np.int32 if max(height, width, rows.size) < 2**31 else np.int64
        self.rows, self.columns = _fixed(rows.astype(narrow)), _fixed(columns.astype(narrow))
        self.colouring, self.local = colouring, local

    def coloured(self, colouring: Colouring) -> SparsityPattern:
        """The same pattern with its compression decided."""
        parts = self.rows, self.columns, self.shape
        return SparsityPattern.of_entries(*parts, colouring, self.local)

    @property
    def nnz(self) -> int:
        """How many entries there are."""
        return int(self.rows.size)

    @property
    def density(self) -> float:
        """Which part of all places is an entry."""
        places = self.shape[0] * self.shape[1]
        return self.nnz / places if places else 0.0

    @property
    def digest(self) -> bytes:
        """A hash of the entries, the shape and `local`, but not of the colouring."""
        if self._digest is None:
            result = hashlib.blake2b(
                repr((self.shape, self.rows.dtype.str, self.local)).encode(), digest_size=16
            )
            result.update(self.rows.data)
            result.update(self.columns.data)
            self._digest = result.digest()
        return self._digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparsityPattern) and (other is self or self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        coloured = (
            ""
            if self.colouring is None
            else f", {self.colouring}: {_counted(self.colouring.passes, 'pass', 'es')}"
        )
        many = _counted(self.nnz, "entr", "ies", "y")
        local = ", found at values" if self.local else ""
        return (
            f"SparsityPattern({self.shape[0]} x {self.shape[1]}, {many}, density"
            f" {100 * self.density:.3g} %{coloured}{local})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return SparsityPattern.of_entries, (
            self.rows,
            self.columns,
            self.shape,
            self.colouring,
            self.local,
        )

    def toarray(self) -> np.ndarray[Any, Any]:
        """A dense boolean array."""
        dense = np.zeros(self.shape, bool)
        dense[self.rows, self.columns] = True
        return dense

    def save(self, path: str | PathLike[str]) -> None:
        """Write the pattern, and its colouring if there is one, to a NumPy `.npz` file."""
        parts: dict[str, Any] = {
            "shape": np.array(self.shape),
            "rows": self.rows,
            "columns": self.columns,
        }
        parts["local"] = np.array(self.local)
        if self.colouring is not None:
            parts |= {
                "by": self.colouring.by,
                "colours": self.colouring.colours,
                "singles": self.colouring.singles,
            }
        with open(path, "wb") as file:
            np.savez_compressed(file, **parts)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SparsityPattern:
        """The pattern that `save` wrote. Raises ValueError for another file."""
        with np.load(path, allow_pickle=False) as parts:
            if not {"shape", "rows", "columns"} <= set(parts):
                raise ValueError(
                    f"SparsityPattern.load: {path} holds no pattern; write one with"
                    " pattern.save(path)."
                )
            colouring = None
            if "by" in parts:
                colouring = Colouring(str(parts["by"]), parts["colours"], parts["singles"])  # type: ignore[arg-type]
            height, width = parts["shape"].tolist()
            local = "local" in parts and bool(parts["local"])
            return cls.of_entries(
                parts["rows"], parts["columns"], (height, width), colouring, local
            )

    def plot(self, axes: Any = None) -> Any:
        """Draw the pattern, each entry in the colour of its product, on Matplotlib's axes.

        Returns the axes.

        Raises MissingEngineError if Matplotlib is not installed.
        """
        try:
            plt = importlib.import_module("matplotlib.pyplot")
        except ImportError as error:
            if (error.name or "").partition(".")[0] != "matplotlib":
                raise
            raise MissingEngineError(
                "SparsityPattern.plot needs matplotlib, which is not installed: pip install"
                " 'adinterface[plot]'",
                name=error.name,
            ) from None
        if axes is None:
            _, axes = plt.subplots()
        colours: Any = "black"
        if self.colouring is not None:
            line = self.rows if self.colouring.by == "rows" else self.columns
            across = self.columns if self.colouring.by == "rows" else self.rows
            colours = plt.get_cmap("tab20")(self.colouring.colours[line] % 20)
            colours[np.isin(across, self.colouring.singles)] = (0.0, 0.0, 0.0, 1.0)
        size = max(0.2, min(60.0, 250.0 / max(1, *self.shape)))
        axes.scatter(self.columns, self.rows, s=size**1.5, c=colours, marker="s", linewidths=0)
        axes.set(
            xlim=(-0.5, self.shape[1] - 0.5),
            ylim=(self.shape[0] - 0.5, -0.5),
            title=repr(self)[16:-1],
        )
        axes.set_aspect("equal" if 0.1 < self.shape[0] / max(1, self.shape[1]) < 10 else "auto")
        return axes


def distinct(numbers: Indices) -> Indices:
    """The numbers sorted, each once.

    NumPy's `unique` hashes integers, which takes ten times as long.
    """
    numbers = np.sort(numbers)
    return numbers[np.append(True, numbers[1:] > numbers[:-1])] if numbers.size else numbers


def _counted(count: int, word: str, many: str = "s", one: str = "") -> str:
    return f"{count} {word}{one if count == 1 else many}"


def _fixed(array: Any) -> Indices:
    fixed = np.array(array)
    fixed.setflags(write=False)
    return fixed


def _taken_apart(matrix: Any) -> tuple[Indices, Indices, tuple[int, int]]:
    """Rows, columns and shape of any kind of sparse matrix."""
    if isinstance(matrix, SparsityPattern):
        return matrix.rows, matrix.columns, matrix.shape
    if hasattr(matrix, "tocoo"):  # SciPy's
        entries = matrix.tocoo()
        _require_two(entries.shape)
        return entries.row, entries.col, entries.shape
    if hasattr(matrix, "to_sparse_coo"):  # torch's; also of a dense tensor
        entries = matrix.detach().to_sparse_coo().coalesce()
        _require_two(tuple(entries.shape))
        rows, columns = entries.indices().cpu().numpy()
        return rows, columns, tuple(entries.shape)
    if hasattr(matrix, "indices") and hasattr(matrix, "todense"):  # JAX's BCOO
        _require_two(matrix.shape)
        indices = np.asarray(matrix.indices)
        inside = (indices < np.array(matrix.shape)).all(axis=1)  # JAX pads with places outside
        return indices[inside, 0], indices[inside, 1], matrix.shape
    try:
        dense = np.asarray(matrix)
    except (TypeError, ValueError) as error:
        raise TypeError(_no_matrix(matrix)) from error
    if dense.dtype.kind not in "biufc":
        raise TypeError(_no_matrix(matrix))
    _require_two(dense.shape)
    rows, columns = np.nonzero(dense)
    return rows, columns, dense.shape


def _require_two(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"SparsityPattern: a pattern is y.size x x.size, but this has shape {tuple(shape)}."
        )


def _no_matrix(matrix: Any) -> str:
    return (
        "SparsityPattern takes a sparse matrix or a dense 2-d array, not a"
        f" {type(matrix).__name__}. Entries are given by SparsityPattern.of_entries(rows, columns,"
        " shape)."
    )


__all__ = ["By", "Colouring", "SparsityPattern", "distinct"]
