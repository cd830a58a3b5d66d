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
exclude_patterns = ["_build"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "code"  # docstrings write code in single backticks
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


def _field_lists(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Render the docstrings' `name: text` lines as field lists."""
    known = _fields_of(obj)
    lines[:] = [
        f":param {found[1]}: {line[found.end() :]}" if (found := _ENTRY.match(line)) and found[1] in known else line
        for line in lines
    ]


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _field_lists)
