# Python sources to graphs, one JSON line for every function. Run by `egc data build code`, which puts the lines
# together. The sources are parsed by Python's own ast module and never executed.
#
# The form is that of OGB's Code-V2: nodes are those of the syntax tree in depth-first order with the module as root;
# the function's own name is masked, its sub-tokens are the label; the docstring is removed.
import ast
import json
import os
import re
import sys
import warnings

warnings.simplefilter("ignore")  # of the sources' own escapes
sys.setrecursionlimit(10000)
least_nodes, most_nodes = int(sys.argv[2]), int(sys.argv[3])
MASK = "_mask_"


def sub_tokens(name):
    """get_HTTPResponse2 -> get http response2"""
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+", name)
    return [w.lower() for w in words]


def attribute(node):
    """The one text of a node that its type does not tell, or None."""
    for field in ("id", "attr", "arg", "name", "module", "value", "names"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            return value
        if field == "value" and isinstance(node, ast.Constant):
            return repr(value)
        if field == "names" and isinstance(node, (ast.Global, ast.Nonlocal)):
            return " ".join(value)
    return None


def graph(function):
    types, attributes, depths, parents = [], [], [], []

    def visit(node, parent, depth, masked):
        index = len(types)
        text = attribute(node)
        if masked or text == function.name:  # also where it calls itself: the name is the label
            text = MASK
        types.append(type(node).__name__)
        attributes.append(None if text is None else text[:80].encode("utf-8", "replace").decode())
        depths.append(depth)
        parents.append(parent)
        for child in ast.iter_child_nodes(node):
            visit(child, index, depth + 1, False)

    types.append("Module")
    attributes.append(None)
    depths.append(0)
    parents.append(-1)
    visit(function, 0, 1, True)
    return {"types": types, "attributes": attributes, "depths": depths, "parents": parents}


def functions(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            dunder = node.name.startswith("__") and node.name.endswith("__")
            if not dunder and sub_tokens(node.name):
                yield node


def without_docstring(function):
    if ast.get_docstring(function, clean=False) is not None:
        function.body = function.body[1:] or [ast.Pass()]
    return function


def sources(root):
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name.endswith(".py") and os.path.isfile(path):  # not a pipe, which would wait for ever
                yield path


for path in sources(sys.argv[1]):
    relative = os.fsencode(os.path.relpath(path, sys.argv[1])).decode("utf-8", "replace")
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
        for function in functions(tree):
            record = graph(without_docstring(function))
            if least_nodes <= len(record["types"]) <= most_nodes:
                record["file"] = relative
                record["name"] = sub_tokens(function.name)
                print(json.dumps(record, ensure_ascii=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        print(json.dumps({"file": relative, "error": reason}, ensure_ascii=True))
