"""The page of analyzers: what each can find, what it needs, what proves and contradicts it."""

import ast
import inspect
from collections.abc import Iterator

from reference import NOTE
from tocsin_contracts import CauseClass
from tocsin_rca import analyzers
from tocsin_rca.analyzers import Analyzer

HEAD = f"""\
{NOTE}

# Analyzers

What is told without a model: every analyzer, by name. *Needs* is what it looks at; what could not
be seen never counts as health. *Proof* is what makes its finding, *against* what keeps it from one
or makes it less sure. [Causes](causes.md) says what each cause means, and
[add an analyzer](extend/analyzer.md) how another one is written.
"""


def page() -> str:
    """Return the whole page."""
    every = sorted(analyzers.load(), key=lambda one: one.name)
    return "\n".join([HEAD, *(line for one in every for line in _section(one))])


def _section(one: Analyzer) -> Iterator[str]:
    yield f"## {one.name}\n\n{inspect.getdoc(type(one))}\n"
    yield f"- causes: {', '.join(f'`{cause}`' for cause in _causes(one))}"
    yield f"- needs: {one.needs}"
    yield f"- proof: {one.proof}"
    yield f"- against: {one.against}\n"


def _causes(one: Analyzer) -> list[str]:
    """Return the causes that the module names; one without any is an error of this script."""
    module = inspect.getmodule(type(one))
    nodes = ast.walk(ast.parse(inspect.getsource(module))) if module else ()
    named = (node for node in nodes if isinstance(node, ast.Attribute))
    found = {CauseClass[n.attr].value for n in named if ast.unparse(n.value) == "CauseClass"}
    if not found:
        raise LookupError(f"{one.name} names no cause")
    return sorted(found)
