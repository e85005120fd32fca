"""The operators composed of torch calls: for other devices, and for what the kernels do not compute.

A tensor of size edges times columns is made, as in other libraries; every torch derivative works.
"""

import math

import torch

STD_EPSILON = 1e-5


def with_loops(index, weight, num_nodes, fill=1.0, keep_size=False):
    """A loop for every node; it replaces those of the graph, whose weight it keeps. keep_size: those stay with
    weight 0, for sums in code that is compiled, where sizes must not depend on values."""
    is_loop = index[0] == index[1]
    loops = torch.arange(num_nodes, device=index.device)
    loops = torch.stack([loops, loops])
    if weight is None:
        return torch.cat([index[:, ~is_loop], loops], 1), None
    of_loops = weight.new_full((num_nodes,), fill)
    if keep_size:
        last = torch.where(is_loop, index[0], num_nodes)  # others beyond the end
        of_loops = torch.cat([of_loops, of_loops[:1]]).index_put((last,), weight)[:num_nodes]
        return torch.cat([index, loops], 1), torch.cat([torch.where(is_loop, 0, weight), of_loops])
    of_loops = of_loops.index_put((index[0][is_loop],), weight[is_loop])
    return torch.cat([index[:, ~is_loop], loops], 1), torch.cat([weight[~is_loop], of_loops])


def symmetric_norm(index, weight, num_targets, dtype, num_sources=None):
    """1/sqrt(deg(source) deg(target)) times the weight, of every edge. num_sources: of a graph between two sets of
    nodes, where the degree of a source is its out-degree."""
    weight = torch.ones(index.size(1), dtype=dtype, device=index.device) if weight is None else weight

    def scale(ends, nodes):
        scale = weight.new_zeros(nodes).index_add(0, ends, weight).pow(-0.5)
        return scale.masked_fill(scale == float("inf"), 0)

    of_targets = scale(index[1], num_targets)
    of_sources = of_targets if num_sources is None else scale(index[0], num_sources)
    return of_sources[index[0]] * weight * of_targets[index[1]]


def reduce(messages, target, num_targets, name):
    """One aggregator over messages [E, ...] to rows [num_targets, ...]; rows without messages are 0."""
    shape = (num_targets, *messages.shape[1:])
    if name in ("add", "sum"):
        return messages.new_zeros(shape).index_add(0, target, messages)
    if name == "mean":
        count = messages.new_zeros(num_targets).index_add(0, target, torch.ones_like(target, dtype=messages.dtype))
        return reduce(messages, target, num_targets, "add") / count.clamp(min=1).view(-1, *[1] * (messages.dim() - 1))
    if name in ("var", "std"):
        mean = reduce(messages, target, num_targets, "mean")
        var = reduce((messages - mean[target]) ** 2, target, num_targets, "mean")
        return var if name == "var" else (var + STD_EPSILON).sqrt()
    kind = {"max": "amax", "min": "amin", "mul": "prod"}[name]
    index = target.view(-1, *[1] * (messages.dim() - 1)).expand_as(messages)
    start = messages.new_ones(shape) if name == "mul" else messages.new_zeros(shape)
    return start.scatter_reduce(0, index, messages, kind, include_self=name == "mul")


def masked_std(var):
    """The deviation of PyTorch Geometric's aggregations: 0 where there is hardly any variance."""
    std = var.clamp(min=STD_EPSILON).sqrt()
    return std.masked_fill(std <= math.sqrt(STD_EPSILON), 0.0)


def aggregate(edges, x, names, self_loops="none"):
    """[num_targets, A * F]. edges: _edges.Edges. self_loops: all, symnorm, none."""
    (index, weight), num_targets = edges.tensors(), edges.num_targets
    out = []
    for name in names:
        own, own_weight = index, weight
        if self_loops == "all" or self_loops == "symnorm" and name == "symnorm":
            own, own_weight = with_loops(index, weight, num_targets)
        if name == "symnorm":
            num_sources = None if edges.same_nodes else x.size(0)
            own_weight, name = symmetric_norm(own, own_weight, num_targets, x.dtype, num_sources), "add"
        messages = x[own[0]]
        if own_weight is not None:
            messages = messages * own_weight.to(x.dtype).view(-1, *[1] * (x.dim() - 1))
        out.append(reduce(messages, own[1], num_targets, name))
    return out[0] if len(out) == 1 else torch.cat(out, -1)


def combine(edges, bases, weights, names, self_loops, heads, num_bases):
    """The second half of EGC. weights: [T, H * A * B], activated."""
    parts = aggregate(edges, bases, names, self_loops).view(len(weights), len(names) * num_bases, -1)
    return torch.bmm(weights.view(len(weights), heads, -1), parts).reshape(len(weights), -1)


def activated(weights, activation, heads):
    """EGC's combination weights [N, H * A * B] after their activation."""
    if activation == "softmax":
        return weights.view(len(weights), heads, -1).softmax(-1).view_as(weights)
    if activation == "sigmoid":
        return weights.sigmoid()
    return torch.nn.functional.hardtanh(weights) if activation == "hardtanh" else weights


def softmax(scores, target, num_targets):
    """Over the edges of each target. scores: [E, H]."""
    index = target.view(-1, 1).expand_as(scores)
    most = scores.new_full((num_targets, scores.size(1)), -torch.inf).scatter_reduce(0, index, scores.detach(), "amax")
    exps = (scores - most[target]).exp()
    return exps / (reduce(exps, target, num_targets, "add")[target] + 1e-16)
