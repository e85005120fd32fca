// Arrays of files: types, shapes, reordering.
#include "egc/tensor/nd_array.h"

#include <numeric>

#include "egc/core/half.h"
#include "tests/core/expect_error.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::expect_error;
using testing::tensor_of;

// 0, 1, 2, ...
NdArray counted(std::vector<int64_t> shape) {
  std::vector<int64_t> values(
      std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
  std::iota(values.begin(), values.end(), int64_t{0});
  return {std::move(shape), std::span<const int64_t>(values)};
}

std::vector<int64_t> values_of(const NdArray& a) {
  const auto values = a.values<int64_t>();
  return {values.begin(), values.end()};
}

NdArray of_doubles(std::vector<double> values) {
  return {{std::ssize(values)}, std::span<const double>(values)};
}

TEST(NdArray, ShapesAndSizes) {
  const NdArray a = counted({2, 3, 4});
  EXPECT_EQ(a.dim(), 3);
  EXPECT_EQ(a.size(0), 2);
  EXPECT_EQ(a.size(-1), 4);
  EXPECT_EQ(a.numel(), 24);
  EXPECT_EQ(a.num_bytes(), 192U);
  EXPECT_EQ(NdArray().numel(), 0);
  EXPECT_EQ(counted({}).numel(), 1);  // a single value
  EXPECT_EQ(counted({}).item(), 0);
  EXPECT_TRUE(NdArray().equals(NdArray()));
}

TEST(NdArray, RoundTripThroughAView) {
  const NdArray a = counted({2, 2});
  const NdArray b(a.view());
  EXPECT_TRUE(a.equals(b));
  EXPECT_NE(a.values<int64_t>().data(), b.values<int64_t>().data());
  EXPECT_FALSE(a.equals(a.reshaped({4})));
  EXPECT_FALSE(a.equals(a.to(DType::kI32)));
}

TEST(NdArray, TypesKeepWhatTheyCanHold) {
  const NdArray a = of_doubles({0, 1, -2, 0.5, 1e30, NAN});
  const NdArray f = a.to(DType::kF32);
  EXPECT_EQ(f.values<float>()[3], 0.5F);
  EXPECT_EQ(f.values<float>()[4], 1e30F);
  EXPECT_TRUE(std::isnan(f.values<float>()[5]));
  for (const DType half : {DType::kF16, DType::kBF16}) {
    const auto back = a.rows(0, 4).to(half).to(DType::kF64);
    EXPECT_TRUE(back.equals(a.rows(0, 4))) << spelled_name_of(half);
  }
  // More digits than a double has.
  const std::vector<int64_t> large = {(int64_t{1} << 62) + 1, -5};
  const NdArray whole({2}, std::span<const int64_t>(large));
  EXPECT_TRUE(whole.to(DType::kI64).equals(whole));
  EXPECT_EQ(whole.rows(1, 1).to(DType::kI8).to(DType::kI64).item(), -5);
  EXPECT_EQ(of_doubles({0, 3}).to(DType::kBool).to(DType::kI64).values<int64_t>()[1], 1);
}

TEST(NdArray, ReshapingAndReordering) {
  const NdArray a = counted({2, 3});
  EXPECT_EQ(a.reshaped({3, -1}).shape(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(values_of(a.transposed()), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(a.transposed().shape(), (std::vector<int64_t>{3, 2}));
  const NdArray swapped = counted({2, 2, 3, 2}).swapped_inner();
  EXPECT_EQ(swapped.shape(), (std::vector<int64_t>{2, 3, 2, 2}));
  EXPECT_EQ(values_of(swapped.rows(0, 1)),
            (std::vector<int64_t>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
  EXPECT_TRUE(swapped.swapped_inner().equals(counted({2, 2, 3, 2})));
  EXPECT_EQ(values_of(a.rows(1, 1)), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_TRUE(NdArray::concat({a.rows(0, 1), a.rows(1, 0), a.rows(1, 1)}).equals(a));
  EXPECT_EQ(NdArray::stack({a, a}).shape(), (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(NdArray::stack({counted({}), counted({})}).shape(), (std::vector<int64_t>{2}));
}

TEST(NdArray, TensorsAreMatricesOfTheLastDimension) {
  const Tensor t = counted({2, 3, 4}).to_tensor(DType::kF32);
  EXPECT_EQ(describe(t), "[6, 4] float32");
  EXPECT_EQ(t.item(5, 3), 23);
  EXPECT_EQ(describe(counted({5}).to_tensor(DType::kF64)), "[1, 5] float64");
  EXPECT_EQ(describe(counted({}).to_tensor(DType::kF64)), "[1, 1] float64");
  EXPECT_EQ(describe(counted({0, 4}).to_tensor(DType::kF64)), "[0, 4] float64");
  EXPECT_EQ(describe(counted({3, 0}).to_tensor(DType::kF64)), "[3, 0] float64");
  const NdArray back({2, 1, 2}, tensor_of(2, 2, {1, 2, 3, 4}));
  EXPECT_EQ(back.shape(), (std::vector<int64_t>{2, 1, 2}));
  EXPECT_EQ(back.values<double>()[3], 4);
}

TEST(NdArray, WrongUseIsDescribed) {
  const NdArray a = counted({2, 3});
  const auto refuses = [](std::initializer_list<std::string> parts, auto&& f) {
    expect_error(ErrorKind::kUsage, parts, f);
  };
  refuses({"int64", "float32"}, [&] { a.values<float>(); });
  refuses({"[2, 3]", "[4, 2]"}, [&] { a.reshaped({4, 2}); });
  refuses({"[2, 3]", "[4, "}, [&] { a.reshaped({4, -1}); });
  refuses({"[2, 3]", "-3"}, [&] { a.size(-3); });
  refuses({"one value", "[2, 3]"}, [&] { a.item(); });
  refuses({"[2, 3]", "1 to 3"}, [&] { a.rows(1, 2); });
  refuses({"[2, 3]", "[2, 2]"}, [&] { NdArray::concat({a, counted({2, 2})}); });
  refuses({"matrix", "[3]"}, [&] { counted({3}).transposed(); });
  refuses({"three dimensions"}, [&] { a.swapped_inner(); });
  refuses({"2 values", "[3]"}, [] {
    const std::vector<double> two = {1, 2};
    NdArray({3}, std::span<const double>(two));
  });
  refuses({"[2, 2] float64", "[5]"}, [] { NdArray({5}, Tensor::zeros(2, 2, DType::kF64)); });
  refuses({"3 bytes"}, [] {
    const std::byte bytes[3] = {};
    NdArray(TensorView{DType::kF32, {1}, bytes});
  });
}

}  // namespace
}  // namespace egc
