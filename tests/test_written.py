"""Functions that are written out for one structure: they do what going through the structure does, whatever it is made of."""

import random
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pytest
import torch

from adinterface import AutoJax, AutoTorch, Constant, gradient, prepare
from adinterface.core.tree import (
    Frozen,
    Node,
    Writer,
    arguments_builder,
    build,
    build_gradient,
    builder,
    flatten,
    gradients_builder,
    written,
)


class Pair(NamedTuple):
    first: object
    second: object


@dataclass
class Layer:
    weight: object
    bias: object


def some_tree(rng, depth):
    """Containers of every kind, constants and text in them; each array has a number of its own."""
    kind = rng.choice(
        ["array", "array", "constant", "text"] if depth == 0 else ["dict", "list", "tuple", "pair", "layer", "ordered"]
    )
    many = rng.choice([0, 1, 2, 3, 20])
    inner = lambda: some_tree(rng, depth - 1 if rng.random() < 0.7 else 0)
    if kind == "array":
        return np.full(2, rng.random())
    if kind == "constant":
        return Constant(rng.choice([np.full(2, rng.random()), {"a": np.ones(1), "b": 3}, "text"]))
    if kind == "text":
        return rng.choice(["relu", None, 7])
    if kind == "dict":
        return {f"{'key'[: n % 3]}{n}'\"\n{{0}}": inner() for n in range(many)}
    if kind == "ordered":
        return rng.choice([OrderedDict, lambda items: defaultdict(list, items)])([(n, inner()) for n in range(many)])
    if kind == "pair":
        return Pair(inner(), inner())
    if kind == "layer":
        return Layer(inner(), inner())
    return (list if kind == "list" else tuple)([inner() for _ in range(many)])


def shown(value):
    """What compares as Python does, with what stands in the arrays, and the types of all containers."""
    if isinstance(value, dict):
        return type(value), [(key, shown(inner)) for key, inner in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [shown(inner) for inner in value]
    return (type(value), shown(vars(value))) if isinstance(value, Layer) else value


def has_a_leaf(structure):
    if isinstance(structure, Frozen):
        return False
    return (
        any(map(has_a_leaf, structure.children)) if isinstance(structure, Node) else getattr(structure, "differentiated", False)
    )


#: Leaves alone in containers of many kinds.
ROWS = [
    [np.ones(1) for _ in range(20)],
    ({"a": tuple([np.ones(1) for _ in range(20)])}, Constant([np.ones(1) for _ in range(20)])),
    OrderedDict([(n, np.ones(1)) for n in range(20)]),
]


@pytest.mark.parametrize("seed", [None, *range(40)])
def test_they_build_what_the_structure_says(seed):
    rng = random.Random(seed)
    trees = ROWS if seed is None else [some_tree(rng, 3) for _ in range(3)]
    leaves = []
    structures = [flatten(tree, leaves, lambda: "tree") for tree in trees]
    names = [f"leaf {n}" for n in range(len(leaves))]
    remaining = iter(names)
    wanted = [shown(build(structure, remaining)) for structure in structures]
    first = iter(names)
    counts = [sum(1 for _ in flatten_again(tree)) for tree in trees]
    for structure, tree, own in zip(structures, wanted, counts):
        assert shown(builder(structure)([next(first) for _ in range(own)])) == tree
    places = [(("carried", n // 2), ("active", n // 2))[n % 2] for n in range(len(names))]
    args, words = arguments_builder(structures[:2], {"a 'word'": structures[2]}, places)(names[1::2], names[::2])
    assert [shown(arg) for arg in args] == wanted[:2]
    assert [*words] == ["a 'word'"]
    assert shown(words["a 'word'"]) == wanted[2]
    differentiated = [f"gradient {n}" for n, leaf in enumerate(leaves) if leaf.differentiated]
    remaining = iter(differentiated)
    wanted = [shown(build_gradient(structure, remaining)) for structure in structures]
    assert [shown(tree) for tree in gradients_builder(structures)(differentiated, names)] == wanted


def flatten_again(tree):
    leaves = []
    flatten(tree, leaves, lambda: "tree")
    return leaves


def test_structures_that_differ_in_names_alone_have_one_text():
    def size():
        return written._compiled.cache_info().currsize

    structure = flatten([{"a": np.ones(1)}, 2.0], [], lambda: "tree")
    builder(structure)
    before = size()
    for _ in range(3):
        builder(flatten([{"a": np.ones(3)}, 4.0], [], lambda: "tree"))
    assert size() == before
    assert before <= written._compiled.cache_info().maxsize


def test_a_tree_may_be_deeper_than_brackets_in_python():
    tree = np.ones(2)
    for _ in range(110):
        tree = [{"inner": tree}]

    def f(tree):
        while not isinstance(tree, torch.Tensor):
            tree = tree[0]["inner"]
        return (tree**2).sum()

    found = prepare(gradient, f, AutoTorch(), tree)(tree)[0]
    for _ in range(110):
        found = found[0]["inner"]
    np.testing.assert_array_equal(found, [2.0, 2.0])


@pytest.mark.parametrize("backend", [AutoTorch(), AutoJax()], ids=["torch", "jax"])
def test_keywords_keep_their_order_and_names(backend):
    seen = []

    def f(x, **words):
        seen.append([*words])
        return (x * words["b"]).sum() + words["a 'word'"].sum()

    x, words = np.ones(2), {"b": np.full(2, 3.0), "a 'word'": np.ones(1)}
    fast = prepare(gradient, f, backend, x, **words)
    for given in (words, dict(reversed(words.items())), words):
        np.testing.assert_array_equal(fast(x, **given)[0], [3.0, 3.0])
        assert seen[-1] == [*given] or fast.specializations == 2
    assert fast.specializations == 2


class Name(StrEnum):
    SCALE = "scale"


@pytest.mark.parametrize("backend", [AutoTorch(), AutoJax()], ids=["torch", "jax"])
def test_names_may_be_of_a_class_of_their_own(backend):
    def f(x, **words):
        return (x * words["scale"]).sum()

    x, scale = np.ones(2), np.full(2, 3.0)
    np.testing.assert_array_equal(prepare(gradient, f, backend, x, **{Name.SCALE: scale})(x, **{Name.SCALE: scale})[0], scale)
    tree = {Name.SCALE: x, "other": [x]}
    found = prepare(gradient, lambda tree: (tree["scale"] * tree["other"][0]).sum(), backend, tree)(tree)[0]
    assert [*map(type, found)] == [Name, str]
    np.testing.assert_array_equal(found[Name.SCALE], x)


def test_a_writer_gives_what_its_lines_say():
    writer = Writer()
    first, second = writer.unpacked("pair", 2)
    total = writer.assigned(f"{first} + {writer.known(sum)}({second})")
    writer.line(f"return {total}")
    function = writer.function("pair", excepting=TypeError)
    assert function((1, [2, 3])) == 6
    assert function((1, 2)) is None  # which sum does not take
    with pytest.raises(ValueError, match="unpack"):
        function((1,))
