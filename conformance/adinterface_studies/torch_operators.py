"""`python -m adinterface_studies torch [NAME ...]`: the functions of torch, on the ways that
AutoTorch chooses.

The functions and their samples are those of torch's own tests, which need expecttest. Each way is compared with a slower one: batched rows with single rows, transposed
pullbacks with pullbacks, derivatives of derivatives with differences of them. What is wrong belongs
in `adinterface_torch/nodes.py`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from adinterface import (
    AdinterfaceError,
    AutoTorch,
    Each,
    batched,
    gradient,
    hvp,
    linearize,
    pullback,
    second_derivative,
)

from .progress import steps

BACKEND, ROWS = AutoTorch(), 3
Tensors = tuple[torch.Tensor, ...]


def functions(names: Sequence[str]) -> list[Any]:
    """torch's descriptions of its functions with a derivative, by `NAME` or `NAME.VARIANT`."""
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"torch's tests, which have the samples, need {error.name}. Install it:"
            f" pip install {error.name}"
        ) from error
    found = [op for op in op_db if op.supports_autograd and torch.float64 in op.dtypes]
    return [op for op in found if not names or op.name in names or _full(op) in names]


def _full(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


#: Checks that compare with differences: unclear where those of f are not its gradient.
DIFFERENCED = ("second", "second_derivative", "nested", "third")


class Sample:
    """A sample as a function of the tuple of its differentiable tensors, whose value is one real
    vector.
    """

    def __init__(self, op: Any, sample: Any):
        leaves, self.spec = tree_flatten((sample.input, sample.args, sample.kwargs))
        self.op, self.finish = op, sample.output_process_fn_grad
        self.places = [
            n for n, x in enumerate(leaves) if isinstance(x, torch.Tensor) and x.requires_grad
        ]
        self.given = [x.detach() if isinstance(x, torch.Tensor) else x for x in leaves]
        self.x: Tensors = tuple([self.given[n].clone() for n in self.places])
        self.size = sum([x.numel() for x in self.x])
        #: Of the outputs, those with a derivative in double precision: running statistics have
        #: none.
        outputs = (
            self.outputs(tuple([x.clone().requires_grad_() for x in self.x])) if self.size else []
        )
        self.kept = [
            n
            for n, y in enumerate(outputs)
            if y.requires_grad and y.dtype in (torch.float64, torch.complex128)
        ]

    def outputs(self, x: Tensors) -> list[torch.Tensor]:
        leaves = [
            x[self.places.index(n)] if n in self.places else given
            for n, given in enumerate(self.given)
        ]
        value, args, kwargs = tree_unflatten(leaves, self.spec)
        # which makes inputs symmetric
        result = self.op.gradcheck_wrapper(self.op.get_op(), value, *args, **kwargs)
        return [y for y in tree_flatten(self.finish(result))[0] if isinstance(y, torch.Tensor)]

    def __call__(self, x: Tensors) -> torch.Tensor:
        outputs = self.outputs(x)
        parts = [
            torch.view_as_real(y.resolve_conj()) if y.is_complex() else y
            for y in [outputs[n] for n in self.kept]
        ]
        return torch.cat([y.reshape(-1) for y in parts])


def samples(op: Any, count: int, most: int) -> Iterator[Sample]:
    """Small samples with a real point and a deterministic value."""
    torch.manual_seed(0)
    for given in op.sample_inputs("cpu", torch.float64, requires_grad=True):
        sample = Sample(op, given)
        if (
            sample.kept
            and sample.size <= most
            and all(x.is_floating_point() and x.layout is torch.strided for x in sample.x)
        ):
            value = sample(sample.x)
            if (
                value.numel()
                and bool(value.isfinite().all())
                and torch.equal(value, sample(sample.x))
            ):
                yield sample


def _like(x: Tensors, scale: float = 1.0) -> Tensors:
    return tuple([scale * torch.randn(leaf.shape, dtype=leaf.dtype) for leaf in x])


def _dot(a: Tensors, b: Tensors) -> torch.Tensor:
    return sum([(p * q).sum() for p, q in zip(a, b)], torch.zeros((), dtype=torch.float64))


def _stack(rows: Sequence[Tensors]) -> Tensors:
    return tuple([torch.stack(column) for column in zip(*rows)])


class Unclear(Exception):
    """Differences do not tell the derivative: a kink, or noise."""


def _along(f: Callable[[Tensors], Tensors], x: Tensors, v: Tensors) -> Tensors:
    """The derivative along v by differences of two steps, which must agree."""

    def central(h: float) -> Tensors:
        ends = [f(tuple([p + s * h * q for p, q in zip(x, v)])) for s in (1, -1)]
        return tuple([(a - b) / (2 * h) for a, b in zip(*ends)])

    coarse, fine = central(2e-4), central(1e-4)
    if not _equal(coarse, fine, 1e-4):
        raise Unclear
    return tuple([(4 * b - a) / 3 for a, b in zip(coarse, fine)])


def _equal(a: Tensors, b: Tensors, tolerance: float) -> bool:
    flat, other = (torch.cat([x.reshape(-1) for x in each]) for each in (a, b))
    largest = max(1.0, float(other.nan_to_num(0, 0, 0).abs().max())) if other.numel() else 1.0
    return torch.allclose(flat, other, rtol=tolerance, atol=tolerance * largest, equal_nan=True)


def checks(f: Sample) -> dict[str, Callable[[], tuple[Tensors, Tensors, float]]]:
    """Each way by name: what it gives, what it must be, and how near."""
    torch.manual_seed(1)
    x, v, u = f.x, _like(f.x), _like(f.x)
    weights = torch.randn(f(x).shape, dtype=torch.float64)
    seeds = torch.randn((ROWS, *weights.shape), dtype=torch.float64)
    points = [tuple([p + q for p, q in zip(x, _like(x, 1e-3))]) for _ in range(ROWS)]

    def loss(x: Tensors) -> torch.Tensor:
        return (weights * torch.sin(f(x))).sum()

    def slope(x: Tensors) -> Tensors:
        return tuple(gradient(loss, BACKEND, x)[0])

    def curve(x: Tensors) -> Tensors:
        return tuple(hvp(loss, BACKEND, x, v))

    def rows() -> Any:
        back = pullback(f, BACKEND, x)[1]
        return back.stacked(seeds)[0], _stack([back(seed)[0] for seed in seeds]), 1e-6

    def columns() -> Any:
        push, back = linearize(f, BACKEND, x)[1], pullback(f, BACKEND, x)[1]
        found = (push.stacked(_stack([v, u])) * seeds[0]).sum(1)
        return (found,), (torch.stack([_dot(back(seeds[0])[0], t) for t in (v, u)]),), 1e-6

    def along() -> Any:
        line = lambda t: loss(tuple([p + t * q for p, q in zip(x, v)]))
        found = torch.tensor(second_derivative(line, BACKEND, 0.0), dtype=torch.float64)
        return (found,), (_dot(_along(slope, x, v), v),), 1e-4

    def nested() -> Any:
        back, both = pullback(slope, BACKEND, x)[1], [_along(slope, x, t) for t in (v, u)]
        return back.stacked(_stack([v, u]))[0], _stack(both), 1e-4

    def third() -> Any:
        found = gradient(lambda x: _dot(curve(x), u), BACKEND, x)[0]
        return found, _along(lambda x: tuple(hvp(loss, BACKEND, x, u)), x, v), 1e-3

    def batch() -> Any:
        found = batched(gradient, loss, BACKEND, Each(_stack(points)))[0]
        return found, _stack([slope(p) for p in points]), 1e-6

    def batch_of_rows() -> Any:
        values, back = batched(pullback, f, BACKEND, Each(_stack(points)))
        found = back.stacked(seeds[:1, None].expand(1, *values.shape))[0]
        each = [pullback(f, BACKEND, p)[1](seeds[0])[0] for p in points]
        return found, _stack([_stack(each)]), 1e-6

    def batch_of_second() -> Any:
        found = batched(hvp, loss, BACKEND, Each(_stack(points)), Each(_stack([v] * ROWS)))
        return found, _stack([curve(p) for p in points]), 1e-6

    return {
        "gradient": lambda: ((_dot(slope(x), v),), _along(lambda x: (loss(x),), x, v), 1e-5),
        "rows": rows, "columns": columns,
        "second": lambda: (curve(x), _along(slope, x, v), 1e-4),
        "second_derivative": along, "nested": nested, "third": third, "batched": batch,
        "batched rows": batch_of_rows, "batched second": batch_of_second,
    }  # fmt: skip


def outcome(check: Callable[[], tuple[Tensors, Tensors, float]]) -> str:
    """What has come of a check: right, wrong, unclear, refused by this library, or an error of
    torch.
    """
    try:
        found, expected, tolerance = check()
        return "right" if _equal(tuple(found), tuple(expected), tolerance) else "wrong"
    except Unclear:
        return "unclear"
    except AdinterfaceError as error:
        return f"refused: {error}"
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        return f"raised: {type(error).__name__}: {error}"


def examine(op: Any, count: int, most: int, send: Any) -> None:
    """Send the outcomes of a function's samples: (sample, check, outcome)."""
    warnings.simplefilter("ignore")
    for number, sample in enumerate(islice(samples(op, count, most), count)):
        smooth = True
        for name, check in checks(sample).items():
            result = outcome(check) if smooth or name not in DIFFERENCED else "unclear"
            smooth = smooth and (name != "gradient" or result == "right")
            send((number, name, result))


def in_process(op: Any, options: argparse.Namespace) -> list[tuple[int, str, str]]:
    """As `examine`, in another process, which may crash or take too long."""
    receive, send = multiprocessing.Pipe(duplex=False)

    def run() -> None:
        signal.alarm(options.seconds)
        examine(op, options.samples, options.most, send.send)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    send.close()
    found = []
    try:
        while True:
            found.append(receive.recv())
    except EOFError:
        process.join()
    if process.exitcode:
        found.append((-1, "process", f"ended: {process.exitcode}"))
    return found


def main(argv: Sequence[str]) -> int:
    """The exit status: 1 if something is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m adinterface_studies torch", description=__doc__
    )
    add = parser.add_argument
    add("names", nargs="*", help="functions as torch's tests name them; all without")
    add("--samples", type=int, default=4, help="samples of each function")
    add("--most", type=int, default=400, help="numbers in a sample")
    add("--seconds", type=int, default=60, help="for each function")
    add("--all", action="store_true", help="print refusals and errors, too")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    counts, tried, wrong = defaultdict[str, Counter[str]](Counter), 0, 0
    chosen = functions(options.names)
    with steps(len(chosen), "functions") as advance:
        for op in chosen:
            results = in_process(op, options)
            tried += bool(results)
            found = defaultdict[str, set[str]](set)
            for number, check, result in results:
                counts[check][result.partition(":")[0]] += 1
                if (
                    result == "wrong"
                    or result.startswith("ended")
                    or (options.all and ":" in result)
                ):
                    found[check].add(" ".join(f"{number}: {result}".split())[:160])
            for check, texts in found.items():
                print(f"{_full(op)}, {check}: {'; '.join(sorted(texts))}", flush=True)
            wrong += any(result == "wrong" for _, _, result in results)
            advance(f"{wrong} wrong")
    for check, each in counts.items():
        print(f"{check:18} {', '.join(f'{number} {what}' for what, number in each.most_common())}")
    comparisons = sum(sum(each.values()) for each in counts.values())
    print(
        f"{tried} of {len(chosen)} functions tried, {comparisons} comparisons, {wrong} functions"
        " wrong"
    )
    return int(wrong > 0)
