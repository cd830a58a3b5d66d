"""Studies of this project: tables and measurements that its documentation quotes.

They are not part of the wheel.

They may import `adinterface` and the judge, `adinterface_conformance`; nothing imports them but
tests.
"""

#: The studies by name: the module whose `main(argv)` runs each, and its purpose: what fails, or who
#: asks, without it.
STUDIES = {
    "conformance": (
        "conformance",
        "the table of the judge over the scenarios of this project too: docs/tables",
    ),
    "benchmark": (
        "benchmark.command",
        "time and memory beside hand-written code, or another revision: docs/performance",
    ),
    "functions": (
        "functions.command",
        "each function of the Array API, NumPy, SciPy on every engine: docs/numpy, docs/scipy",
    ),
    "fuzz": ("fuzz", "random programs on every engine, shrunk by Hypothesis: docs/conformance"),
    "torch": (
        "torch_operators",
        "every function of torch on the ways that AutoTorch chooses: docs/architecture",
    ),
    "distributed": (
        "distributed.command",
        "gradients over several processes, on a cluster too: docs/devices",
    ),
    "tables": ("tables", "write the generated tables of the documentation into docs/tables"),
    "signatures": (
        "signatures",
        "write the overloads of the operators, adinterface/_signatures.pyi",
    ),
    "contract": (
        "contract",
        "the members of the contract, and the names that engines take: docs/writing-a-backend",
    ),
}
