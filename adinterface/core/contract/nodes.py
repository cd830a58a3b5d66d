"""Node types: how a container is flattened into children and built again.

An engine adds its own (`torch.nn.Module`, JAX's pytrees) through its backend, and a user adds a
class with `register_node`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Final

from ..support.members import own_members
from ..support.static_values import key_of

#: What surrounds a call for objects that the call writes to: from a call, and a function that
#: evaluates one, to the results. `call.arguments` has the user's arguments and keywords. Another f
#: may be set in `call.f`, the same in all calls.
Around = Callable[[Any, Callable[[Any], Any]], Any]


class NodeType(ABC):
    """One kind of container.

    Laws: with `children, data = flatten(x)`, `unflatten(data, children)` equals x; `flatten` never
    writes.
    """

    is_library: Final = False
    #: f reaches the children through the object itself, and an engine may differentiate them in
    #: place. The data of such a type holds no object: `unflatten` and `gradient` get a pair of the
    #: object and its own children in front of the children.
    is_owner: ClassVar[bool] = False
    #: It has one child, an array or a built-in container, and is accepted wherever that is
    #: expected: as f's value, as a tangent.
    stands_for_array: bool = False

    #: Python numbers anywhere inside are structure: hyperparameters, not parameters.
    fixes_numbers: ClassVar[bool] = False

    #: The names of the members that the class defines.
    gives: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        cls.gives = own_members(cls, NodeType)

    @abstractmethod
    def matches(self, value: object) -> bool:
        """Whether value is such a container. Called once per class."""

    @abstractmethod
    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        """The children, and all other data needed to build the container again."""

    @abstractmethod
    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        """A container of the same class with other children."""

    def key(self, data: Any, fixed: bool = True) -> Any:
        """The cache key of `data`. Where it raises Unkeyed, the data is taken from each call."""
        return data if data is None or type(data) is type else key_of(data, fixed)

    def hidden(self, value: Any, data: Any) -> Iterable[tuple[str, Any]]:
        """Undeclared contents by path: a floating array in them would have no gradient."""
        return ()

    def gradient(self, data: Any, children: Sequence[Any]) -> Any:
        """The container of the children's gradients; None where a child has none."""
        return self.unflatten(data, children)

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        """The user's container with other children: the result of `tree.map`."""
        return self.unflatten(data, children)

    def widened(self, value: Any) -> Any:
        """For an owner: a copy in double precision, with what is no child; or None."""
        return None

    def parts(self, data: Any, other: Any) -> tuple[Sequence[Any], list[str]]:
        """The children of another container of this kind, and their paths."""
        children, own = self.flatten(other)
        return children, self.paths(own, len(children))

    def state(self, value: Any) -> tuple[Any, ...]:
        """For an owner: the contents beyond the children, to compare after f has changed them."""
        return ()

    def around(self, operator: Any, plan: Any) -> Around | None:
        """What surrounds calls of an operator with such objects in the arguments; or None.

        For objects that f may write to: f gets private ones, and their new state must be written
        into the caller's. Asked when such calls are planned. operator: its row. Raises TypeError
        for an operator that takes no such objects.
        """
        return None

    @abstractmethod
    def paths(self, data: Any, count: int) -> list[str]:
        """The suffix of the container's path for each child: `[0]`, `['a']`, `.weight`."""
