"""A Linear that may learn its width from its first input, as PyTorch Geometric's."""

import math

import torch
from torch.nn import Module, Parameter
from torch.nn.parameter import UninitializedParameter


def glorot_(t):
    """Glorot's uniform initialization over the last two dimensions; None is left alone."""
    if t is not None:
        bound = math.sqrt(6 / (t.size(-2) + t.size(-1)))
        with torch.no_grad():
            t.uniform_(-bound, bound)


def zeros_(t):
    if t is not None:
        torch.nn.init.zeros_(t)


def add_bias(module, width, wanted=True):
    """A parameter `bias`, or None under that name."""
    module.register_parameter("bias", Parameter(torch.empty(width)) if wanted else None)


class Linear(Module):
    """x W' + b. ``in_channels`` -1: from the first input. ``glorot``: the weight's initialization; else torch's."""

    def __init__(self, in_channels, out_channels, bias=True, glorot=False):
        super().__init__()
        self.in_channels, self.out_channels, self.glorot = in_channels, out_channels, glorot
        if in_channels > 0:
            self.weight = Parameter(torch.empty(out_channels, in_channels))
        else:
            self._wait_for_input()
        add_bias(self, out_channels, bias)
        self.reset_parameters()

    def _wait_for_input(self):
        self.in_channels = -1
        self.weight = UninitializedParameter()
        self._lazy_hook = self.register_forward_pre_hook(_materialize)

    def reset_parameters(self):
        if self.in_channels <= 0:
            return
        bound = math.sqrt(1 / self.in_channels)
        if self.glorot:
            glorot_(self.weight)
        else:
            torch.nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            torch.nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x):
        return torch.nn.functional.linear(x, self.weight, self.bias)

    def materialize(self, in_channels):
        self.in_channels = in_channels
        self.weight.materialize((self.out_channels, in_channels))
        self._lazy_hook.remove()
        del self._lazy_hook

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        if isinstance(self.weight, UninitializedParameter):
            destination[prefix + "weight"] = self.weight
            if self.bias is not None:
                destination[prefix + "bias"] = self.bias if keep_vars else self.bias.detach()
        else:
            super()._save_to_state_dict(destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict, prefix, *args):
        weight = state_dict.get(prefix + "weight")
        lazy = isinstance(self.weight, UninitializedParameter)
        if isinstance(weight, UninitializedParameter):
            if not lazy:
                self._wait_for_input()
        elif weight is not None and lazy:
            self.materialize(weight.size(-1))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def __repr__(self):
        return f"Linear({self.in_channels}, {self.out_channels}, bias={self.bias is not None})"


def _materialize(linear, inputs):
    if isinstance(linear.weight, UninitializedParameter):
        with torch.no_grad():
            linear.materialize(inputs[0].size(-1))
            linear.reset_parameters()


def width_of(module):
    """Columns that a Linear takes; -1 where it does not say, or does not know yet."""
    return getattr(module, "in_channels", getattr(module, "in_features", -1))


def dtype_of(module):
    """Of its weight; None where it has none."""
    weight = getattr(module, "weight", None)
    return None if weight is None else weight.dtype


_module = torch.nn.modules.module
_GLOBAL_HOOKS = tuple(
    getattr(_module, f"_global_{name}_hooks", {}) for name in ("forward", "forward_pre", "backward", "backward_pre")
)


def are_plain(a, b):
    """Whether nothing happens in a call of these two but x W' + b: no hooks, parametrizations, pruning, subclasses."""
    return (
        _is_plain(a)
        and _is_plain(b)
        and not (_GLOBAL_HOOKS[0] or _GLOBAL_HOOKS[1] or _GLOBAL_HOOKS[2] or _GLOBAL_HOOKS[3])
    )


def _is_plain(linear):
    d = linear.__dict__
    kind = type(linear)
    return (
        (kind is Linear or kind is torch.nn.Linear)
        and d["_parameters"].get("weight") is not None
        and has_no_hooks(linear)
    )


def has_no_hooks(module):
    d = module.__dict__
    return (
        not (d["_forward_hooks"] or d["_forward_pre_hooks"] or d["_backward_hooks"] or d.get("_backward_pre_hooks"))
        and "forward" not in d
    )
