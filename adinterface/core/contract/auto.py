"""Backend values: plain data that chooses an engine. The only file of core that names engines."""

import functools
import inspect
import math
import numbers
import operator
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from ..support.entry_points import distribution_of
from .errors import BackendError

#: The direction in which an engine propagates derivatives; None lets the operator choose by sizes.
Mode = Literal["forward", "reverse"] | None

#: The attributes of functions by which the compilers of engines leave them to Python: that of
#: `torch.compiler.disable`.
LEFT_TO_PYTHON = ("_torchdynamo_disable",)

#: What classes of backend values say of their engines.
_FACTS = ("optimisers", "package")


@dataclass(frozen=True)
class AutoBackend:
    """Base of all backend values: a frozen dataclass whose fields are the engine's options.

    `name` is the name of the entry point (group `adinterface.backends`) and the import name of the
    engine. Another package derives its own value from this class:

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class AutoMine(AutoBackend):
    ...     name = "mine"
    """

    # Facts of the engine, which a class gives as keywords or as attributes. `help` shows attributes
    # between the options:
    #
    # optimisers: those of the engine's backend, by the names of the functions that users call:
    # `{"optax": "module:factory"}`.
    # package: what pip installs for the engine; by default the distribution that offers the
    # backend.

    # tools that print a dataclass by its fields, such as hypothesis, would print it
    if TYPE_CHECKING:
        name: ClassVar[str]
    _facts: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **facts: Any) -> None:
        known = {**{name: vars(cls)[name] for name in _FACTS if name in vars(cls)}, **facts}
        if known:
            cls._facts = {name: known[name] for name in _FACTS if name in known}
        super().__init_subclass__(**{name: facts[name] for name in facts.keys() - {*_FACTS}})

    def __new__(cls, *args: Any, **options: Any) -> Self:
        for name in options.keys() - {option.name for option in fields(cls)} if options else ():
            if name not in inspect.signature(cls.__init__).parameters:
                known = ", ".join(option.name for option in fields(cls) if option.init) or "none"
                raise TypeError(f"{cls.__name__} has no option {name!r}. Its options are: {known}.")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            # By its default, too: another package may have an option of this name that means
            # something else.
            if option.name == "mode" and is_mode(option.default) and not is_mode(value):
                raise wrong_option(
                    self, "mode", "'forward', 'reverse' or None", isinstance(value, str)
                )
            if option.name == "chunk_size" and not (value is None or _is_int_from(1, value)):
                raise wrong_option(self, "chunk_size", "a positive int or None", type(value) is int)
            if isinstance(option.default, bool) and not isinstance(value, bool):
                raise wrong_option(self, option.name, "True or False", False)
            if option.name == "executor" and value is not None and not _spreads(value):
                raise TypeError(
                    f"{type(self).__name__}: executor must be something that evaluations can be"
                    f" handed to, not {value!r}. Pass an executor of concurrent.futures, such as"
                    " ThreadPoolExecutor(4), a dask.distributed.Client, a joblib.Parallel, or a"
                    " function that maps as map does."
                )

    def __repr__(self) -> str:
        """The call that makes this value, without default options."""
        changed = changed_options(self)
        shown = [option.name for option in fields(self) if option.repr and option.name in changed]
        options = [f"{name}={getattr(self, name)!r}" for name in shown]
        return f"{type(self).__name__}({', '.join(options)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the executor, which belongs to its process."""
        names = [option.name for option in fields(self) if option.init]
        options = {name: getattr(self, name) for name in names if name != "executor"}
        return functools.partial(type(self), **options), ()

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @classmethod
    def install(cls) -> str:
        """The command that installs the engine."""
        return f"pip install {cls._facts.get('package') or distribution_of(cls.name)}"


def changed_options(backend: AutoBackend) -> set[str]:
    """The names of the options that differ from their default."""
    options = [each for each in fields(backend) if _is_changed(each, getattr(backend, each.name))]
    return {option.name for option in options}


def wrong_option(
    backend: AutoBackend, option: str, takes: str, has_type: bool
) -> TypeError | ValueError:
    """The error for a wrong option: ValueError for a wrong value, TypeError for a wrong type."""
    error = ValueError if has_type else TypeError
    return error(
        f"{type(backend).__name__}: {option} must be {takes}, not {getattr(backend, option)!r}."
    )


def require_backend(backend: AutoBackend, option: str) -> None:
    """Raise BackendError for an option that is no backend, or one that none may wrap."""
    name, value = type(backend).__name__, getattr(backend, option)
    if not isinstance(value, AutoBackend):
        remedy = "Pass an object such as AutoJax() or AutoTorch()."
        if isinstance(value, type) and issubclass(value, AutoBackend):
            remedy = f"Write {value.__name__}()."
        raise BackendError(f"{name}: {option} must be a backend, not {value!r}. {remedy}")
    if isinstance(value, MatrixBackend):
        outer = type(value).__name__
        raise BackendError(
            f"{name}: {option} cannot be {outer}, which stands outermost: {outer}({name}(...))."
        )


def require_hashable(backend: AutoBackend) -> None:
    """Raise BackendError for a backend that cannot be a key of the caches."""
    try:
        hash(backend)
    except TypeError as error:
        raise BackendError(
            f"{backend!r}: options must be hashable ({error}). Pass a tuple for a list, say."
        ) from None


def is_mode(value: object) -> bool:
    return value is None or (isinstance(value, str) and value in ("forward", "reverse"))


def _is_changed(option: Field[Any], value: Any) -> bool:
    if option.default_factory is not MISSING:
        return bool(value != option.default_factory())
    default = option.default
    return value is not default and (type(value) is not type(default) or bool(value != default))


class MatrixBackend(AutoBackend):
    """Base of backend values around another one that return matrices. None may wrap them."""

    backend: AutoBackend


@dataclass(frozen=True, repr=False)
class AutoJax(
    AutoBackend,
    package="'adinterface[jax]'",
    optimisers={"optax": "adinterface_jax.optimisers:Optax"},
):
    """JAX.

    Attributes:
        mode: `"forward"` (jvp) or `"reverse"` (vjp); None lets the operator choose.
        jit: `prepare` compiles with `jax.jit`; False leaves prepared calls eager, for an f that
            branches on values.
        chunk_size: How many rows or columns of a Jacobian or Hessian are computed in one batch;
            None allows 64 MiB of seeds.
        device: A `jax.Device` or `Sharding` for the computation; None leaves each array on its
            device.
    """

    name = "jax"
    mode: Mode = None
    jit: bool = True
    chunk_size: int | None = None
    device: Any = None


@dataclass(frozen=True, repr=False)
class AutoTorch(
    AutoBackend,
    package="'adinterface[torch]'",
    optimisers={"torch_optim": "adinterface_torch.optimisers:TorchOptim"},
):
    """PyTorch.

    Attributes:
        mode: `"forward"` (`torch.func.jvp`) or `"reverse"` (`torch.autograd.grad`; forward
            derivatives by transposing it, which is faster on torch for long chains of small
            operations); None lets the operator choose.
        compile: A prepared `gradient` or `value_and_gradient` runs f through `torch.compile`, with
            its backward pass. Other operators are not compiled: torch cannot differentiate compiled
            code twice.
        create_graph: Keeps results in torch's graph, so that torch can differentiate them again:
            `.backward()` of a result then reaches weights that f captures.
        chunk_size: How many rows or columns of a Jacobian or Hessian are computed in one batch; 1
            turns batching off; None allows 64 MiB of seeds.
        device: The device of the computation (`"cuda"`, `torch.device(...)`); None leaves each
            tensor on its device.
    """

    name = "torch"
    mode: Mode = None
    compile: bool = False
    create_graph: bool = False
    chunk_size: int | None = None
    device: Any = None


@dataclass(frozen=True, repr=False)
class AutoAutograd(AutoBackend, package="'adinterface[autograd]'"):
    """HIPS autograd: NumPy code, on the CPU.

    Attributes:
        mode: `"forward"` uses forward rules: those of autograd where they are right, else ours; a
            function without one transposes its reverse rule. `"reverse"` transposes the whole
            reverse pass for forward derivatives. None lets the operator choose: forward rules for
            `pushforward` and `derivative`, one transposed reverse pass for `linearize`.
    """

    name = "autograd"
    mode: Mode = None


#: The methods of finite differences.
DifferenceMethod = Literal["adaptive", "central", "forward", "backward", "complex"]


@dataclass(frozen=True, eq=False, repr=False)
class AutoFiniteDifferences(AutoBackend, package="adinterface"):
    """Finite differences: f is a black box, evaluated around the point.

    Attributes:
        method: `"adaptive"` extrapolates central slopes at several steps, with an estimate of the
            error; it takes 4 to 10 evaluations for each real number in the arguments, about 7 on
            average. `"central"` takes two evaluations with a fixed step. `"forward"` and
            `"backward"` take one evaluation and the value. `"complex"` takes the imaginary part of
            f at an imaginary step (NumPy float64 arguments) and checks it with a central
            difference: three evaluations, and the adaptive ones too where f is not analytic.
        order: The order of accuracy of fixed steps: the power of the step with which the error
            falls. None: 2 for central, 1 for one-sided.
        step: Relative. A fixed step for a number x is `step * max(1, |x|)` (None:
            eps^(1/(order+1)), with eps of the leaf's dtype). The first adaptive step is about
            `step * |x|` (None: 0.06 to 0.1).
        scale: The distance over which f changes, in place of |x| or of max(1, |x|), for every
            number. None: |x|, and 1 for 0.
        bounds: `(lowest, highest)`, which no evaluation exceeds; None for no bound on that side.
            Adaptive differences also detect by themselves where f is not finite.
        max_evaluations: The limit for one derivative along one direction, without f at the point,
            for the adaptive method; at least 4.
        noise: The relative noise of f's values; `(relative, absolute)` for both. None: the rounding
            of their dtype, and the noise that the slopes show.
        native: A backend such as `AutoJax()`, whose arrays f then receives; None gives f each leaf
            in its own library.
        executor: Evaluates f on its workers: a `concurrent.futures.Executor`, a
            `dask.distributed.Client`, a `joblib.Parallel`, or any function with the call of `map`.
            Backends with different executors are not equal; pickling drops the executor.
    """

    name = "finite_differences"
    method: DifferenceMethod = "adaptive"
    order: int | None = None
    step: float | None = None
    scale: float | None = None
    bounds: tuple[float | None, float | None] | None = None
    max_evaluations: int = 10
    noise: float | tuple[float, float] | None = None
    native: AutoBackend | None = None
    executor: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        if self.native is not None:
            require_backend(self, "native")
        methods = get_args(DifferenceMethod)
        if self.method not in methods:
            takes = f"one of {', '.join(map(repr, methods))}"
            raise wrong_option(self, "method", takes, isinstance(self.method, str))
        for option in ("step", "scale"):
            value = getattr(self, option)
            if value is not None and not (_is_number(value) and 0 < value < math.inf):
                raise wrong_option(self, option, "a positive number or None", _is_number(value))
        if self.order is not None:
            if self.method not in ("central", "forward", "backward"):
                raise ValueError(
                    f"{name}: order goes with fixed steps; {self.method!r} chooses its own. Leave"
                    " it out."
                )
            central, is_int = self.method == "central", type(self.order) is int
            if not _is_int_from(1, self.order) or self.order > 12 or (central and self.order % 2):
                takes = "an even number from 2 to 12" if central else "a number from 1 to 12"
                raise wrong_option(self, "order", f"{takes} for {self.method!r}", is_int)
        if not _is_int_from(4, self.max_evaluations):
            is_int = type(self.max_evaluations) is int
            raise wrong_option(self, "max_evaluations", "an int of at least 4", is_int)
        if self.bounds is not None and not _are_bounds(self.bounds):
            has_type = isinstance(self.bounds, tuple) and all(
                bound is None or _is_number(bound) for bound in self.bounds
            )
            raise wrong_option(self, "bounds", "(lowest, highest), each a number or None", has_type)
        noises: Any = self.noise if isinstance(self.noise, tuple) else (self.noise,)
        has_type = all(map(_is_number, noises))
        in_range = has_type and len(noises) <= 2 and all(0 <= each < math.inf for each in noises)
        if self.noise is not None and not in_range:
            takes = "a number that is not negative, or (relative, absolute)"
            raise wrong_option(self, "noise", takes, has_type)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        cls: Any = type(self)
        options = _options_of(cls)
        return bool(options(self) == options(other)) and self.executor is other.executor

    def __hash__(self) -> int:
        cls: Any = type(self)  # every unprepared call hashes the backend
        return hash((cls, _options_of(cls)(self), id(self.executor)))


@functools.cache
def _options_of(cls: type[AutoFiniteDifferences]) -> Callable[[AutoFiniteDifferences], Any]:
    """The options that two equal backends share, without their executors."""
    return operator.attrgetter(*[each.name for each in fields(cls) if each.name != "executor"])


def _is_int_from(least: int, value: object) -> bool:
    return type(value) is int and value >= least


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _spreads(executor: object) -> bool:
    # the built-in map is a type and maps; a class of executors does not
    if isinstance(executor, type):
        return callable(executor) and not hasattr(executor, "submit")
    names = ("submit", "map", "get_executor", "__call__")
    return any(callable(getattr(executor, name, None)) for name in names)


def _are_bounds(bounds: object) -> bool:
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        return False
    if not all(bound is None or _is_number(bound) for bound in bounds):
        return False
    low, high = bounds
    return bool(low is None or high is None or low < high)


@dataclass(frozen=True, repr=False)
class SecondOrder(AutoBackend):
    """Two backends: `outer` differentiates the gradient that `inner` computes.

    `SecondOrder(AutoJax(mode="forward"), AutoJax(mode="reverse"))` is forward over reverse. Finite
    differences may be the outer backend of any engine. First-order operators use `inner`.
    """

    outer: AutoBackend
    inner: AutoBackend
    name = "second_order"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_backend(self, "outer")
        require_backend(self, "inner")


BUILT_IN: tuple[type[AutoBackend], ...] = (AutoJax, AutoTorch, AutoAutograd, AutoFiniteDifferences)
