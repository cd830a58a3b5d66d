"""Backend values: plain data that chooses an engine. The only file of core that names engines."""

import functools
import math
import numbers
from dataclasses import MISSING, Field, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeGuard, get_args

from ..support.entry_points import distribution_of
from .errors import BackendError

#: The direction in which an engine propagates derivatives; None lets the operator choose by sizes.
Mode = Literal["forward", "reverse"] | None

#: The attributes of functions by which the compilers of engines leave them to Python: that of
#: `torch.compiler.disable`.
LEFT_TO_PYTHON = ("_torchdynamo_disable",)


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

    # Facts of the engine, which a class gives as keywords: `help` shows attributes between options.
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
        if facts:
            cls._facts = facts

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            # By its default, too: another package may have an option of this name that means
            # something else.
            if option.name == "mode" and is_mode(option.default):
                require_option(self, "mode", is_mode(value), "'forward', 'reverse' or None")
            if option.name == "chunk_size":
                holds = value is None or _is_int_from(1, value)
                require_option(self, "chunk_size", holds, "a positive int or None")
            if isinstance(option.default, bool):
                require_option(self, option.name, isinstance(value, bool), "True or False")

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


def require_option(backend: AutoBackend, option: str, holds: bool, takes: str) -> None:
    """Raise ValueError for an option whose value is not what it takes."""
    if not holds:
        name, value = type(backend).__name__, getattr(backend, option)
        raise ValueError(f"{name}: {option} must be {takes}, not {value!r}.")


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


@dataclass(frozen=True, repr=False)
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
        if self.native is not None:
            require_backend(self, "native")
        methods = get_args(DifferenceMethod)
        takes = f"one of {', '.join(map(repr, methods))}"
        require_option(self, "method", self.method in methods, takes)
        for option in ("step", "scale"):
            value = getattr(self, option)
            holds = value is None or (_is_number(value) and 0 < value < math.inf)
            require_option(self, option, holds, "a positive number or None")
        if self.order is not None and self.method not in ("central", "forward", "backward"):
            raise ValueError(
                f"{type(self).__name__}: order goes with fixed steps; {self.method!r} chooses its"
                " own. Leave it out."
            )
        central = self.method == "central"
        takes = "an even number from 2 to 12" if central else "a number from 1 to 12"
        orders = range(2, 13, 2) if central else range(1, 13)
        holds = self.order is None or (type(self.order) is int and self.order in orders)
        require_option(self, "order", holds, f"{takes} for {self.method!r}")
        holds = _is_int_from(4, self.max_evaluations)
        require_option(self, "max_evaluations", holds, "an int of at least 4")
        holds = self.bounds is None or _are_bounds(self.bounds)
        require_option(self, "bounds", holds, "(lowest, highest), each a number or None")
        noises = self.noise if isinstance(self.noise, tuple) else (self.noise,)
        holds = self.noise is None or (len(noises) <= 2 and all(map(_is_noise, noises)))
        takes = "a number that is not negative, or (relative, absolute)"
        require_option(self, "noise", holds, takes)
        holds = self.executor is None or _spreads(self.executor)
        takes = "an executor such as ThreadPoolExecutor(4), or a function that maps as map does"
        require_option(self, "executor", holds, takes)


def _is_int_from(least: int, value: object) -> bool:
    return type(value) is int and value >= least


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_noise(value: object) -> bool:
    return _is_number(value) and 0 <= value < math.inf


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
