"""The fused operators on torch's tensors: each a kernel with a forward and a backward pass, on plain memory.

A kernel is a graph and a layer's options. ``Function`` classes record kernels for autograd.
"""

import ctypes
import functools

import torch

from .._library import Layer, fail, lib
from ._threads import follow_torch

AGGREGATORS = {"add": 0, "sum": 0, "mean": 1, "symnorm": 2, "max": 3, "min": 4, "var": 5, "std": 6}
SELF_LOOPS = {"all": 0, "symnorm": 1, "none": 2}
ACTIVATIONS = {"identity": 0, "softmax": 1, "sigmoid": 2, "hardtanh": 3}
_DTYPES = {torch.float32: 0, torch.float64: 1}


def options(
    aggregators=(),
    self_loops="none",
    activation="identity",
    in_channels=1,
    heads=1,
    bases=1,
    width=1,
    version=0,
    slope=0.2,
):
    """Options of a layer, as the kernels' functions and operators take them: numbers alone."""
    numbers = tuple(AGGREGATORS[name] for name in aggregators)
    return numbers, SELF_LOOPS[self_loops], ACTIVATIONS[activation], in_channels, heads, bases, width, version, slope


@functools.lru_cache(maxsize=None)
def layer(dtype, aggregators, self_loops, activation, in_channels, heads, bases, width, version, slope):
    """The egc_layer of some options, which lives as long as the process."""
    out = Layer(
        _DTYPES[dtype],
        len(aggregators),
        (ctypes.c_int32 * 7)(*aggregators),
        self_loops,
        activation,
        version,
        in_channels,
        heads,
        bases,
        width,
        slope,
    )
    out.address = ctypes.addressof(out)
    out.y_width, out.bases_width = heads * width, bases * width
    out.weights_width = heads * len(aggregators) * bases
    return out


def _pointer(t):
    return None if t is None else t.data_ptr()


def _contiguous(t):
    """What a pointer to its memory describes; conj().imag negates on reading."""
    return t if t is None or t.is_contiguous() and not t.is_neg() else t.resolve_neg().contiguous()


class Kernel:
    __slots__ = ("graph", "layer")

    def __init__(self, graph, layer):
        self.graph, self.layer = graph, layer


def conv_forward(
    graph, o, x, x_target, bases_weight, comb_weight, comb_bias, bias, save, _forward=lib.egc_conv_forward
):
    """EGC: its output, and what the backward pass needs where `save`. Written for few microseconds."""
    y = x.new_empty(graph.num_nodes, o.y_width)
    saved = x.new_empty(graph.num_sources * o.bases_width + graph.num_nodes * o.weights_width) if save else None
    follow_torch()
    status = _forward(
        graph._handle,
        o.address,
        x.data_ptr(),
        None if x_target is None else x_target.data_ptr(),
        bases_weight.data_ptr(),
        comb_weight.data_ptr(),
        None if comb_bias is None else comb_bias.data_ptr(),
        None if bias is None else bias.data_ptr(),
        y.data_ptr(),
        None if saved is None else saved.data_ptr(),
    )
    if status:
        fail(status)
    return y, saved


def conv_backward(
    graph, o, x, x_target, bases_weight, comb_weight, saved, grad_y, wanted, _backward=lib.egc_conv_backward
):
    """Gradients of x, x_target, bases_weight, comb_weight, comb_bias and bias; None where not wanted."""
    of_x = torch.empty_like(x) if wanted[0] else None
    of_x_target = torch.empty_like(x_target) if wanted[1] else None
    of_bases = torch.empty_like(bases_weight) if wanted[2] else None
    of_comb = torch.empty_like(comb_weight) if wanted[3] else None
    of_comb_bias = x.new_empty(o.weights_width) if wanted[4] else None
    of_bias = x.new_empty(o.y_width) if wanted[5] else None
    grad_y = _contiguous(grad_y)
    follow_torch()
    status = _backward(
        graph._handle,
        o.address,
        x.data_ptr(),
        None if x_target is None else x_target.data_ptr(),
        bases_weight.data_ptr(),
        comb_weight.data_ptr(),
        grad_y.data_ptr(),
        saved.data_ptr(),
        None if of_x is None else of_x.data_ptr(),
        None if of_x_target is None else of_x_target.data_ptr(),
        None if of_bases is None else of_bases.data_ptr(),
        None if of_comb is None else of_comb.data_ptr(),
        None if of_comb_bias is None else of_comb_bias.data_ptr(),
        None if of_bias is None else of_bias.data_ptr(),
    )
    if status:
        fail(status)
    return of_x, of_x_target, of_bases, of_comb, of_comb_bias, of_bias


class ConvKernel(Kernel):
    """EGC. Inputs: x, x_target, bases_weight, comb_weight, comb_bias, bias."""

    __slots__ = ()

    def forward(self, *inputs_and_save):
        return conv_forward(self.graph, self.layer, *inputs_and_save)

    def backward(self, inputs, saved, grad_y, wanted):
        return conv_backward(self.graph, self.layer, *inputs[:4], saved, grad_y, wanted)


class CombineKernel(Kernel):
    """The second half of EGC. Inputs: bases, weights."""

    __slots__ = ()

    def forward(self, bases, weights, save):
        o = self.layer
        y = bases.new_empty((self.graph.num_nodes, o.heads * o.width))
        follow_torch()
        status = lib.egc_combine_forward(
            self.graph._handle, o.address, bases.data_ptr(), weights.data_ptr(), y.data_ptr()
        )
        if status:
            fail(status)
        return y, None

    def backward(self, inputs, saved, grad_y, wanted):
        bases, weights = inputs
        grads = [torch.empty_like(bases), torch.empty_like(weights)]
        grad_y = _contiguous(grad_y)
        follow_torch()
        status = lib.egc_combine_backward(
            self.graph._handle,
            self.layer.address,
            bases.data_ptr(),
            weights.data_ptr(),
            grad_y.data_ptr(),
            *map(_pointer, grads),
        )
        if status:
            fail(status)
        return grads


class AggregateKernel(Kernel):
    """Several aggregators of one matrix. Inputs: x."""

    __slots__ = ()

    def forward(self, x, save):
        o = self.layer
        y = x.new_empty((self.graph.num_nodes, o.num_aggregators * o.in_channels))
        follow_torch()
        status = lib.egc_aggregate_forward(self.graph._handle, o.address, x.data_ptr(), y.data_ptr())
        if status:
            fail(status)
        return y, None

    def backward(self, inputs, saved, grad_y, wanted):
        (x,) = inputs
        grad_x, grad_y = torch.empty_like(x), _contiguous(grad_y)
        follow_torch()
        status = lib.egc_aggregate_backward(
            self.graph._handle, self.layer.address, x.data_ptr(), grad_y.data_ptr(), grad_x.data_ptr()
        )
        if status:
            fail(status)
        return [grad_x]


class AttentionKernel(Kernel):
    """GAT and GATv2. Inputs: values, of_source (GAT), of_target, attention (GATv2)."""

    __slots__ = ()

    def forward(self, values, of_source, of_target, attention, save):
        o, rows = self.layer, self.graph.num_nodes
        y = values.new_empty((rows, o.heads * o.width))
        saved = None
        if save:  # the output, and what the kernel keeps
            kept = 2 * o.heads if o.attention_version == 2 else 3 * o.heads + o.heads * o.width
            saved = values.new_empty(rows * kept)
        follow_torch()
        status = lib.egc_attention_forward(
            self.graph._handle,
            o.address,
            values.data_ptr(),
            _pointer(of_source),
            of_target.data_ptr(),
            _pointer(attention),
            y.data_ptr(),
            _pointer(saved),
        )
        if status:
            fail(status)
        return y, (None if saved is None else torch.cat([saved, y.view(-1)]))

    def backward(self, inputs, saved, grad_y, wanted):
        values, of_source, of_target, attention = inputs
        grads = [None if t is None else torch.empty_like(t) for t in inputs]
        grad_y = _contiguous(grad_y)
        y = saved[saved.numel() - grad_y.numel() :]
        follow_torch()
        status = lib.egc_attention_backward(
            self.graph._handle,
            self.layer.address,
            values.data_ptr(),
            _pointer(of_source),
            of_target.data_ptr(),
            _pointer(attention),
            y.data_ptr(),
            saved.data_ptr(),
            grad_y.data_ptr(),
            *map(_pointer, grads),
        )
        if status:
            fail(status)
        return grads


NO_SECOND = "egc: the layers have no second derivatives; create_graph=True is not supported"


class RecordedConv(torch.autograd.Function):
    """EGC between the nodes of one graph: Recorded for the shortest way."""

    @staticmethod
    def forward(ctx, graph, o, x, bases_weight, comb_weight, comb_bias, bias):
        y, saved = conv_forward(graph, o, x, None, bases_weight, comb_weight, comb_bias, bias, True)
        ctx.graph, ctx.layer = graph, o
        ctx.save_for_backward(x, bases_weight, comb_weight, saved)
        return y

    @staticmethod
    def backward(ctx, grad_y):
        if torch.is_grad_enabled():
            raise RuntimeError(NO_SECOND)
        x, bases_weight, comb_weight, saved = ctx.saved_tensors
        _, _, of_x, *of_others = ctx.needs_input_grad
        wanted = (of_x, False, *of_others)
        grads = conv_backward(ctx.graph, ctx.layer, x, None, bases_weight, comb_weight, saved, grad_y, wanted)
        return None, None, grads[0], grads[2], grads[3], grads[4], grads[5]


# Function.apply without its search for functorch's wrappers, which _dispatch.is_eager has excluded: two microseconds.
record_conv = super(torch.autograd.Function, RecordedConv).apply


class Recorded(torch.autograd.Function):
    """A kernel in the autograd graph. ``kernel`` may also be one that calls torch's operators (_ops.py)."""

    @staticmethod
    def forward(ctx, kernel, *inputs):
        y, saved = kernel.forward(*inputs, True)
        ctx.kernel = kernel
        ctx.save_for_backward(saved, *inputs)
        return y

    @staticmethod
    def backward(ctx, grad_y):
        if torch.is_grad_enabled():
            raise RuntimeError(NO_SECOND)
        saved, *inputs = ctx.saved_tensors
        wanted = ctx.needs_input_grad[1:]
        grads = ctx.kernel.backward(inputs, saved, grad_y, wanted)
        return (None, *(g if w else None for g, w in zip(grads, wanted)))


def run(kernel, *inputs):
    """Calls a kernel at once. inputs: dense CPU tensors of the layer's dtype, or None."""
    inputs = [_contiguous(t) for t in inputs]
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in inputs):
        return Recorded.apply(kernel, *inputs)
    return kernel.forward(*inputs, False)[0]
