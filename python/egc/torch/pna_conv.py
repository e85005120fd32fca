"""PNAConv, as PyTorch Geometric's."""

import torch
from torch.nn import Module, ModuleList, Parameter, Sequential

from . import _composed
from .conv import GraphConv, whole
from .linear import Linear, dtype_of

AGGREGATORS = ("sum", "add", "mean", "min", "max", "var", "std")
SCALERS = ("identity", "amplification", "attenuation", "linear", "inverse_linear")


class _Scalers(Module):
    """Mean degrees of the training set, with the names that PyTorch Geometric has for them."""

    def __init__(self, deg, train_norm):
        super().__init__()
        deg = deg.to(torch.float)
        count, bins = int(deg.sum()), torch.arange(deg.numel(), device=deg.device)
        self.initial = (float((bins * deg).sum()) / count, float(((bins + 1).log() * deg).sum()) / count)
        for name in ("avg_deg_lin", "avg_deg_log"):
            if train_norm:
                setattr(self, name, Parameter(torch.empty(1)))
            else:
                self.register_buffer(name, torch.empty(1))
        self.reset_parameters()

    def reset_parameters(self):
        self.avg_deg_lin.data.fill_(self.initial[0])
        self.avg_deg_log.data.fill_(self.initial[1])

    def forward(self, x, degree, scalers):
        """x: [N, towers, C].   degree: [N].   Result: [N, towers, C * scalers]."""
        degree = degree.view(-1, 1, 1)
        factors = {
            "identity": lambda: 1,
            "amplification": lambda: (degree + 1).log() / self.avg_deg_log,
            "attenuation": lambda: self.avg_deg_log / (degree.clamp(min=1) + 1).log(),
            "linear": lambda: degree / self.avg_deg_lin,
            "inverse_linear": lambda: self.avg_deg_lin / degree.clamp(min=1),
        }
        return torch.cat([x * factors[s]() for s in scalers], -1)


class PNAConv(GraphConv):
    """Principal neighbourhood aggregation, as ``torch_geometric.nn.PNAConv``.

    With one layer before the aggregation and no edge features, a message is linear in both ends, and no message
    is ever stored.
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        aggregators,
        scalers,
        deg,
        edge_dim=None,
        towers=1,
        pre_layers=1,
        post_layers=1,
        divide_input=False,
        act="relu",
        act_kwargs=None,
        train_norm=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        for what, names, known in (("aggregator", aggregators, AGGREGATORS), ("scaler", scalers, SCALERS)):
            if isinstance(names, str) or not hasattr(names, "__iter__") or not list(names):
                raise TypeError(f"PNAConv: {what}s must be a list of names, got {names!r}")
            for name in names:
                if name not in known:
                    raise ValueError(f"PNAConv: unknown {what} {name!r}; known: {', '.join(known)}")
        for what, value in (
            ("in_channels", in_channels),
            ("out_channels", out_channels),
            ("towers", towers),
            ("pre_layers", pre_layers),
            ("post_layers", post_layers),
        ):
            whole("PNAConv", what, value)
        if edge_dim is not None:
            whole("PNAConv", "edge_dim", edge_dim)
        if not isinstance(deg, torch.Tensor) or deg.dim() != 1 or deg.dtype is torch.bool:
            raise TypeError(f"PNAConv: deg must be a tensor, the histogram of degrees, got {type(deg).__name__}")
        if (
            not deg.numel()
            or not bool((deg >= 0).all())
            or int(deg.sum()) < 1
            or deg.numel() < 2
            or not int(deg[1:].sum())
        ):
            raise ValueError(f"PNAConv: deg must count nodes by degree, some of them above 0, got {deg.tolist()[:8]}")
        if out_channels % towers or divide_input and in_channels % towers:
            raise ValueError(f"PNAConv: channels {in_channels} and {out_channels} must be divisible by {towers} towers")
        self.in_channels, self.out_channels, self.edge_dim = in_channels, out_channels, edge_dim
        self.towers, self.divide_input = towers, divide_input
        self.aggregators, self.scalers = list(aggregators), list(scalers)
        self.F_in = in_channels // towers if divide_input else in_channels
        self.F_out = out_channels // towers
        self.aggr_module = _Scalers(deg, train_norm)
        if edge_dim is not None:
            self.edge_encoder = Linear(edge_dim, self.F_in)
        self.pre_nns, self.post_nns = ModuleList(), ModuleList()
        for _ in range(towers):
            self.pre_nns.append(_mlp((3 if edge_dim else 2) * self.F_in, self.F_in, pre_layers, act, act_kwargs))
            wide = (len(aggregators) * len(scalers) + 1) * self.F_in
            self.post_nns.append(_mlp(wide, self.F_out, post_layers, act, act_kwargs))
        self.lin = Linear(out_channels, out_channels)
        self.reset_parameters()

    def reset_parameters(self):
        self.aggr_module.reset_parameters()
        if self.edge_dim is not None:
            self.edge_encoder.reset_parameters()
        for network in (*self.pre_nns, *self.post_nns):
            for module in network:
                if hasattr(module, "reset_parameters"):
                    module.reset_parameters()
        self.lin.reset_parameters()

    def forward(self, x, edge_index, edge_attr=None):
        self.matrix(x, self.in_channels, dtype=dtype_of(self.lin))
        nodes = x.size(0)
        edges = self.as_edges(edge_index, nodes, nodes, True)
        if edge_attr is None and not isinstance(edge_index, torch.Tensor) and hasattr(edge_index, "sparse_sizes"):
            edge_attr = edge_index.storage.value()
        if self.divide_input:
            x = x.view(-1, self.towers, self.F_in)
        else:
            x = x.view(-1, 1, self.F_in).expand(-1, self.towers, -1)
        if edge_attr is not None and self.edge_dim is None:
            raise ValueError("PNAConv: edge_attr needs edge_dim, the number of its columns")
        if edge_attr is None and self.edge_dim is not None:
            raise ValueError(f"PNAConv: edge_dim={self.edge_dim} needs edge_attr, got None")
        edge_attr = self.edge_features(edge_attr, edges, self.edge_dim or -1, dtype_of(self.lin))
        edges = edges.unweighted()
        degree = self.aggregate(edges, x.new_ones(nodes, 1), ("add",)).view(-1)
        if edge_attr is None and all(len(network) == 1 for network in self.pre_nns):
            y = self._linear(x, edges, degree)
        else:
            y = self._general(x, edges, edge_attr)
        y = torch.cat([x, self.aggr_module(y, degree, self.scalers)], -1)
        return self.lin(torch.cat([network(y[:, k]) for k, network in enumerate(self.post_nns)], 1))

    def _linear(self, x, edges, degree):
        """Messages W_i x_i + W_j x_j + b: the target's part is the same for all neighbors and goes through every
        aggregator unchanged, or not at all."""
        own, others = [], []
        for k, network in enumerate(self.pre_nns):
            weight, bias = network[0].weight, network[0].bias
            own.append(torch.nn.functional.linear(x[:, k], weight[:, : self.F_in], bias))
            others.append(torch.nn.functional.linear(x[:, k], weight[:, self.F_in :]))
        own = torch.stack(own, 1)
        names = list(
            dict.fromkeys("var" if a in ("var", "std") else "add" if a == "sum" else a for a in self.aggregators)
        )
        parts = self.aggregate(edges, torch.cat(others, 1), names).view(len(x), len(names), self.towers, self.F_in)
        by_name = dict(zip(names, parts.unbind(1)))
        count = degree.view(-1, 1, 1)
        out = []
        for a in self.aggregators:
            if a in ("var", "std"):
                out.append(by_name["var"] if a == "var" else _composed.masked_std(by_name["var"]))
            else:
                part = by_name["add" if a == "sum" else a]
                out.append(part + own * (count if a in ("sum", "add") else (count > 0).to(own.dtype)))
        return torch.cat(out, -1)

    def _general(self, x, edges, edge_attr):
        (source, target), _ = edges.tensors()
        parts = [x[target], x[source]]
        if edge_attr is not None:
            parts.append(self.edge_encoder(edge_attr).view(-1, 1, self.F_in).expand(-1, self.towers, -1))
        h = torch.cat(parts, -1)
        messages = torch.stack([network(h[:, k]) for k, network in enumerate(self.pre_nns)], 1)
        out = []
        for a in self.aggregators:
            part = _composed.reduce(messages, target, edges.num_targets, "var" if a == "std" else a)
            out.append(_composed.masked_std(part) if a == "std" else part)
        return torch.cat(out, -1)

    @staticmethod
    def get_degree_histogram(loader):
        """Histogram of the in-degrees of a loader's graphs, for the argument ``deg``."""
        histogram = torch.zeros(1, dtype=torch.long)
        for data in loader:
            degree = torch.bincount(data.edge_index[1].cpu(), minlength=data.num_nodes)
            counts = torch.bincount(degree, minlength=len(histogram))
            counts[: len(histogram)] += histogram
            histogram = counts
        return histogram

    def __repr__(self):
        return f"PNAConv({self.in_channels}, {self.out_channels}, towers={self.towers}, edge_dim={self.edge_dim})"


def _mlp(width, out, layers, act, act_kwargs):
    modules = [Linear(width, out)]
    for _ in range(layers - 1):
        modules += [_activation(act, act_kwargs), Linear(out, out)]
    return Sequential(*modules)


def _activation(act, act_kwargs):
    """A module, from a name of torch.nn, a class or a function."""
    if act is None:
        return torch.nn.Identity()
    if not isinstance(act, str):
        return act(**(act_kwargs or {})) if isinstance(act, type) else act
    wanted = act.replace("_", "").lower()
    for name, kind in vars(torch.nn.modules.activation).items():
        if name.lower() == wanted and isinstance(kind, type) and issubclass(kind, Module):
            return kind(**(act_kwargs or {}))
    raise ValueError(f"PNAConv: unknown activation {act!r}; expected a name of torch.nn, for instance relu")
