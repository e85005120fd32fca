// Compiled once for the layers, networks and training: LibTorch's headers cost seconds each.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/init.h>
#include <torch/nn/pimpl.h>
