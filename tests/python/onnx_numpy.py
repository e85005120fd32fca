"""Evaluates ONNX models with numpy: the operators that egc's files use, as ONNX defines them."""

import numpy as np
import onnx
from onnx import numpy_helper


def _attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def _scatter_nd(data, indices, updates, reduction=b"none"):
    out = data.copy()
    at = tuple(indices[..., k] for k in range(indices.shape[-1]))
    if reduction == b"add":
        np.add.at(out, at, updates)
    elif reduction == b"none":
        out[at] = updates
    else:
        raise NotImplementedError(reduction)
    return out


def _top_k(x, k, largest=1, sorted=1):
    assert x.ndim == 1 and sorted == 1
    order = np.argsort(-x if largest else x, kind="stable")[: int(k[0])]
    return x[order], order


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _cum_sum(x, axis, exclusive=0):
    total = np.cumsum(x, axis=int(axis))
    return total - x if exclusive else total


def _reduce(function):
    def run(x, axes=None, keepdims=1):
        return function(x, axis=None if axes is None else tuple(axes), keepdims=bool(keepdims))

    return run


def _slice(x, starts, ends, axes):
    index = [slice(None)] * x.ndim
    for start, end, axis in zip(starts, ends, axes):
        index[axis] = slice(int(start), int(end))
    return x[tuple(index)]


def _log_softmax(x, axis=-1):
    y = x - x.max(axis=axis, keepdims=True)
    return y - np.log(np.exp(y).sum(axis=axis, keepdims=True))


OPERATORS = {
    "Add": np.add,
    "Clip": lambda x, low, high: np.clip(x, low, high),
    "Compress": lambda x, keep, axis: np.compress(keep, x, axis=axis),
    "Concat": lambda *parts, axis: np.concatenate(parts, axis=axis),
    "CumSum": _cum_sum,
    "Div": np.divide,
    "Equal": np.equal,
    "Expand": lambda x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape))),
    "Gather": lambda x, index, axis=0: np.take(x, index, axis=axis),
    "Gemm": lambda a, b, c=0, transB=0: a @ (b.T if transB else b) + c,
    "Greater": np.greater,
    "Identity": lambda x: x,
    "LogSoftmax": _log_softmax,
    "MatMul": np.matmul,
    "Max": np.maximum,
    "Min": np.minimum,
    "Mul": np.multiply,
    "Not": np.logical_not,
    "Range": lambda begin, end, step: np.arange(begin, end, step),
    "Reciprocal": lambda x: 1 / x,
    "ReduceMax": _reduce(np.max),
    "ReduceMean": _reduce(np.mean),
    "ReduceMin": _reduce(np.min),
    "ReduceSum": _reduce(np.sum),
    "Relu": lambda x: np.maximum(x, 0),
    "Reshape": lambda x, shape: x.reshape(tuple(shape)),
    "ScatterND": _scatter_nd,
    "Shape": lambda x: np.array(x.shape, dtype=np.int64),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Slice": _slice,
    "Softmax": _softmax,
    "Sqrt": np.sqrt,
    "Squeeze": lambda x, axes: x.squeeze(tuple(axes)),
    "Sub": np.subtract,
    "TopK": _top_k,
    "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes)),
    "Where": np.where,
}


def evaluate(path, **inputs):
    """The model's output; its inputs by name."""
    model = onnx.load(path)
    onnx.checker.check_model(model)
    assert all(not o.domain for o in model.opset_import), "standard operators only"
    graph = model.graph
    assert {i.name for i in graph.input} == set(inputs), [i.name for i in graph.input]
    values = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    values.update(inputs)
    for node in graph.node:
        results = OPERATORS[node.op_type](*(values[name] for name in node.input), **_attributes(node))
        if len(node.output) == 1:
            results = (results,)
        values.update(zip(node.output, results))
    (output,) = graph.output
    return values[output.name]
