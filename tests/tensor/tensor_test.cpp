// Tensors: sharing, conversions, and what is said about wrong ones.
#include "egc/tensor/tensor.h"

#include <limits>

#include "egc/tensor/gradient.h"
#include "tests/core/expect_error.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::expect_error;
using testing::same_bits;
using testing::tensor_of;

TEST(Tensor, CopiesShareAndClonesDoNot) {
  const Tensor a = tensor_of(2, 3, {1, 2, 3, 4, 5, 6});
  const Tensor shared = a;
  const Tensor clone = a.clone();
  EXPECT_FALSE(a.is_sole_owner());
  EXPECT_TRUE(clone.is_sole_owner());
  a.data<double>()[4] = 7;
  EXPECT_EQ(shared.item(1, 1), 7);
  EXPECT_EQ(clone.item(1, 1), 5);
  EXPECT_EQ(a.reshaped(3, 2).item(2, 0), 7);
  EXPECT_EQ(a.reshaped(3, 2).raw(), a.raw());
}

TEST(Tensor, UndefinedIsNothing) {
  const Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  EXPECT_FALSE(nothing.clone().defined());
  EXPECT_FALSE(nothing.to(DType::kF64).defined());
  EXPECT_EQ(nothing.gradient(), nullptr);
  EXPECT_EQ(describe(nothing), "nothing");
}

TEST(Tensor, ZerosFullFillAndCopy) {
  for (const DType type : {DType::kF32, DType::kF64}) {
    const Tensor t = Tensor::zeros(3, 2, type);
    EXPECT_TRUE(same_bits(t, tensor_of(3, 2, {0, 0, 0, 0, 0, 0}, type)));
    t.fill(-1.5);
    EXPECT_TRUE(same_bits(t, Tensor::full(3, 2, type, -1.5)));
    t.copy_from(tensor_of(3, 2, {1, 2, 3, 4, 5, 6}, DType::kF32));
    EXPECT_TRUE(same_bits(t, tensor_of(3, 2, {1, 2, 3, 4, 5, 6}, type)));
  }
}

TEST(Tensor, ConversionRoundsAndKeepsWhatIsNoNumber) {
  const double huge = std::numeric_limits<double>::max();
  const Tensor wide = tensor_of(1, 4, {0.1, NAN, -INFINITY, huge});
  const Tensor narrow = wide.to(DType::kF32);
  EXPECT_EQ(narrow.data<float>()[0], 0.1F);
  EXPECT_TRUE(std::isnan(narrow.data<float>()[1]));
  EXPECT_EQ(narrow.data<float>()[2], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(narrow.to(DType::kF64).item(0, 0), static_cast<double>(0.1F));
  EXPECT_EQ(wide.to(DType::kF64).raw(), wide.raw());  // no copy
}

TEST(Tensor, MatricesWithoutElements) {
  for (const auto& [rows, columns] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
    const Tensor t = Tensor::zeros(rows, columns, DType::kF32);
    EXPECT_TRUE(t.defined());
    EXPECT_EQ(t.size(), 0);
    EXPECT_EQ(t.clone().rows(), rows);
    EXPECT_EQ(t.to(DType::kF64).columns(), columns);
    t.fill(1);
  }
}

TEST(Tensor, LargeBuffersAreAlignedAndReturned) {
  for (int k = 0; k < 20; ++k) {
    const Tensor t = Tensor::full(1 << 10, 1 << 9, DType::kF32, k);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.raw()) % 64, 0U);
    EXPECT_EQ(t.item(1023, 511), k);
  }
}

TEST(Tensor, BorrowedMemoryIsKeptAliveAndNeverOurs) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<float>> alive = owner;
  Tensor t = Tensor::borrow(owner->data(), 2, 2, owner);
  owner.reset();
  EXPECT_EQ(t.item(1, 0), 3);
  EXPECT_FALSE(t.is_sole_owner());  // though nobody else has it
  EXPECT_FALSE(t.reshaped(1, 4).is_sole_owner());
  EXPECT_TRUE(t.clone().is_sole_owner());
  t = {};
  EXPECT_TRUE(alive.expired());
}

TEST(Tensor, GradientsAreOfOneTensorOnly) {
  const Tensor a = tensor_of(1, 2, {1, 2});
  EXPECT_EQ(a.gradient(), nullptr);
  const Tensor b = a.with_gradient();
  EXPECT_EQ(b.raw(), a.raw());
  ASSERT_NE(b.gradient(), nullptr);
  const Tensor copy = b;
  EXPECT_EQ(copy.gradient(), b.gradient());
  EXPECT_NE(b.with_gradient().gradient(), b.gradient());
  EXPECT_EQ(b.detached().gradient(), nullptr);
  EXPECT_EQ(b.reshaped(2, 1).gradient(), nullptr);
  EXPECT_EQ(b.clone().gradient(), nullptr);
}

TEST(Tensor, WrongOnesAreDescribed) {
  const Tensor t = Tensor::zeros(3, 4, DType::kF32);
  const auto refuses = [](std::initializer_list<std::string> parts, auto&& f) {
    expect_error(ErrorKind::kUsage, parts, f);
  };
  EXPECT_EQ(describe(t), "[3, 4] float32");
  refuses({"float64", "float32"}, [&] { t.data<double>(); });
  refuses({"[3, 0]", "[3, 4] float32"}, [&] { t.item(3, 0); });
  refuses({"[3, 4] float32", "[5, 2]"}, [&] { t.reshaped(5, 2); });
  refuses({"[2, 4] float64", "[3, 4] float32"},
          [&] { t.copy_from(Tensor::zeros(2, 4, DType::kF64)); });
  refuses({"nothing"}, [&] { t.copy_from({}); });
  refuses({"float32 or float64", "int64"}, [] { Tensor::empty(1, 1, DType::kI64); });
  refuses({"[-1, 2]"}, [] { Tensor::empty(-1, 2, DType::kF32); });
  refuses({"cannot be"}, [] { Tensor::empty(int64_t{1} << 40, int64_t{1} << 40, DType::kF32); });
  refuses({"op: it must be [N, 5], got [3, 4] float32"},
          [&] { expect_matrix("op", "it", t, kAnySize, 5); });
  refuses({"op: it must be [3, 4] float64, got [3, 4] float32"},
          [&] { expect_matrix("op", "it", t, 3, 4, DType::kF64); });
  refuses({"op: it must be [N, N], got nothing"}, [&] { expect_matrix("op", "it", Tensor()); });
}

}  // namespace
}  // namespace egc
