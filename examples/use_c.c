/* One EGC layer, forward and backward, and the predictions of a shipped model. */
#include <egc/egc.h>

#include <stdio.h>
#include <stdlib.h>

static void check(egc_status status) {
  if (status == EGC_OK) return;
  fprintf(stderr, "example: %s\n", egc_last_error());
  exit((int)status);
}

static float* matrix(int64_t count, float scale) { /* values between -scale and scale */
  float* out = malloc((size_t)(count > 0 ? count : 1) * sizeof *out);
  if (out == NULL) exit(EGC_SYSTEM_ERROR);
  for (int64_t k = 0; k < count; ++k) out[k] = scale * (2.0f * (float)rand() / (float)RAND_MAX - 1.0f);
  return out;
}

static void run_layer(void) {
  enum { kNodes = 4, kEdges = 6, kIn = 3, kHeads = 2, kBases = 2, kWidth = 4, kAggregators = 2 };
  enum { kOut = kHeads * kWidth, kBasesOut = kBases * kWidth, kWeights = kHeads * kAggregators * kBases };
  const int64_t source[kEdges] = {0, 1, 1, 2, 2, 3};
  const int64_t target[kEdges] = {1, 0, 2, 1, 3, 2};
  egc_graph* graph = NULL;
  check(egc_graph_from_edges(kNodes, EGC_SAME_NODES, kEdges, source, target, NULL, &graph));

  egc_layer layer = {0};
  layer.dtype = EGC_FLOAT32;
  layer.num_aggregators = kAggregators;
  layer.aggregators[0] = EGC_SYMNORM;
  layer.aggregators[1] = EGC_MAX;
  layer.self_loops = EGC_LOOPS_ALL;
  layer.activation = EGC_IDENTITY;
  layer.in_channels = kIn;
  layer.heads = kHeads;
  layer.bases = kBases;
  layer.width = kWidth;

  float* x = matrix(kNodes * kIn, 1.0f);
  float* bases_weight = matrix(kBasesOut * kIn, 0.5f);
  float* comb_weight = matrix(kWeights * kIn, 0.5f);
  float* comb_bias = matrix(kWeights, 0.5f);
  float* bias = matrix(kOut, 0.0f);
  float* y = matrix(kNodes * kOut, 0.0f);
  float* saved = matrix(egc_conv_saved_size(graph, &layer), 0.0f);
  check(egc_conv_forward(graph, &layer, x, NULL, bases_weight, comb_weight, comb_bias, bias, y, saved));

  float* grad_y = matrix(kNodes * kOut, 0.0f); /* of the loss, here the sum of y */
  for (int k = 0; k < kNodes * kOut; ++k) grad_y[k] = 1.0f;
  float* grad_x = matrix(kNodes * kIn, 0.0f);
  float* grad_bases_weight = matrix(kBasesOut * kIn, 0.0f);
  float* grad_bias = matrix(kOut, 0.0f);
  check(egc_conv_backward(graph, &layer, x, NULL, bases_weight, comb_weight, grad_y, saved, grad_x, NULL,
                          grad_bases_weight, NULL, NULL, grad_bias));
  printf("y[0] = %.4f, its gradient by the bias summed over %d nodes: %.1f\n", y[0], kNodes, grad_bias[0]);

  float* all[] = {x,     bases_weight, comb_weight, comb_bias,         bias,     y,
                  saved, grad_y,       grad_x,      grad_bases_weight, grad_bias};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) free(all[k]);
  egc_graph_free(graph);
}

static void run_model(void) {
  egc_model* model = NULL;
  check(egc_model_load("zinc-egc-m", 0, &model)); /* or a run, or a file */

  /* Two molecules of three atoms. "add_inverse_edge": the network adds the other direction of every bond. */
  const int64_t first_node[] = {0, 3, 6};
  const int64_t first_edge[] = {0, 2, 4};
  const int32_t edges[] = {0, 1, 1, 2, 0, 1, 1, 2}; /* source and target, ids within the graph */
  const int32_t atoms[] = {0, 0, 2, 0, 1, 0};
  const egc_array arrays[] = {
      {"first_node", EGC_INT64, 1, {3, 1}, first_node},
      {"first_edge", EGC_INT64, 1, {3, 1}, first_edge},
      {"edges", EGC_INT32, 2, {4, 2}, edges},
      {"node_features.categories", EGC_INT32, 2, {6, 1}, atoms},
  };
  const char* info =
      "{\"name\": \"molecules\", \"task\": \"graph-regression\", \"node_features\": \"categorical\", "
      "\"categories\": [28], \"add_inverse_edge\": true}";
  egc_dataset* dataset = NULL;
  check(egc_dataset_from_arrays(info, (int64_t)(sizeof arrays / sizeof *arrays), arrays, &dataset));

  egc_predictions* predictions = NULL;
  check(egc_model_predict(model, dataset, 0, &predictions));
  int64_t rows = 0, columns = 0;
  const float* values = egc_predictions_values(predictions, &rows, &columns);
  for (int64_t row = 0; row < rows; ++row) printf("molecule %d: %.4f\n", (int)row, values[row * columns]);

  egc_predictions_free(predictions);
  egc_dataset_free(dataset);
  egc_model_free(model);
}

int main(void) {
  printf("egc %s, %d threads\n", egc_version(), egc_num_threads());
  run_layer();
  run_model();
  return 0;
}
