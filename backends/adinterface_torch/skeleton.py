"""What the plan of a call knows of a module: its structure, from which gradients and private copies are built.

Differentiating a module asks three things of it in every call: whether it is still as it was planned, which tensors its
parameters are now, and a module of the same class around others. A skeleton answers each in one walk over the
submodules. It holds names and shapes, never a module or a tensor, so one skeleton serves all modules of one
structure; all that is not structure is read anew from the module at hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple
from weakref import ref

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from adinterface.core.contract.errors import ConversionError

from .alike import alike
from .copying import Layouts, copies_by_state, deep_copy, fill, layout_of
from .distributed import refuse_copies, refuse_unknown
from .versions import versions_of

# Wrappers keep the module that the user wrote in one of these; their hooks do not run under torch.autograd.grad,
# or their code cannot be rebuilt around other values.
_INNER = ("_orig_mod", "module", "_fsdp_wrapped_module")

_specification = attrgetter("shape", "dtype", "device", "requires_grad")
_requires_grad = attrgetter("requires_grad")

#: What stands at one place of the walk: the class, the names of parameters and of children, and the place where this
#: object stood first, if it did; None, which has nothing to walk into, gives its own place there. The class is held weakly,
#: since that of a parametrized module is its own and keeps it alive; a class has but one such reference.
_Part = tuple["ref[type]", tuple[str, ...], tuple[str, ...], "int | None"]


class _Walked(NamedTuple):
    """What stands in a module: the submodules, each once; the parameters at every place; and the dicts that say so."""

    modules: Sequence[Any]
    parameters: Sequence[Any]
    dicts: list[Any]


def _survey(module: nn.Module) -> tuple[tuple[_Part, ...], list[Any], list[Any]]:
    """Parts, submodules and parameters at every place, breadth first: children stand in a row, after all rows before."""
    modules: list[Any] = [module]
    parameters: list[Any] = []
    firsts: dict[int, int] = {}
    parts: list[_Part] = []
    for place, inner in enumerate(modules):
        first = firsts.setdefault(id(inner), place)
        if inner is None or first != place:
            parts.append((ref(type(inner)), (), (), place if inner is None else first))
            continue
        own, children = inner._parameters, inner._modules
        if type(own) is not dict or type(children) is not dict:
            refuse_wrappers(module)  # those of a ScriptModule are something else
        parts.append((ref(type(inner)), tuple(own), tuple(children), None))
        parameters += own.values()
        modules += children.values()
    return tuple(parts), modules, parameters


def _ties(parameters: Sequence[Any]) -> tuple[tuple[int, ...], list[Any]]:
    """Of every place the number of its parameter, -1 for None; and each parameter once, in the order of the places."""
    numbers: dict[int, int] = {id(None): -1}
    once: list[Any] = []
    ties: list[int] = []
    for parameter in parameters:
        number = numbers.setdefault(id(parameter), len(once))
        if number == len(once):
            once.append(parameter)
        ties.append(number)
    return tuple(ties), once


def _key(parts: tuple[_Part, ...], ties: tuple[int, ...], once: list[Any]) -> Hashable:
    return parts, ties, (*map(type, once),), (*map(_specification, once),)


def signature_of(module: nn.Module) -> Hashable:
    """The key that a skeleton of the module has, or would have."""
    parts, _, parameters = _survey(module)
    ties, once = _ties(parameters)
    _refuse_lazy(once)
    return _key(parts, ties, once)


class Reading(tuple[Any, ...]):
    """The parameters of a module, as a call found them, and what it went through to them.

    Where the gradient is built, the objects of the module are far from the processor again: to ask whether its dicts have
    changed since then takes a fraction of another walk.
    """

    walked: _Walked
    versions: list[int] | None

    def again(self) -> _Walked | None:
        """What was walked through, if no attribute of it has changed since."""
        versions = self.versions
        return self.walked if versions is not None and versions == versions_of(self.walked.dicts) else None


class Skeleton:
    """The structure of a module: its submodules' classes and names, its parameters' names, types, shapes, dtypes, devices
    and `requires_grad`, and which of them are one object.

    Laws: `read(m)` is None exactly when `signature_of(m) != key`. Skeletons are equal when their keys are. Parameters and
    values go in the order of `named_parameters()`, tied ones once.
    """

    def __init__(self, module: nn.Module):
        #: Of what `torch.compile` made of a module, the skeleton of that.
        self._inner = Skeleton(module._orig_mod) if is_compiled(module) else None  # type: ignore[arg-type]
        if self._inner is None:
            refuse_wrappers(module)
        parts, modules, parameters = _survey(module)
        ties, once = _ties(parameters)
        _refuse_lazy(once)
        self.key = _key(parts, ties, once)
        self._hash = hash(self.key)
        # Layers that are alike share what is known of them: it is looked at in every call, for all of them.
        alike_parts = {part: (part[0], list(part[1]), list(part[2]), part[3]) for part in parts}
        self._parts = [alike_parts[part] for part in parts]
        #: The name of each parameter, as `named_parameters()` gives it.
        self.names, places = _depth_first(parts, ties)
        numbers = [ties[place] for place in places]
        self._types = [type(once[number]) for number in numbers]
        self._specifications = [_specification(once[number]) for number in numbers]
        #: Whether parameters are like these; what it says no to may be so all the same.
        self._alike = alike([once[number] for number in numbers])
        self._pick_parameters = _picker(places)
        # From values to what stands at every place; None stands behind the values.
        order = {number: n for n, number in enumerate(numbers)} | {-1: len(numbers)}
        self._values = [order[number] for number in ties]
        self._place_values = _picker(self._values)
        self._repeats = len(ties) != len(numbers)
        # The same for the submodules, the first of which is the module itself.
        own = [place for place, part in enumerate(parts) if part[3] is None]
        copies = {place: n for n, place in enumerate(own)}
        self._pick_modules = _picker(own)
        self._place_copies = _picker(
            [copies.get(place if part[3] is None else part[3], len(own)) for place, part in enumerate(parts)]
        )
        self._objects = len({*map(id, modules)})
        registered = {part: part[1:3] for part in parts}
        self._registered = [registered[parts[place]] for place in own]
        #: How each submodule is copied; None if all must go through deepcopy.
        self._layouts: Layouts | None = None
        if all(copies_by_state(modules[place]) for place in own):
            self._layouts = Layouts([layout_of(modules[place]) for place in own])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Skeleton) and (self is other or (self._hash == other._hash and self.key == other.key))

    def __hash__(self) -> int:
        return self._hash

    def read(self, module: nn.Module) -> Reading | None:
        """The parameters of a module that has this structure; None for any other."""
        walked = self._walk(module)
        if walked is None:
            return None
        places = walked.parameters
        parameters = Reading(self._pick_parameters(places))
        parameters.walked, parameters.versions = walked, versions_of(walked.dicts)
        if not self._alike(*parameters) and not self._resemble(parameters):
            return None
        if self._repeats:
            expected = (*parameters, None)
            for parameter, number in zip(places, self._values):
                if parameter is not expected[number]:
                    return None
        return parameters

    def _resemble(self, parameters: tuple[Any, ...]) -> bool:
        """Whether parameters have the planned types and specifications; their strides may be others now."""
        if [*map(type, parameters)] != self._types or len({*map(id, parameters)}) != len(parameters):
            return False
        if [*map(_specification, parameters)] != self._specifications:
            return False
        self._alike = alike(parameters)
        return True

    def _walk(self, module: nn.Module) -> _Walked | None:
        """What stands in a module, if the classes and names at every place are the planned ones."""
        modules: list[Any] = [module]
        parameters: list[Any] = []
        dicts: list[Any] = []
        for (cls, names, children, first), inner in zip(self._parts, modules):
            if type(inner) is not cls():
                return None
            if first is not None:
                if inner is not modules[first]:
                    return None
                continue
            state = inner.__dict__
            own, below = state["_parameters"], state["_modules"]
            dicts += (state, own, below)
            if names:
                if [*own] != names:
                    return None
                parameters += own.values()
            elif own:
                return None
            if children:
                if [*below] != children:
                    return None
                modules += below.values()
            elif below:
                return None
        if len({*map(id, modules)}) != self._objects:
            return None
        return _Walked(self._pick_modules(modules), parameters, dicts)

    def gradient(self, module: nn.Module, parameters: Sequence[Any], gradients: Sequence[Any]) -> nn.Module:
        """A module of the same class with gradients for parameters, zeros for None, else a copy of what it holds now.

        A gradient that requires one stays in its graph; a module, the row of a Hessian, stands where its parameter stood.
        parameters: as `read` gave them, which may know the way.
        """
        walked = parameters.again() if type(parameters) is Reading else None
        if {*map(type, gradients)} <= _TENSOR and not any(map(_requires_grad, gradients)):
            return self._build(module, gradients, _as_parameters, walked)
        built = self._build(module, gradients, _as_entries, walked)
        if any(isinstance(gradient, nn.Module) for gradient in gradients):
            for inner in list(built.modules()):
                entries: list[tuple[str, Any]] = list(inner._parameters.items())
                for name, child in entries:
                    if isinstance(child, nn.Module):
                        del inner._parameters[name]
                        inner._modules[name] = child
        return built

    def around(self, module: nn.Module, values: Sequence[Any], *, compiled: bool = False) -> nn.Module:
        """A copy of the module in which these values take the places of its parameters.

        compiled: a copy of what `torch.compile` made is compiled, too, when it is called; else it runs as it is. Raises
        ConversionError for a member of a group of processes, which a copy would not be.
        """
        refuse_copies(module)
        return self._build(module, values, _as_they_are, None, compiled)

    def _build(
        self,
        module: nn.Module,
        given: Sequence[Any],
        entries: Callable[[Sequence[Any], Sequence[Any]], list[Any]],
        walked: _Walked | None = None,
        compiled: bool = False,
    ) -> nn.Module:
        if self._inner is not None:
            wrapped: Any = module
            inner = self._inner._build(wrapped._orig_mod, given, entries)
            return type(wrapped)(inner, wrapped.dynamo_ctx if compiled else _uncompiled)  # type: ignore[no-any-return]
        walked = walked or self._walk(module)
        if walked is None:
            return self._changed(module)._build(module, given, entries)
        parameters = self._pick_parameters(walked.parameters)
        values = entries(given, parameters)
        if self._layouts is None:
            copied = deep_copy(module, dict(zip(parameters, values)), entries is not _as_they_are)
            return self._checked(module, copied, values, entries is _as_they_are)
        modules = walked.modules
        copies: list[Any] = [*map(object.__new__, map(type, modules))]
        children = iter(self._place_copies([*copies, None]))
        next(children)
        fill(
            modules,
            copies,
            self._layouts,
            self._registered,
            iter(self._place_values([*values, None])),
            children,
            zip(parameters, values),
            entries is not _as_they_are,
        )
        built: nn.Module = copies[0]
        return built

    def _checked(self, module: nn.Module, copied: nn.Module, values: Sequence[Any], called: bool) -> nn.Module:
        """A copy by the module's own deepcopy, with the values in it even if that has made other parameters.

        A copy that is `called` must have them wherever its code looks for them, which nobody can tell then.
        """
        named = dict(copied.named_parameters())
        if all(named.get(name) is value for name, value in zip(self.names, values)):
            return copied
        if called or [*named] != self.names:
            raise ConversionError(
                f"{type(module).__name__} copies itself in a way of its own, around other tensors than it is given, so that "
                f"it cannot be called around other values, as forward mode and differences do, or be rebuilt around gradients. "
                f"Use reverse mode, or differentiate a function of its parameters: gradient(lambda p, x: ..., backend, "
                f"dict(model.named_parameters()), Constant(x)), with torch.func.functional_call(model, p, x) in it."
            )
        placed = dict(zip(map(id, named.values()), values))
        for inner in copied.modules():
            own: dict[str, Any] = inner._parameters
            own.update({name: placed[id(parameter)] for name, parameter in own.items() if parameter is not None})
        return copied

    def _changed(self, module: nn.Module) -> Skeleton:
        """The skeleton of a module that f has changed since it was read, if it still has the same parameters."""
        changed = Skeleton(module)
        if (changed.names, changed._specifications) != (self.names, self._specifications):
            raise ConversionError(
                f"{type(module).__name__} has other parameters than before: f added, removed or replaced some, so their "
                f"gradients have no place. Let the module have all its parameters before it is differentiated."
            )
        return changed


_TENSOR = {torch.Tensor}


def _as_parameters(gradients: Sequence[Any], parameters: Sequence[Any]) -> list[Any]:
    """What `nn.Parameter(gradient, requires_grad=False)` gives for each of plain tensors, in half the time.

    Aliases, since others may hold the very tensors: a hook, or a `torch.autograd.Function` whose rule gave one it had kept.
    """
    aliases: list[Any] = [gradient.detach() for gradient in gradients]
    cls = nn.Parameter
    for alias in aliases:
        alias.__class__ = cls
    return aliases


def _as_entries(gradients: Sequence[Any], parameters: Sequence[Any]) -> list[Any]:
    return [_as_entry(gradient, parameter) for gradient, parameter in zip(gradients, parameters)]


def _as_entry(gradient: Any, parameter: torch.Tensor) -> Any:
    if gradient is None:
        gradient = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
    if isinstance(gradient, nn.Module) or gradient.requires_grad:
        return gradient
    return nn.Parameter(gradient, requires_grad=False)


def _as_they_are(values: Sequence[Any], parameters: Sequence[Any]) -> list[Any]:
    return list(values)


def _picker(places: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """The items at these places, at the speed of C."""
    if len(places) > 1:
        return itemgetter(*places)
    first = places[0] if places else 0
    return itemgetter(slice(first, first + len(places)))


def _depth_first(parts: Sequence[_Part], ties: Sequence[int]) -> tuple[list[str], list[int]]:
    """The names and places of the parameters, each once, in the order of `named_parameters()`."""
    starts: list[tuple[int, int]] = []  # of each submodule, where its parameters and its children stand
    parameter, child = 0, 1
    for _, own, children, _ in parts:
        starts.append((parameter, child))
        parameter, child = parameter + len(own), child + len(children)
    names: list[str] = []
    places: list[int] = []
    seen = {-1}
    visited: set[int] = set()
    stack = [(0, "")]
    while stack:
        place, prefix = stack.pop()
        first = parts[place][3]
        place = place if first is None else first  # named where it comes first in this order
        if place in visited:
            continue
        visited.add(place)
        _, own, children, _ = parts[place]
        parameter, child = starts[place]
        for k, name in enumerate(own, parameter):
            if ties[k] not in seen:
                seen.add(ties[k])
                names.append(prefix + name)
                places.append(k)
        stack += [(k, f"{prefix}{name}.") for k, name in reversed([*enumerate(children, child)])]
    return names, places


def is_compiled(module: object) -> bool:
    """Whether a module is what `torch.compile` made of another."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")  # whose import takes a while
    return dynamo is not None and type(module) is dynamo.OptimizedModule


def _uncompiled(f: Callable[..., Any]) -> Callable[..., Any]:
    return f


def _refuse_lazy(parameters: Sequence[Any]) -> None:
    if UninitializedParameter in map(type, parameters):
        raise ConversionError(
            "A lazy module has parameters without a shape, which get one in its first call. Call it once with an example "
            "before differentiating."
        )


def refuse_wrappers(module: nn.Module) -> None:
    for inner in module.modules():
        kind = type(inner)
        refuse_unknown(inner)
        if isinstance(inner, torch.jit.ScriptModule):
            raise ConversionError(
                f"{kind.__name__}: a ScriptModule inside another module cannot be rebuilt around gradients. Script the whole, "
                f"or put the module it was made from in its place; torch.compile it inside f if you need the speed."
            )
        if "keras" in {base.__module__.partition(".")[0] for base in kind.__mro__} and hasattr(inner, "stateless_call"):
            raise ConversionError(
                f"{kind.__name__}: a Keras model keeps its variables to itself, and cannot be rebuilt around gradients. "
                f"Differentiate a function of their values, which calls model.stateless_call(trainable, non_trainable, x), "
                f"with trainable = [v.value for v in model.trainable_variables]."
            )
        wraps = next((name for name in _INNER if isinstance(inner._modules.get(name), nn.Module)), None)
        if isinstance(inner, nn.parallel.DistributedDataParallel):
            continue  # its hooks run, for the gradient alone (see exchange.py)
        if wraps == "_orig_mod":
            raise ConversionError(
                f"{kind.__name__} wraps a {type(inner._modules[wraps]).__name__}, and cannot be rebuilt around gradients. Pass "
                f"the inner module, model._orig_mod, or compile the whole; module.compile() compiles in place, without a "
                f"wrapper."
            )
        if wraps is not None and kind.__module__.startswith("torch."):
            raise ConversionError(
                f"{kind.__name__} wraps a {type(inner._modules[wraps]).__name__}: its hooks do not run here, or it cannot be "
                f"rebuilt around gradients. Pass the inner module, model.{wraps}, and call the wrapper inside f if you need it."
            )
