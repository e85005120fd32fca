"""The operators under torch's names (torch.ops.egc), for torch.compile, torch.export and other tracing.

A graph is an edge_index with optional weights, or the number of an egc.Graph; options are a list of integers.
"""

import torch

from ..graph import Graph
from ._edges import Edges
from ._kernels import AggregateKernel, AttentionKernel, CombineKernel, ConvKernel, Recorded, _contiguous, layer

_GRAPH = "Tensor? edge_index, Tensor? edge_weight, int graph, SymInt num_targets, SymInt num_sources, int[] options, float slope"
_KERNELS = {  # name: kernel, inputs; those with ? may be missing
    "conv": (ConvKernel, ("x", "x_target?", "bases_weight", "comb_weight", "comb_bias?", "bias?")),
    "combine": (CombineKernel, ("bases", "weights")),
    "aggregate": (AggregateKernel, ("x",)),
    "attention": (AttentionKernel, ("values", "of_source?", "of_target", "attention?")),
}
_library = torch.library.Library("egc", "DEF")


def _schema(inputs):
    return ", ".join(f"Tensor? {name[:-1]}" if name.endswith("?") else f"Tensor {name}" for name in inputs)


def _flat(options):
    """Options as the list and the number that a schema has."""
    aggregators, *others, slope = options
    return [len(aggregators), *aggregators, *others], slope


def _layer(dtype, flat, slope):
    count = flat[0]
    return layer(dtype, tuple(flat[1 : 1 + count]), *flat[1 + count :], slope)


def _graph(edge_index, edge_weight, number, num_targets, num_sources):
    if edge_index is None:
        return Graph.with_id(number)
    same = num_sources < 0
    return Edges("egc", edge_index, num_targets, num_targets if same else num_sources, same, edge_weight).graph()


def _sizes(name, o, num_targets, num_sources):
    """Columns of the output, and elements that the forward pass saves."""
    sources = num_targets if isinstance(num_sources, int) and num_sources < 0 else num_sources
    if name == "conv":
        return o.heads * o.width, sources * (o.bases * o.width) + num_targets * (o.heads * o.num_aggregators * o.bases)
    if name == "combine":
        return o.heads * o.width, 0
    if name == "aggregate":
        return o.num_aggregators * o.in_channels, 0
    kept = 2 * o.heads if o.attention_version == 2 else 3 * o.heads + o.heads * o.width
    return o.heads * o.width, num_targets * (kept + o.heads * o.width)


def _check(name, inputs, kernel, tensors):
    """A trace may be run with other sizes than it was made with; the kernels only have addresses."""
    o, sources, targets = kernel.layer, kernel.graph.num_sources, kernel.graph.num_nodes
    shapes = {
        "conv": (
            (sources, o.in_channels),
            (targets, o.in_channels),
            (o.bases_width, o.in_channels),
            (o.weights_width, o.in_channels),
            (o.weights_width,),
            (o.y_width,),
        ),
        "combine": ((sources, o.bases_width), (targets, o.weights_width)),
        "aggregate": ((sources, o.in_channels),),
        "attention": (
            (sources, o.y_width),
            (sources, o.heads),
            (targets, o.y_width if o.attention_version == 2 else o.heads),
            (o.heads, o.width),
        ),
    }[name]
    for what, t, shape in zip(inputs, tensors, shapes):
        if t is not None and (tuple(t.shape) != shape or t.dtype is not tensors[0].dtype):
            raise ValueError(
                f"egc.{name}: {what.rstrip('?')} must be {tensors[0].dtype} {list(shape)}, got {t.dtype} {list(t.shape)}"
            )


class _Traced:
    """A kernel whose passes are operators."""

    def __init__(self, name, graph):
        self.name, self.graph = name, graph

    def forward(self, *inputs_and_save):
        with torch._C._AutoDispatchBelowAutograd():
            return getattr(torch.ops.egc, self.name + "_forward")(*inputs_and_save[:-1], *self.graph)

    def backward(self, inputs, saved, grad_y, wanted):
        grads = getattr(torch.ops.egc, self.name + "_backward")(*inputs, saved, grad_y, *self.graph)
        grads = iter(grads)
        return [None if t is None else next(grads) for t in inputs]


def _define(name, kernel, inputs):
    count = len(inputs)
    _library.define(f"{name}({_schema(inputs)}, {_GRAPH}) -> Tensor")
    _library.define(f"{name}_forward({_schema(inputs)}, {_GRAPH}) -> (Tensor, Tensor)")
    _library.define(f"{name}_backward({_schema(inputs)}, Tensor saved, Tensor grad_y, {_GRAPH}) -> Tensor[]")

    def make(tensors, graph, options, slope):
        made = kernel(_graph(*graph), _layer(tensors[0].dtype, options, slope))
        _check(name, inputs, made, tensors)
        return made, [_contiguous(t) for t in tensors]

    def call(*args):
        made, tensors = make(args[:count], args[count : count + 5], *args[count + 5 :])
        return made.forward(*tensors, False)[0]

    def forward(*args):
        made, tensors = make(args[:count], args[count : count + 5], *args[count + 5 :])
        y, saved = made.forward(*tensors, True)
        return y, (y.new_empty(0) if saved is None else saved)

    def backward(*args):
        made, tensors = make(args[:count], args[count + 2 : count + 7], *args[count + 7 :])
        grads = made.backward(tensors, args[count], _contiguous(args[count + 1]), [t is not None for t in tensors])
        return [g for g in grads if g is not None]

    def shapes(args, first):
        o = _layer(torch.float32, args[first + 5], args[first + 6])
        return _sizes(name, o, args[first + 3], args[first + 4])

    def fake_call(*args):
        return args[0].new_empty((args[count + 3], shapes(args, count)[0]))

    def fake_forward(*args):
        columns, saved = shapes(args, count)
        return args[0].new_empty((args[count + 3], columns)), args[0].new_empty((saved,))

    def fake_backward(*args):
        return [torch.empty_like(t, memory_format=torch.contiguous_format) for t in args[:count] if t is not None]

    def autograd(*args):
        if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in args[:count]):
            return Recorded.apply(_Traced(name, args[count:]), *args[:count])
        with torch._C._AutoDispatchBelowAutograd():
            return getattr(torch.ops.egc, name)(*args)

    for suffix, real, fake in (
        ("", call, fake_call),
        ("_forward", forward, fake_forward),
        ("_backward", backward, fake_backward),
    ):
        _library.impl(name + suffix, real, "CPU")
        _register_fake(name + suffix, fake)
    _library.impl(name, autograd, "Autograd")


def _register_fake(name, function):
    """What a tensor without values gives. The function is called impl_abstract until torch 2.4."""
    register = getattr(torch.library, "register_fake", None) or getattr(torch.library, "impl_abstract", None)
    if register is None:  # until torch 2.1: no torch.compile, but meta tensors
        _library.impl(name, function, "Meta")
        return
    try:
        register("egc::" + name, function, lib=_library)
    except TypeError:  # without lib until torch 2.4
        register("egc::" + name)(function)


for _name, (_kernel, _inputs) in _KERNELS.items():
    _define(_name, _kernel, _inputs)


def call(name, edges, options, *inputs):
    """An operator, seen by whoever traces."""
    if edges.is_prepared:
        index, weight, number = None, None, edges.adj.id
    else:
        (index, weight), number = edges.tensors(), 0
    sources = -1 if edges.same_nodes else edges.num_sources
    return getattr(torch.ops.egc, name)(*inputs, index, weight, number, edges.num_targets, sources, *_flat(options))
