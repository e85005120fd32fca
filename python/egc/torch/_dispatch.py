"""Which way an operator goes: at once to the kernel, through torch's dispatcher, or composed of torch calls."""

import torch
from torch import Tensor

from . import _ops
from ._kernels import AggregateKernel, AttentionKernel, CombineKernel, ConvKernel, layer, run

_KERNELS = {"conv": ConvKernel, "combine": CombineKernel, "aggregate": AggregateKernel, "attention": AttentionKernel}
_PLAIN = (Tensor, torch.nn.Parameter)
_HALF = (torch.float16, torch.bfloat16)


def _of(module, name, otherwise):
    """A function that not every torch has."""
    return getattr(module, name, lambda: otherwise)


_is_tracing = torch._C._get_tracing_state
_dispatch_modes = _of(torch._C, "_len_torch_dispatch_stack", 0)
_function_modes = _of(torch._C, "_len_torch_function_stack", 0)
_transforms = _of(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", None)
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)
if _is_compiling is None:  # until torch 2.3
    _is_compiling = _of(torch._utils, "is_compiling", False)


def is_eager(x):
    """Whether nobody looks over torch's shoulder. Refuses what would silently lose a derivative."""
    if _is_compiling():
        return False
    if _transforms() is not None:
        raise NotImplementedError("egc: torch.func transforms (grad, vmap, jvp, ...) of these layers are not supported; use torch.autograd")
    if torch.autograd.forward_ad._current_level >= 0 and torch.autograd.forward_ad.unpack_dual(x).tangent is not None:
        raise NotImplementedError("egc: forward-mode derivatives of these layers are not supported; use backward()")
    return type(x) in _PLAIN and not _dispatch_modes() and not _function_modes() and _is_tracing() is None


def is_traced():
    """Whether torch.compile or torch.export looks at what is called."""
    return _is_compiling()


def is_fused(x):
    """Whether the kernels take such a tensor."""
    return x.device.type == "cpu" and x.is_floating_point() and x.layout is torch.strided


def wide(t):
    """Halves as float32, in which the kernels compute."""
    return t.float() if t is not None and t.dtype in _HALF else t


def same_dtype(owner, x, **others):
    for name, t in others.items():
        if t is not None and t.dtype is not x.dtype:
            raise TypeError(f"{owner}: x and {name} must have the same dtype, got {x.dtype} and {t.dtype}; convert one of them with .to()")


def apply(name, edges, options, *inputs):
    """A fused operator. inputs: dense CPU tensors of float32 or float64, of the right shapes."""
    if is_eager(inputs[0]):
        return run(_KERNELS[name](edges.graph(), layer(inputs[0].dtype, *options)), *inputs)
    return _ops.call(name, edges, options, *inputs)
