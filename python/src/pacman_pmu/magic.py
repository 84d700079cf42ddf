"""A notebook's cell as a phase: ``%load_ext pacman_pmu``, then ``%%pacman`` or ``%%pacman NAME``."""

from __future__ import annotations

import ast
from typing import Any

from .phases import phase, report


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext pacman_pmu``."""

    def pacman(line: str, cell: str) -> Any:
        """Run the cell as a phase, and show its counts.

        ``%%pacman NAME`` names the phase, and adds to its earlier executions; without a name it is
        the cell's own, such as ``cell 3``.
        """
        name = line.strip() or f"cell {shell.execution_count}"
        has_begun = False
        try:
            with phase(name):
                has_begun = True
                return _run(shell, cell)
        finally:
            # A machine that counts nothing has said so.
            if has_begun:
                _show(name)

    shell.register_magic_function(pacman, "cell", "pacman")


def _run(shell: Any, cell: str) -> Any:
    """Runs a cell as IPython does. The value of a last expression is the cell's."""
    source = shell.transform_cell(cell)
    file = shell.compile.cache(source)
    tree = shell.transform_ast(ast.parse(source, file))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    # IPython shows no value of a line that ends in a semicolon.
    is_silent = source.rstrip().endswith(";")
    exec(compile(tree, file, "exec"), shell.user_ns)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), file, "eval"), shell.user_ns)
    return None if is_silent else value


def _show(name: str) -> None:
    from IPython.display import display

    frame = report()
    attributes, kind = frame.attrs, type(frame)
    own = kind(frame[frame["phase"] == name].reset_index(drop=True))
    own.attrs.update(attributes)
    display(own)
