// A penalty that lets a network do without some of its aggregators.
#pragma once

#include "egc/models/network.h"

namespace egc::train {

// Group lasso: adds the gradient of `strength` times the sum over aggregators of the norm of all
// weights that combine them, over all EGC layers together, so that layers agree on what to drop.
void add_aggregator_penalty(models::Network& network, double strength);

}  // namespace egc::train
