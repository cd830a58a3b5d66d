"""Sphinx configuration: `sphinx-build -W -b html docs docs/_build/html`."""

import dataclasses
import inspect
import re
from typing import Any

import adinterface

project = "adinterface"
author = "The adinterface authors"
project_copyright = author
release = version = adinterface.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "demo"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
add_module_names = False
maximum_signature_line_length = 100

html_theme = "furo"
html_title = f"adinterface {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

_ENTRY = re.compile(r"^(\w+): (?=\S)")


def _fields_of(obj: Any) -> set[str]:
    """The names that a docstring may describe in `name: text` paragraphs: parameters and dataclass fields."""
    names = {field.name for field in dataclasses.fields(obj)} if dataclasses.is_dataclass(obj) else set()
    try:
        return names | set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return names


def _from_plain_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text: code in single backticks, `name: text` for parameters and fields, no other markup."""
    end = next((i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    parts = re.split(r"(`+[^`]+`+)", "\n".join(lines[:end]))
    parts[::2] = [re.sub(r"([|*])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part.strip('`')}``" for part in parts[1::2]]
    lines[:end] = "".join(parts).split("\n")
    known, inside = _fields_of(obj), False
    for i, line in enumerate(lines):
        found = _ENTRY.match(line)
        if found and found[1] in known:
            lines[i] = f":param {found[1]}: {line[found.end() :]}"
            inside = True
        elif not line.strip():
            inside = False
        elif inside and not line.startswith(" "):  # the entry's sentence goes on, or another paragraph begins
            lines[i] = f"\n{line}" if lines[i - 1].endswith(".") else f"    {line}"
            inside = not lines[i - 1].endswith(".")
    lines[:] = "\n".join(lines).split("\n")


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _from_plain_text)
