"""Which way an operator goes: at once to the kernel, through torch's dispatcher, or composed of torch calls."""

import torch

from . import _ops
from ._edges import on_cpu
from ._kernels import AggregateKernel, AttentionKernel, CombineKernel, ConvKernel, layer, run
from ._modes import is_eager, is_in_forward_mode, refuse_tangents

_KERNELS = {"conv": ConvKernel, "combine": CombineKernel, "aggregate": AggregateKernel, "attention": AttentionKernel}
_HALF = (torch.float16, torch.bfloat16)


def is_fused(x):
    """Whether the kernels take such a tensor."""
    return x.device.type == "cpu" and x.is_floating_point() and x.layout is torch.strided and not x.is_quantized


def wide(t):
    """Halves as float32, in which the kernels compute."""
    return t.float() if t is not None and t.dtype in _HALF else t


def same_dtype(owner, x, **others):
    for name, t in others.items():
        if t is not None and t.dtype is not x.dtype:
            raise TypeError(
                f"{owner}: x and {name} must have the same dtype, got {x.dtype} and {t.dtype}; convert one of them with .to()"
            )


def apply(name, edges, options, *inputs):
    """A fused operator. inputs: dense CPU tensors of float32 or float64, of the right shapes."""
    if is_eager(inputs[0]):
        if is_in_forward_mode():
            refuse_tangents(inputs)
        for t in inputs:
            if t is not None:
                on_cpu(edges.owner, "every parameter", t)
        return run(_KERNELS[name](edges.graph(), layer(inputs[0].dtype, *options)), *inputs)
    return _ops.call(name, edges, options, *inputs)
