"""Compiled code: functions that only other kernels may call are not called from Python."""

import ast
from pathlib import Path

import tierwise

PACKAGE = Path(tierwise.__file__).parent
PARTS = {"compiled_part", "inlined_part"}


def parts_of_kernels():
    """Names of the functions that have no way in from Python: to call one there is a crash."""
    return {
        function.name
        for path in (PACKAGE / "_kernels").glob("*.py")
        for function in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(function, ast.FunctionDef)
        and PARTS & {ast.unparse(decorator) for decorator in function.decorator_list}
    }


def test_parts_of_kernels_are_called_by_kernels_only():
    parts = parts_of_kernels()
    assert parts
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if path.parent.name == "_kernels":
            plain = [
                node
                for node in tree.body
                if isinstance(node, ast.FunctionDef) and not node.decorator_list
            ]
            called = {
                call.func.id
                for function in plain
                for call in ast.walk(function)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            }
            assert not called & parts, path.name
        else:
            imported = {
                name.name
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and "_kernels" in (node.module or "")
                for name in node.names
            }
            assert not imported & parts, path.name
