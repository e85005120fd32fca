"""Who looks over torch's shoulder: compilers, tracers, modes, transforms."""

import torch
from torch import Tensor

_PLAIN = (Tensor, torch.nn.Parameter)


def _of(module, name, otherwise):
    """A function that not every torch has."""
    return getattr(module, name, lambda: otherwise)


_forward_ad = torch.autograd.forward_ad
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
        raise NotImplementedError(
            "egc: torch.func transforms (grad, vmap, jvp, ...) of these layers are not supported; use torch.autograd"
        )
    return type(x) in _PLAIN and not _dispatch_modes() and not _function_modes() and _is_tracing() is None


def is_in_forward_mode():
    """Whether inputs may have tangents (torch.autograd.forward_ad)."""
    return _forward_ad._current_level >= 0


def refuse_tangents(inputs):
    """Inputs: tensors or None."""
    for t in inputs:
        if t is not None and _forward_ad.unpack_dual(t).tangent is not None:
            raise NotImplementedError("egc: forward-mode derivatives of these layers are not supported; use backward()")


def is_traced():
    """Whether torch.compile or torch.export looks at what is called."""
    return _is_compiling()
