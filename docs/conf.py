"""Sphinx configuration: `sphinx-build -W -b html docs docs/_build/html`."""

import ast
import dataclasses
import html
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.ext.napoleon import GoogleDocstring

import adinterface
from adinterface import fit, loops, rules, sparse, tools, tree  # noqa: F401

project = "adinterface"
SUMMARY = (
    "Differentiate any Python function with any engine: JAX, PyTorch, autograd or finite"
    " differences, behind one contract."
)
author = "The adinterface authors"
project_copyright = author
release = version = adinterface.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "demo", "tables/versions.md", "tables/performance.md"]
nitpicky = False

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
add_module_names = False
maximum_signature_line_length = 100

# Links to these manuals need the network at build time. Without it the empty inventory is taken,
# and there is no warning.
intersphinx_mapping = {
    name: (address, (None, "_static/empty.inv"))
    for name, address in {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "jax": "https://docs.jax.dev/en/latest/",
        "torch": "https://docs.pytorch.org/docs/stable/",
    }.items()
}
intersphinx_timeout = 5

# What is copied is the code alone: no prompts, no results.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_copy_empty_lines = False

REPOSITORY = "https://github.com/adinterface/adinterface"
html_theme = "furo"
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [{"name": "GitHub", "url": REPOSITORY, "html": "GitHub", "class": ""}],
}
html_title = f"adinterface {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["fold.js"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

_ENTRY = re.compile(r"^(\w+(?:, \w+)*): (?=\S)")
_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises|Warns):$", re.M)


def _fields_of(obj: Any) -> set[str]:
    """The names that a docstring may describe in `name: text` paragraphs: parameters and dataclass
    fields.
    """
    names = (
        {field.name for field in dataclasses.fields(obj)}
        if dataclasses.is_dataclass(obj)
        else set()
    )
    try:
        return names | set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return names


def _from_plain_text(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings are plain text: code in single backticks, and for parameters and fields sections
    in the Google form or `name: text`, no other markup.
    """
    end = next((i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    parts = re.split(r"(`+[^`]+`+)", "\n".join(lines[:end]))
    parts[::2] = [re.sub(r"([|*])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part.strip('`')}``" for part in parts[1::2]]
    lines[:end] = "".join(parts).split("\n")
    if _SECTION.search("\n".join(lines)):
        lines[:] = GoogleDocstring(lines, what=what, name=name, obj=obj).lines()
        return
    known, inside, others = _fields_of(obj), False, ""
    for i, line in enumerate(lines):
        found = _ENTRY.match(line)
        if found and known.issuperset(names := found[1].split(", ")):
            lines[i] = f"{others}:param {names[0]}: {line[found.end() :]}"
            # Several names share a text, which stands at the first of them.
            others = "".join(f":param {name}: See {names[0]}.\n" for name in names[1:])
            inside = True
        elif not line.strip():
            lines[i], inside, others = others + line, False, ""
        # The sentence of the entry goes on, or another paragraph begins.
        elif inside and not line.startswith(" "):
            ended = lines[i - 1].endswith(".")
            lines[i] = f"{others}\n{line}" if ended else f"    {line}"
            inside, others = not ended, "" if ended else others
    lines.append(others)
    lines[:] = "\n".join(lines).split("\n")


SIGNATURES = Path(adinterface.__file__).parent / "_signatures.pyi"
_DECORATOR = re.compile(r'^@typed\["signatures\.(\w+)"\]', re.M)


def _overloads() -> dict[str, list[ast.FunctionDef]]:
    """The overloads of each class of `_signatures.pyi`."""
    classes = [
        node for node in ast.parse(SIGNATURES.read_text()).body if isinstance(node, ast.ClassDef)
    ]
    return {
        cls.name: [node for node in cls.body if isinstance(node, ast.FunctionDef)]
        for cls in classes
    }


OVERLOADS = _overloads()
#: The parameters of an overload with one argument x of f.
ALONE = {"f", "backend", "x", "x0", "v"}


def _shown(overload: ast.FunctionDef) -> str | None:
    """An overload of at most one argument of f, without the types that all overloads share.

    None for the others.
    """
    args = overload.args.posonlyargs[1:]  # without self
    types = {arg.arg: ast.unparse(arg.annotation) for arg in args if arg.annotation}
    returned = types.get("f", "").removeprefix("Callable[..., ").removesuffix("]")
    kinds = [types[name] for name in types if re.fullmatch(r"x0?", name)]
    if (
        types.get("backend") != "AutoBackend"
        or returned == "Never"
        or len(kinds) != 1
        or not types.keys() <= ALONE
    ):
        return None
    function = "f" if returned == "Any" else f"f -> {returned}"
    middle = ", v" if "v" in types else ""
    return f"({function}, x: {kinds[0]}{middle}) -> {ast.unparse(overload.returns)}"  # type: ignore[arg-type]


def _with_types(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Adds the overloads of an operator for one argument, from `_signatures.pyi`."""
    if what != "function" or not (
        found := _DECORATOR.search(inspect.getsource(inspect.unwrap(obj)))
    ):
        return
    shown = [_shown(overload) for overload in OVERLOADS[found[1]]]
    rows = list(
        dict.fromkeys(row.replace("np.ndarray[Any, Any]", "np.ndarray") for row in shown if row)
    )
    if rows:
        lines += [
            "",
            "Types of the result, for one argument x of f:",
            "",
            ".. code-block:: text",
            "",
        ]
        lines += [f"   {row}" for row in rows]


_DIRECTIVE = re.compile(r"^\.\. auto\w+:: (?:adinterface\.)?([\w.]+)", re.M)


def _list_members(app: Any, page: str, source: list[str]) -> None:
    """Adds to each heading of `api.md` the list of what its page describes."""
    if page != "api":
        return

    def with_list(heading: re.Match[str]) -> str:
        names = _DIRECTIVE.findall((Path(app.srcdir) / heading[1]).read_text())
        lines = [".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   ~adinterface.{name}" for name in names]
        return "\n".join([heading[0], "", "```{eval-rst}", *lines, "```"])

    source[0] = re.sub(r"^## \[.*\]\((api/\w+\.md)\)$", with_list, source[0], flags=re.M)


def _write_llms(app: Any, exception: Exception | None) -> None:
    """Writes `llms.txt`: each page with its first sentence, by part of the documentation."""
    if exception is not None or app.builder.format != "html":
        return
    text = [f"# {project}", "", f"> {SUMMARY}", ""]
    for part in app.env.get_doctree("index").findall(addnodes.toctree):
        text += [f"## {part['caption']}", ""]
        for _, page in part["entries"]:
            if page not in app.env.titles:
                continue  # an address elsewhere
            title = app.env.titles[page].astext()
            text.append(f"- [{title}](_sources/{page}.md.txt): {_first_sentence(app, page)}")
        text.append("")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(text))


def _first_sentence(app: Any, page: str) -> str:
    """The first sentence of a page."""
    paragraph = next(iter(app.env.get_doctree(page).findall(nodes.paragraph)), None)
    if paragraph is None:
        return ""
    return re.split(r"(?<=[.?])\s", " ".join(paragraph.astext().split()))[0].rstrip(":.")


def _mark_numbers(app: Any, doctree: nodes.document) -> None:
    """Gives table cells of numbers a class, by which the style sheet keeps each on one line."""
    for entry in doctree.findall(nodes.entry):
        if re.fullmatch(r"[\d.,e+\-x%µms ]+( to [\d.,]+)?", entry.astext()):
            entry["classes"].append("number")


def _mark_commands(app: Any, doctree: nodes.document) -> None:
    """Gives blocks of commands a class, by which the style sheet lets them wrap on a phone."""
    for block in doctree.findall(nodes.literal_block):
        if re.fullmatch(
            r"((pip|python|make|pytest|torchrun|test_conformance) .*\n?)+", block.astext()
        ):
            block["classes"].append("command")


def _finish_page(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """A description for search engines; links of module listings lead to the API page."""
    if doctree is not None:
        text = html.escape(_first_sentence(app, page) or SUMMARY)
        context["metatags"] = (
            context.get("metatags", "") + f'<meta name="description" content="{text}">'
        )
    elif page.startswith("_modules/"):
        # viewcode knows an object by the module of its definition; the page has its public name.
        objects = app.env.domaindata["py"]["objects"]
        known = {name for name, found in objects.items() if not found.aliased}
        public = {name.rpartition(".")[2]: name for name in known}
        context["body"] = re.sub(
            r"#(adinterface[\w.]+)",
            lambda m: f"#{m[1] if m[1] in known else public.get(m[1].rpartition('.')[2], m[1])}",
            context["body"].replace('<li><a href="builtins.html">builtins</a></li>', ""),
        )


def _put_into_their_files() -> None:
    """autodoc and viewcode read the source of `__module__`, which is the public place of functions
    and classes.
    """
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "adinterface" and (file := getattr(module, "__file__", None)):
            for node in ast.parse(Path(file).read_text()).body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and (
                    value := vars(module).get(node.name)
                ):
                    value.__module__ = name


_put_into_their_files()


def setup(app: Any) -> None:
    app.connect("source-read", _list_members)
    app.connect("autodoc-process-docstring", _from_plain_text)
    app.connect("autodoc-process-docstring", _with_types)
    app.connect("doctree-read", _mark_numbers)
    app.connect("doctree-read", _mark_commands)
    app.connect("html-page-context", _finish_page)
    app.connect("build-finished", _write_llms)
