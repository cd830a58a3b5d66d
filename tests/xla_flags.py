"""XLA's flags for whatever release is installed."""

import importlib.util
import mmap
from pathlib import Path


def flags_that_xla_knows(flags: dict[str, str]) -> str:
    """Those of the flags that the installed XLA registers: one that it does not know ends Python,
    and releases drop some.

    The library is only searched for the names, because the flags must be set before it is loaded.
    """
    jaxlib = importlib.util.find_spec("jaxlib")
    assert jaxlib is not None
    known = set()
    for folder in jaxlib.submodule_search_locations or ():
        for library in Path(folder).glob("*.so"):
            with (
                library.open("rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code,
            ):
                known |= {flag for flag in flags if code.find(b"\0" + flag.encode() + b"\0") >= 0}
    return " ".join(f"--{flag}={value}" for flag, value in flags.items() if flag in known)


#: Code that runs once need not be fast: without LLVM's optimizer and XLA's fusion emitters,
#: compiling takes 0.4 of the time,
#: and a tenth less where no program is split for several threads.
CHEAP = flags_that_xla_knows(
    {
        "xla_backend_optimization_level": "0",
        "xla_cpu_use_fusion_emitters": "false",
        "xla_cpu_parallel_codegen_split_count": "1",
    }
)
#: What XLA compiled in earlier runs. The key is the program, the flags, the versions and the name
#: of this folder (the same one
#: through a link): what changed is compiled anew.
COMPILED = Path(__file__).parent.parent.joinpath(".cache", "jax").resolve()
