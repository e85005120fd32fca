// The tape and gradients, with operators made up here: what is recorded, in which order gradients
// come, who shares whose memory.
#include "egc/tensor/tape.h"

#include "tests/core/expect_error.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::close;
using testing::expect_error;
using testing::tensor_of;

Tensor ones(int64_t rows, int64_t columns) { return Tensor::full(rows, columns, DType::kF64, 1); }

Tensor scaled(const Tensor& x, double factor) {
  const Tensor out = Tensor::empty(x.rows(), x.columns(), x.dtype());
  for (int64_t k = 0; k < x.size(); ++k) out.data<double>()[k] = factor * x.data<double>()[k];
  return out;
}

// y = factor * x.
Tensor scale(Tape& tape, const Tensor& x, double factor) {
  Tensor out = scaled(x, factor);
  if (tape.wants({&x}))
    tape.record(out, {x}, [x, factor](const Tensor& g) { x.gradient()->add(scaled(g, factor)); });
  return out;
}

// y = a + b, with gradients that are the output's own buffer.
Tensor plus(Tape& tape, const Tensor& a, const Tensor& b) {
  Gradient sum;
  sum.add(a);
  sum.add(b);
  Tensor out = sum.take();
  if (tape.wants({&a, &b}))
    tape.record(out, {a, b}, [a, b](const Tensor& g) {
      for (const Tensor* t : {&a, &b})
        if (t->gradient() != nullptr) t->gradient()->add(g);
    });
  return out;
}

// y = x, writing to a sink.
Tensor through_sink(Tape& tape, const Tensor& x) {
  Tensor out = x.clone();
  if (tape.wants({&x}))
    tape.record(out, {x}, [x](const Tensor& g) {
      const auto sink = x.gradient()->sink(x.rows(), x.columns(), x.dtype());
      for (int64_t k = 0; k < g.size(); ++k) {
        double& to = sink.to.data<double>()[k];
        to = (sink.accumulate ? to : 0) + g.data<double>()[k];
      }
    });
  return out;
}

TEST(Gradient, TheFirstIsTakenOverAndTheNextAreAdded) {
  Gradient g;
  EXPECT_FALSE(g.value().defined());
  const void* memory = nullptr;
  {
    const Tensor first = tensor_of(1, 2, {1, 2});
    memory = first.raw();
    g.add(first);
  }
  EXPECT_EQ(g.value().raw(), memory);
  g.add(tensor_of(1, 2, {10, 20}));
  EXPECT_EQ(g.value().raw(), memory);  // added in place: nobody else had it
  EXPECT_TRUE(close(g.take(), tensor_of(1, 2, {11, 22}), 0));
  EXPECT_FALSE(g.value().defined());
}

TEST(Gradient, WhatSomebodyElseHoldsDoesNotChange) {
  const Tensor held = tensor_of(1, 2, {1, 2});
  Gradient g;
  g.add(held);
  g.add(held);
  EXPECT_TRUE(close(held, tensor_of(1, 2, {1, 2}), 0));
  EXPECT_TRUE(close(g.value(), tensor_of(1, 2, {2, 4}), 0));

  Gradient h;
  h.add(held);
  const auto sink = h.sink(1, 2, DType::kF64);
  EXPECT_TRUE(sink.accumulate);
  EXPECT_NE(sink.to.raw(), held.raw());
  EXPECT_TRUE(close(sink.to, held, 0));
}

TEST(Gradient, BorrowedMemoryIsNotWrittenTo) {
  const double values[] = {1, 2};
  Gradient g;
  g.add(Tensor::borrow(values, 1, 2, std::make_shared<int>(0)));
  g.add(tensor_of(1, 2, {1, 1}));
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(close(g.value(), tensor_of(1, 2, {2, 3}), 0));
}

TEST(Gradient, TheFirstSinkWritesAndTheNextAdds) {
  Gradient g;
  const void* memory = nullptr;
  {
    const auto first = g.sink(2, 1, DType::kF32);
    EXPECT_FALSE(first.accumulate);
    first.to.fill(3);
    memory = first.to.raw();
  }
  const auto second = g.sink(2, 1, DType::kF32);
  EXPECT_TRUE(second.accumulate);
  EXPECT_EQ(second.to.raw(), memory);
  expect_error(ErrorKind::kUsage, {"[3, 1] float32", "[2, 1] float32"},
               [&] { g.sink(3, 1, DType::kF32); });
  expect_error(ErrorKind::kUsage, {"[2, 1] float32", "[2, 1] float64"},
               [&] { g.add(Tensor::zeros(2, 1, DType::kF64)); });
}

TEST(Tape, InferenceRecordsNothing) {
  Tape tape = Tape::inference();
  EXPECT_FALSE(tape.is_recording());
  EXPECT_FALSE(tape.is_training());
  const Tensor x = ones(1, 1).with_gradient();
  EXPECT_FALSE(tape.wants({&x}));
  const Tensor y = scale(tape, x, 2);
  EXPECT_EQ(y.gradient(), nullptr);
  expect_error(ErrorKind::kUsage, {"depends on nothing"}, [&] { tape.backward(y, ones(1, 1)); });
  Tensor z = y;
  expect_error(ErrorKind::kUsage, {"inference"}, [&] { tape.record(z, {x}, {}); });
}

TEST(Tape, DifferentiationRecordsButDoesNotTrain) {
  const Tape tape = Tape::differentiation();
  EXPECT_TRUE(tape.is_recording());
  EXPECT_FALSE(tape.is_training());
  EXPECT_TRUE(Tape::training(1).is_training());
}

TEST(Tape, ConstantsAreNotRecorded) {
  Tape tape = Tape::training(0);
  const Tensor constant = ones(1, 1);
  const Tensor x = ones(1, 1).with_gradient();
  EXPECT_FALSE(tape.wants({&constant}));
  EXPECT_TRUE(tape.wants({&constant, &x}));
  EXPECT_EQ(scale(tape, constant, 2).gradient(), nullptr);
  EXPECT_NE(plus(tape, constant, x).gradient(), nullptr);
}

TEST(Tape, ChainsBranchesAndSharedInputs) {
  // z = 2x + (2x * 3 + x) with x used twice and 2x used twice: dz/dx = 2 + 6 + 1.
  const Tensor x = tensor_of(1, 2, {1, -1}).with_gradient();
  Tape tape = Tape::training(0);
  const Tensor y = scale(tape, x, 2);
  const Tensor z = plus(tape, y, plus(tape, scale(tape, y, 3), x));
  const Tensor upstream = tensor_of(1, 2, {1, 10});
  tape.backward(z, upstream);
  EXPECT_TRUE(close(x.gradient()->value(), tensor_of(1, 2, {9, 90}), 0));
  EXPECT_TRUE(close(upstream, tensor_of(1, 2, {1, 10}), 0));
  EXPECT_FALSE(y.gradient()->value().defined());  // inner ones are gone
}

TEST(Tape, OneTensorInBothPlaces) {
  const Tensor x = ones(1, 1).with_gradient();
  Tape tape = Tape::training(0);
  tape.backward(plus(tape, x, x), ones(1, 1));
  EXPECT_EQ(x.gradient()->value().item(0, 0), 2);
}

// plus() gives both inputs the same buffer; the sinks behind them must not write to each other's.
TEST(Tape, SharedBuffersOfGradientsAreCopiedOnWrite) {
  const Tensor a = ones(1, 2).with_gradient();
  const Tensor b = ones(1, 2).with_gradient();
  Tape tape = Tape::training(0);
  const Tensor early = through_sink(tape, a);  // comes last in the backward pass
  const Tensor z = plus(tape, early, plus(tape, a, b));
  const Tensor upstream = ones(1, 2);
  tape.backward(z, upstream);
  EXPECT_TRUE(close(a.gradient()->value(), tensor_of(1, 2, {2, 2}), 0));
  EXPECT_TRUE(close(b.gradient()->value(), tensor_of(1, 2, {1, 1}), 0));
  EXPECT_TRUE(close(upstream, ones(1, 2), 0));
}

TEST(Tape, GradientsOfTwoPassesAreAddedUp) {
  const Tensor x = ones(1, 1).with_gradient();
  for (const double factor : {2.0, 5.0}) {
    Tape tape = Tape::training(0);
    tape.backward(scale(tape, x, factor), ones(1, 1));
  }
  EXPECT_EQ(x.gradient()->value().item(0, 0), 7);
}

TEST(Tape, UnusedOutputsAreNotTakenBackwards) {
  const Tensor x = ones(1, 1).with_gradient();
  Tape tape = Tape::training(0);
  const Tensor y = scale(tape, x, 2);
  Tensor unused = scaled(x, 1);
  tape.record(unused, {x}, [](const Tensor&) { FAIL() << "nothing depends on it"; });
  scale(tape, unused, 3);
  tape.backward(y, ones(1, 1));
  EXPECT_EQ(x.gradient()->value().item(0, 0), 2);
}

TEST(Tape, BackwardHappensOnce) {
  const Tensor x = ones(1, 1).with_gradient();
  Tape tape = Tape::training(0);
  const Tensor y = scale(tape, x, 2);
  tape.backward(y, ones(1, 1));
  expect_error(ErrorKind::kUsage, {"backward"}, [&] { tape.backward(y, ones(1, 1)); });
}

TEST(Tape, TheGradientOfTheOutputMustFit) {
  const Tensor x = ones(2, 3).with_gradient();
  Tape tape = Tape::training(0);
  const Tensor y = scale(tape, x, 2);
  expect_error(ErrorKind::kUsage, {"backward", "[2, 3] float64", "[3, 2] float64"},
               [&] { tape.backward(y, ones(3, 2)); });
  expect_error(ErrorKind::kUsage, {"[2, 3] float64", "nothing"}, [&] { tape.backward(y, {}); });
  tape.backward(y, ones(2, 3));  // as if nothing had been
  EXPECT_EQ(x.gradient()->value().item(1, 2), 2);
}

TEST(Tape, CompletionComesAfterTheLastAdditionAndInOrder) {
  const Tensor first = ones(1, 1).with_gradient();
  const Tensor second = ones(1, 1).with_gradient();
  const Tensor untouched = ones(1, 1).with_gradient();
  std::vector<std::pair<char, double>> order;
  first.gradient()->on_complete = [&] {
    order.emplace_back('1', first.gradient()->value().item(0, 0));
  };
  second.gradient()->on_complete = [&] {
    order.emplace_back('2', second.gradient()->value().item(0, 0));
  };
  untouched.gradient()->on_complete = [&] { order.emplace_back('u', 0); };
  for (int pass = 1; pass <= 2; ++pass) {
    order.clear();
    Tape tape = Tape::training(0);
    // `first` is used at the beginning and at the end, so it is complete last.
    const Tensor y = scale(tape, first, 2);
    const Tensor z = plus(tape, scale(tape, plus(tape, y, second), 3), first);
    scale(tape, untouched, 4);
    tape.backward(z, ones(1, 1));
    EXPECT_EQ(order, (std::vector<std::pair<char, double>>{{'2', 3.0 * pass}, {'1', 7.0 * pass}}));
  }
}

TEST(Tape, AnAbandonedPassLeavesNoTrace) {
  const Tensor x = ones(1, 1).with_gradient();
  int completed = 0;
  x.gradient()->on_complete = [&] { ++completed; };
  {
    Tape tape = Tape::training(0);
    scale(tape, scale(tape, x, 2), 2);
  }
  {
    Tape moved = Tape::training(0);
    scale(moved, x, 2);
    const Tape owner = std::move(moved);
  }
  Tape tape = Tape::training(0);
  tape.backward(scale(tape, x, 2), ones(1, 1));
  EXPECT_EQ(completed, 1);
}

TEST(Tape, AFailingOperatorLeavesNoTrace) {
  const Tensor x = ones(1, 1).with_gradient();
  int completed = 0;
  x.gradient()->on_complete = [&] { ++completed; };
  {
    Tape tape = Tape::training(0);
    const Tensor y = scale(tape, x, 2);
    Tensor z = scaled(y, 1);
    tape.record(z, {x, y}, [](const Tensor&) { fail(ErrorKind::kSystem, "lost"); });
    expect_error(ErrorKind::kSystem, {"lost"}, [&] { tape.backward(z, ones(1, 1)); });
  }
  Tape tape = Tape::training(0);
  tape.backward(scale(tape, x, 2), ones(1, 1));
  EXPECT_EQ(completed, 1);
  EXPECT_EQ(x.gradient()->value().item(0, 0), 2);
}

TEST(Tape, SeedsAreAFunctionOfThePassAndThePlace) {
  Tape a = Tape::training(5);
  Tape b = Tape::training(5);
  Tape c = Tape::training(6);
  const uint64_t first = a.next_seed();
  EXPECT_EQ(first, b.next_seed());
  EXPECT_NE(first, c.next_seed());
  EXPECT_NE(first, a.next_seed());
}

// A gradient with memory of its own is written there, by all three ways to contribute.
TEST(Tape, GradientsMayHaveTheCallersMemory) {
  const Tensor memory = Tensor::full(2, 3, DType::kF64, 7);
  const Tensor x = Tensor::full(2, 3, DType::kF64, 1).with_gradient_in(memory);
  x.gradient()->add(Tensor::full(2, 3, DType::kF64, 2));
  EXPECT_EQ(memory.item(1, 2), 2);
  x.gradient()->add(Tensor::full(2, 3, DType::kF64, 3));
  EXPECT_EQ(memory.item(1, 2), 5);
  const auto sink = x.gradient()->sink(2, 3, DType::kF64);
  EXPECT_TRUE(sink.accumulate);
  EXPECT_EQ(sink.to.raw(), memory.raw());
  const Tensor y = Tensor::full(2, 3, DType::kF64, 1).with_gradient_in(memory);
  const auto first = y.gradient()->sink(2, 3, DType::kF64);
  EXPECT_FALSE(first.accumulate);
  EXPECT_EQ(first.to.raw(), memory.raw());
  EXPECT_THROW(Tensor::full(2, 3, DType::kF32, 1).with_gradient_in(memory), Error);
}

}  // namespace
}  // namespace egc
