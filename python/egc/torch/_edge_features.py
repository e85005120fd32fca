"""Features of edges: what a call gives, and what a layer makes of it."""

import ctypes

import torch
from torch import Tensor
from torch.nn import Module, Parameter

from .._library import DataError
from .._library import EdgeFeatures as Struct
from ._edges import checksum, on_cpu
from ._modes import is_eager
from .linear import Linear, are_plain, dtype_of, glorot_, has_no_hooks, zeros_

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


class EdgeFeatures:
    """Of the edges of one call: ``categories`` int64 [E, columns] below ``counts``, ``numbers`` [E, D]; each may be
    None."""

    def __init__(self, owner, categories, counts, numbers):
        self.owner, self.categories, self.counts, self.numbers = owner, categories, counts, numbers

    @property
    def are_constants(self):
        return self.numbers is None or not (self.numbers.requires_grad and torch.is_grad_enabled())

    def _tensors(self):
        """As the library takes them."""
        numbers = self.numbers
        if numbers is not None and numbers.dtype not in (torch.float32, torch.float64):
            numbers = numbers.float()
        return [None if t is None else t.detach().resolve_neg().contiguous() for t in (self.categories, numbers)]

    def key(self):
        for t in (self.categories, self.numbers):
            if t is not None:
                on_cpu(self.owner, "edge_attr", t)
        parts = self._tensors()
        return ("features", self.counts, *((checksum(t), t.shape, t.dtype) for t in parts if t is not None))

    def struct(self):
        """The egc_edge_features, which keeps its tensors."""
        categories, numbers = self._tensors()
        out = Struct()
        out.kept = (categories, numbers, (ctypes.c_int64 * len(self.counts))(*self.counts))
        if categories is not None:
            out.category_dtype, out.category_columns = 3, len(self.counts)  # EGC_INT64
            out.categories, out.num_categories = categories.data_ptr(), ctypes.addressof(out.kept[2])
        if numbers is not None:
            out.number_dtype = 1 if numbers.dtype is torch.float64 else 0
            out.number_columns, out.numbers = numbers.size(1), numbers.data_ptr()
        return out

    def check_values(self):
        """What the library refuses, for what is composed of torch calls."""
        for t in (self.categories, self.numbers):
            if t is not None and (not t.numel() or t.device.type != "cpu" or not is_eager(t)):
                return
        for column, count in enumerate(self.counts):
            least, most = map(int, self.categories[:, column].aminmax())
            if least < 0 or most >= count:
                raise DataError(
                    f"{self.owner}: category {column} of edge_attr must be in [0, {count}), "
                    f"got {least if least < 0 else most}"
                )
        if self.numbers is not None and not bool(self.numbers.isfinite().all()):
            raise DataError(f"{self.owner}: edge_attr must be finite")


class EdgeEncoder(Module):
    """e [E, width]: the sum of a row of ``table`` for every category, and ``lin`` of the numbers. ``self_edge`` is that
    of added self-loops."""

    def __init__(self, owner, categories, numbers, width, has_loops):
        super().__init__()
        self.owner, self.categories, self.numbers = owner, categories, numbers
        self.register_parameter("table", Parameter(torch.empty(sum(categories), width)) if categories else None)
        self.lin = Linear(numbers, width) if numbers else None
        self.register_parameter("self_edge", Parameter(torch.empty(width)) if has_loops else None)

    def reset_parameters(self):
        first = 0
        for count in self.categories:
            glorot_(self.table.detach()[first : first + count])
            first += count
        if self.lin is not None:
            self.lin.reset_parameters()
        zeros_(self.self_edge)

    def forward(self, features):
        e, first = 0, 0
        for column, count in enumerate(self.categories):
            rows = self.table[first : first + count]
            e = e + torch.nn.functional.embedding(features.categories[:, column], rows)
            first += count
        if self.lin is None:
            return e
        dtype = dtype_of(self.lin)
        return e + self.lin(features.numbers if dtype is None else features.numbers.to(dtype))

    def is_plain(self):
        """Whether nothing happens in a call but the above."""
        return has_no_hooks(self) and (self.lin is None or are_plain(self.lin, self.lin))

    def tensors(self):
        """table, the weight and bias of lin, self_edge; None where there is none."""
        weight, bias = (None, None) if self.lin is None else (self.lin.weight, self.lin.bias)
        return self.table, weight, bias, self.self_edge

    def features(self, edge_attr, edges):
        """Those of a call. Refuses what is not as the layer was made for."""
        if edges.is_prepared:
            raise ValueError(
                f"{self.owner}: edge_attr is in the order of an edge_index; an egc.Graph has sorted its edges"
            )
        categories = numbers = None
        if self.categories and self.numbers:
            if not isinstance(edge_attr, (tuple, list)) or len(edge_attr) != 2:
                raise TypeError(
                    f"{self.owner}: with edge_categories and edge_dim, edge_attr must be a pair (categories, floats), "
                    f"got {type(edge_attr).__name__}"
                )
            categories, numbers = edge_attr
        elif self.categories:
            categories = edge_attr
        else:
            numbers = edge_attr
        if self.categories:
            categories = self._matrix(categories, edges.count, len(self.categories), "integers", "edge_categories")
            categories = categories.to(torch.int64)
        if self.numbers:
            numbers = self._matrix(numbers, edges.count, self.numbers, "floats", "edge_dim")
        return EdgeFeatures(self.owner, categories, self.categories, numbers)

    def _matrix(self, t, count, width, kind, option):
        if not isinstance(t, Tensor):
            raise TypeError(f"{self.owner}: edge_attr must be a tensor of {kind}, got {type(t).__name__}")
        fits = t.dtype in _INTEGERS if kind == "integers" else t.is_floating_point()
        if not fits or t.is_quantized or t.layout is not torch.strided:
            raise TypeError(
                f"{self.owner}: {option} takes an edge_attr of {kind}, got {t.dtype}"
                + ("" if t.layout is torch.strided else f", {t.layout}")
            )
        t = t.view(-1, 1) if t.dim() == 1 and width == 1 else t
        if t.dim() != 2 or t.size(0) != count or t.size(1) != width:
            raise ValueError(f"{self.owner}: {count} edges need edge_attr [{count}, {width}], got {list(t.shape)}")
        return t
