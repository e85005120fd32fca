// The attention operators beyond what the layers exercise.
#include "egc/ops/attention.h"

#include <gtest/gtest.h>

#include "tests/kernels/random_problem.h"
#include "tests/ops/tensors.h"

namespace egc {
namespace {

TEST(Attention, InputsNeedNotBeContiguous) {
  const Csr graph = testing::awkward_graph();
  const ops::AttentionShape shape{2};
  const at::Tensor values = at::randn({6, 14}).t();
  const at::Tensor scores = at::randn({4, 14}).t();
  const at::Tensor bias = at::randn({6, 2}).select(1, 0);
  const at::Tensor strided = ops::gat_attention(graph, shape, values, scores, bias);
  const at::Tensor plain =
      ops::gat_attention(graph, shape, values.contiguous(), scores.contiguous(), bias.contiguous());
  EXPECT_TRUE(at::equal(strided, plain));
  const at::Tensor query = at::randn({6, 14}).t();
  const at::Tensor attention = at::randn({6, 2}).select(1, 1);
  EXPECT_TRUE(at::equal(ops::gatv2_attention(graph, shape, values, query, attention, bias),
                        ops::gatv2_attention(graph, shape, values.contiguous(), query.contiguous(),
                                             attention.contiguous(), bias.contiguous())));
}

TEST(Attention, AnExpandedBiasIsReadOnce) {
  const Csr graph = testing::awkward_graph();
  const at::Tensor values = at::randn({14, 6}).requires_grad_();
  const at::Tensor scores = at::randn({14, 4});
  const at::Tensor y =
      ops::gat_attention(graph, {2}, values, scores, at::full({1}, 0.5).expand({6}));
  const at::Tensor wanted = ops::gat_attention(graph, {2}, values, scores, at::full({6}, 0.5));
  EXPECT_TRUE(at::equal(y, wanted));
}

}  // namespace
}  // namespace egc
