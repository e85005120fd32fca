/* The C interface of egc: graphs, layers forward and backward, models, datasets, training.
 *
 * It is plain C99 and stable: functions are added, never changed. All names begin with egc_ or
 * EGC_.
 *
 * Every function that can fail returns an egc_status; egc_last_error() has the sentence. What a
 * function makes is freed by the function of the same type: egc_graph_free() and so on; they accept
 * NULL. All other memory belongs to the caller and must stay valid during the call only.
 * Objects may be used by several threads at a time, but for egc_model.
 * C++ users include egc/egc.hpp, which has much more. */
#ifndef EGC_EGC_H_
#define EGC_EGC_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define EGC_API __attribute__((visibility("default")))
#else
#define EGC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* NOLINTBEGIN(readability-identifier-naming,modernize-*): the names and types of C */

/* Version of this interface: it rises when something is added. */
#define EGC_API_VERSION 2
/* The value of EGC_API_VERSION that the library was built with. */
EGC_API int egc_api_version(void);
/* Version of egc: "0.1.0", followed by +revision where it is known. */
EGC_API const char* egc_version(void);

/* Outcome of a call. The values are the program's exit codes. */
typedef enum egc_status {
  EGC_OK = 0,
  EGC_BAD_ARGUMENT = 2, /* an argument is wrong */
  EGC_BAD_DATA = 3,     /* a graph or dataset is invalid */
  EGC_BAD_MODEL = 4,    /* a model file is invalid or does not fit */
  EGC_SYSTEM_ERROR = 5, /* memory, disk, missing files */
  EGC_NOT_VERIFIED = 6, /* a NaN loss, data that differ from the published ones */
  EGC_INTERRUPTED = 130 /* a callback asked to stop */
} egc_status;
/* What went wrong in this thread's last call that failed: one sentence. */
EGC_API const char* egc_last_error(void);

/* Element types of matrices and arrays. Layers take the first two. */
typedef enum egc_dtype {
  EGC_FLOAT32 = 0,
  EGC_FLOAT64 = 1,
  EGC_INT32 = 2,
  EGC_INT64 = 3,
  EGC_UINT8 = 4
} egc_dtype;

/* ---- Messages and threads ---- */

/* Receives what the library has to say. level: 0 debug, 1 info, 2 warning. Called from any thread.
 */
typedef void (*egc_log_function)(int level, const char* message, void* user);
/* Sets the receiver; NULL drops all messages, which is the default. */
EGC_API void egc_set_log(egc_log_function log, void* user);

/* Number of threads of the calling thread's next call. Results do not depend on it, to the bit. */
EGC_API int egc_num_threads(void);
/* Sets the number of threads of the process. */
EGC_API egc_status egc_set_num_threads(int threads);
/* Sets the number of threads of calls from this thread; 0: as the process. */
EGC_API egc_status egc_set_num_threads_here(int threads);

/* Calls work(context) from up to `threads` threads at the same time, the calling one among them,
 * and returns when all calls have. The signature is that of GOMP_parallel, with flags 0. */
typedef void (*egc_parallel)(void (*work)(void* context), void* context, unsigned threads,
                             unsigned flags);
/* Runs everything on another library's threads, so that two pools do not compete for the cores;
 * NULL: on egc's own threads. After a fork the child returns to egc's own. */
EGC_API void egc_set_parallel(egc_parallel run);

/* ---- Graphs ---- */

/* An immutable graph: for every target the sources of its edges. */
typedef struct egc_graph egc_graph;

/* As num_sources: the sources are the targets, as self-loops need it. */
#define EGC_SAME_NODES (-1)

/* From a list of edges source[k] -> target[k], in any order; duplicates are kept. weights: one per
 * edge, or NULL. */
EGC_API egc_status egc_graph_from_edges(int64_t num_targets, int64_t num_sources, int64_t num_edges,
                                        const int64_t* source, const int64_t* target,
                                        const float* weights, egc_graph** graph);
/* From arrays in CSR form by target. offsets: [num_targets + 1].   sources: [offsets[num_targets]].
 */
EGC_API egc_status egc_graph_from_csr(int64_t num_targets, int64_t num_sources,
                                      const int64_t* offsets, const int64_t* sources,
                                      const float* weights, egc_graph** graph);
/* Features of edges, in the order of the list of edges: categories, numbers, or both. Set all of it
 * to zero first. */
typedef struct egc_edge_features {
  int32_t category_dtype;        /* EGC_INT32 or EGC_INT64 */
  int32_t number_dtype;          /* EGC_FLOAT32 or EGC_FLOAT64 */
  int64_t category_columns;      /* categorical features of an edge; 0: none */
  const void* categories;        /* [E, category_columns] */
  const int64_t* num_categories; /* [category_columns]: those of a column are below its number */
  int64_t number_columns;        /* float features of an edge; 0: none */
  const void* numbers;           /* [E, number_columns], finite */
  int64_t reserved[4];           /* for later versions: 0 */
} egc_edge_features;
/* As egc_graph_from_edges(), with features of edges, which are copied. egc_edge_conv_forward() uses
 * them; other layers do not read them. */
EGC_API egc_status egc_graph_from_edges_with_features(int64_t num_targets, int64_t num_sources,
                                                      int64_t num_edges, const int64_t* source,
                                                      const int64_t* target, const float* weights,
                                                      const egc_edge_features* features,
                                                      egc_graph** graph);
EGC_API void egc_graph_free(egc_graph* graph);                 /* frees a graph */
EGC_API int64_t egc_graph_num_targets(const egc_graph* graph); /* number of rows */
EGC_API int64_t egc_graph_num_sources(const egc_graph* graph); /* number of source nodes */
EGC_API int64_t egc_graph_num_edges(const egc_graph* graph);   /* number of edges */
EGC_API int egc_graph_is_square(const egc_graph* graph);       /* whether sources are the targets */
/* The graph in CSR form, valid while it lives. weights becomes NULL where there are none. */
EGC_API void egc_graph_csr(const egc_graph* graph, const int64_t** offsets, const int32_t** sources,
                           const float** weights);

/* ---- Layers ----
 * Matrices are dense and row-major, of the layer's dtype. S and T are the numbers of sources and
 * targets of the graph. The backward functions write gradients; those that are NULL are not wanted.
 * Forward functions write `saved` for the backward pass; NULL where no gradient is needed. */

/* Aggregators, with the numbers of their names in configurations. */
typedef enum egc_aggregator {
  EGC_ADD = 0,
  EGC_MEAN = 1,
  EGC_SYMNORM = 2,
  EGC_MAX = 3,
  EGC_MIN = 4,
  EGC_VAR = 5,
  EGC_STD = 6
} egc_aggregator;
#define EGC_NUM_AGGREGATORS 7

/* Which aggregators add a self-loop to every node; added loops replace those of the graph. */
typedef enum egc_self_loops {
  EGC_LOOPS_ALL = 0,
  EGC_LOOPS_SYMNORM = 1,
  EGC_LOOPS_NONE = 2
} egc_self_loops;

/* Activation of EGC's combination weights; softmax over aggregators and bases of a head. */
typedef enum egc_activation {
  EGC_IDENTITY = 0,
  EGC_SOFTMAX = 1,
  EGC_SIGMOID = 2,
  EGC_HARDTANH = 3
} egc_activation;

/* Options of a layer: set all of it to zero first. Fields that a layer does not mention are not
 * read. */
typedef struct egc_layer {
  int32_t dtype;                            /* EGC_FLOAT32 or EGC_FLOAT64 */
  int32_t num_aggregators;                  /* A */
  int32_t aggregators[EGC_NUM_AGGREGATORS]; /* different ones, in the order of their outputs */
  int32_t self_loops;                       /* egc_self_loops */
  int32_t activation;                       /* egc_activation */
  int32_t attention_version;                /* 1: GAT, 2: GATv2 */
  int64_t in_channels;                      /* F */
  int64_t heads;                            /* H */
  int64_t bases;                            /* B */
  int64_t width;                            /* L, columns of a head */
  double negative_slope;                    /* of the leaky ReLU of attention, in [0, 1] */
  int64_t reserved[8];                      /* for later versions: 0 */
} egc_layer;

/* EGC, the Efficient Graph Convolution:
 *   y[i, h] = sum over a, b of w[i, h, a, b] * aggregate_a over j of (x[j] bases_weight_b') +
 * bias[h] w = activation(x_target comb_weight' + comb_bias) x: [S, F].   x_target: [T, F], or NULL
 * where sources are the targets.   bases_weight: [B*L, F]. comb_weight: [H*A*B, F], rows ordered
 * (h, a, b).   comb_bias: [H*A*B] or NULL.   bias: [H*L] or NULL.   y: [T, H*L].   saved:
 * egc_conv_saved_size() elements. */
EGC_API egc_status egc_conv_forward(const egc_graph* graph, const egc_layer* layer, const void* x,
                                    const void* x_target, const void* bases_weight,
                                    const void* comb_weight, const void* comb_bias,
                                    const void* bias, void* y, void* saved);
/* Number of elements of `saved`. */
EGC_API int64_t egc_conv_saved_size(const egc_graph* graph, const egc_layer* layer);
/* The backward pass. Gradients have the shapes of what they belong to. */
EGC_API egc_status egc_conv_backward(const egc_graph* graph, const egc_layer* layer, const void* x,
                                     const void* x_target, const void* bases_weight,
                                     const void* comb_weight, const void* grad_y, const void* saved,
                                     void* grad_x, void* grad_x_target, void* grad_bases_weight,
                                     void* grad_comb_weight, void* grad_comb_bias, void* grad_bias);

/* Messages of EGC with features of edges. */
typedef enum egc_message {
  EGC_MESSAGE_IDENTITY = 0, /* z[j] + e[i, j] */
  EGC_MESSAGE_RELU = 1      /* ReLU(z[j] + e[i, j]) */
} egc_message;

/* What edges add to the messages of EGC: instead of the bases z[j] = x[j] bases_weight', messages
 * phi(z[j] + e[i, j]) are aggregated, with
 *   e[i, j] = sum over columns of table[row of the category] + linear numbers + bias.
 * The parts are of the layer's dtype; those that are NULL add nothing. Set all of it to zero first.
 */
typedef struct egc_edge_term {
  int32_t message;       /* egc_message: phi */
  const void* table;     /* [sum of num_categories, B*L], one column's rows after the other's */
  const void* linear;    /* [B*L, number_columns] */
  const void* bias;      /* [B*L], of every edge of the graph */
  const void* self_edge; /* [B*L]: e of the self-loops that the layer adds */
  int64_t reserved[4];   /* for later versions: 0 */
} egc_edge_term;

/* Where the gradients of an edge term go, of the shapes of its parts; those that are NULL are not
 * wanted. Set all of it to zero first. */
typedef struct egc_edge_gradients {
  void* table;         /* of egc_edge_term.table */
  void* linear;        /* of egc_edge_term.linear */
  void* bias;          /* of egc_edge_term.bias */
  void* self_edge;     /* of egc_edge_term.self_edge */
  int64_t reserved[4]; /* for later versions: 0 */
} egc_edge_gradients;

/* EGC on a graph of egc_graph_from_edges_with_features(). Otherwise as egc_conv_forward(), with
 * `saved` of as many elements. */
EGC_API egc_status egc_edge_conv_forward(const egc_graph* graph, const egc_layer* layer,
                                         const egc_edge_term* edges, const void* x,
                                         const void* x_target, const void* bases_weight,
                                         const void* comb_weight, const void* comb_bias,
                                         const void* bias, void* y, void* saved);
/* The backward pass; `edges` as in the forward pass. grad_edges: NULL where none of its gradients
 * is wanted. */
EGC_API egc_status egc_edge_conv_backward(
    const egc_graph* graph, const egc_layer* layer, const egc_edge_term* edges, const void* x,
    const void* x_target, const void* bases_weight, const void* comb_weight, const void* grad_y,
    const void* saved, const egc_edge_gradients* grad_edges, void* grad_x, void* grad_x_target,
    void* grad_bases_weight, void* grad_comb_weight, void* grad_comb_bias, void* grad_bias);

/* The second half of EGC, for given bases and weights. bases: [S, B*L].   weights: [T, H*A*B].
 * y: [T, H*L]. */
EGC_API egc_status egc_combine_forward(const egc_graph* graph, const egc_layer* layer,
                                       const void* bases, const void* weights, void* y);
/* The backward pass. */
EGC_API egc_status egc_combine_backward(const egc_graph* graph, const egc_layer* layer,
                                        const void* bases, const void* weights, const void* grad_y,
                                        void* grad_bases, void* grad_weights);

/* Several aggregators in one pass. x: [S, F].   y: [T, A*F], aggregator by aggregator. GCN is
 * EGC_SYMNORM, GIN EGC_ADD, GraphSAGE EGC_MEAN, a sparse product EGC_ADD on a graph with weights.
 */
EGC_API egc_status egc_aggregate_forward(const egc_graph* graph, const egc_layer* layer,
                                         const void* x, void* y);
/* The backward pass. */
EGC_API egc_status egc_aggregate_backward(const egc_graph* graph, const egc_layer* layer,
                                          const void* x, const void* grad_y, void* grad_x);

/* Attention of GAT and GATv2. values: [S, H*L].   y: [T, H*L].
 * GAT: of_source: [S, H], of_target: [T, H], the two halves of a score; attention: NULL.
 * GATv2: of_source: NULL; of_target: [T, H*L], the query; attention: [H*L].
 * Graphs with edge weights are refused, and so are self-loops where sources are not the targets. */
EGC_API egc_status egc_attention_forward(const egc_graph* graph, const egc_layer* layer,
                                         const void* values, const void* of_source,
                                         const void* of_target, const void* attention, void* y,
                                         void* saved);
/* Number of elements of `saved`. */
EGC_API int64_t egc_attention_saved_size(const egc_graph* graph, const egc_layer* layer);
/* The backward pass; y is what the forward pass wrote. All gradients of the kind are wanted. */
EGC_API egc_status egc_attention_backward(const egc_graph* graph, const egc_layer* layer,
                                          const void* values, const void* of_source,
                                          const void* of_target, const void* attention,
                                          const void* y, const void* saved, const void* grad_y,
                                          void* grad_values, void* grad_of_source,
                                          void* grad_of_target, void* grad_attention);

/* ---- Datasets ---- */

/* An array of any shape. */
typedef struct egc_array {
  const char* name;   /* "edges", "node_features.floats", "split.<name>.train", ... */
  int32_t dtype;      /* egc_dtype */
  int32_t dimensions; /* 1 or 2 */
  int64_t shape[2];   /* extents */
  const void* data;   /* row-major */
} egc_array;

/* A dataset in memory. docs/python-train.md lists its arrays. */
typedef struct egc_dataset egc_dataset;

/* Reads or generates a dataset by name or path. data_dir: where named ones are; NULL: the default.
 * seed: of generated ones. */
EGC_API egc_status egc_dataset_load(const char* name, const char* data_dir, uint64_t seed,
                                    egc_dataset** dataset);
/* From arrays, which are copied, and a description like dataset.json. */
EGC_API egc_status egc_dataset_from_arrays(const char* info_json, int64_t count,
                                           const egc_array* arrays, egc_dataset** dataset);
/* Writes it to a new directory, which all commands take. */
EGC_API egc_status egc_dataset_save(const egc_dataset* dataset, const char* directory);
EGC_API void egc_dataset_free(egc_dataset* dataset); /* frees a dataset */
/* The description as JSON, valid while the dataset lives. */
EGC_API const char* egc_dataset_info(const egc_dataset* dataset);
EGC_API int64_t egc_dataset_num_arrays(const egc_dataset* dataset); /* number of arrays */
/* Array k, valid while the dataset lives. */
EGC_API egc_status egc_dataset_array(const egc_dataset* dataset, int64_t k, egc_array* array);

/* ---- Models ---- */

/* A trained network. One thread at a time may predict with it. */
typedef struct egc_model egc_model;

/* Loads a model file, a run, or a shipped model by name; of a run with several seeds the best on
 * the validation set, or with ensemble != 0 all of them, whose predictions are averaged. */
EGC_API egc_status egc_model_load(const char* name, int ensemble, egc_model** model);
EGC_API void egc_model_free(egc_model* model); /* frees a model */
/* What is known of it, as JSON, valid while the model lives: model, parameters, config, metrics,
 * dataset. */
EGC_API const char* egc_model_info(const egc_model* model);

/* Predictions for a dataset: for every graph, or for every node. */
typedef struct egc_predictions egc_predictions;
/* Predicts `batch` graphs at a time; 0: 256. */
EGC_API egc_status egc_model_predict(egc_model* model, const egc_dataset* dataset, int64_t batch,
                                     egc_predictions** predictions);
EGC_API void egc_predictions_free(egc_predictions* predictions); /* frees predictions */
/* Values, or probabilities in tasks with classes: [rows, columns]. NULL in sequence tasks. */
EGC_API const float* egc_predictions_values(const egc_predictions* predictions, int64_t* rows,
                                            int64_t* columns);
/* The most likely class of every row; NULL in tasks without classes. */
EGC_API const int64_t* egc_predictions_classes(const egc_predictions* predictions);
/* The words of every row as JSON, a list of lists; NULL but in sequence tasks. */
EGC_API const char* egc_predictions_words(const egc_predictions* predictions);

/* ---- Training ---- */

/* Told of every epoch (a line of metrics.jsonl), and several times a second with NULL. Returns 0 to
 * continue; anything else stops the run with a checkpoint. */
typedef int (*egc_epoch_function)(const char* epoch_json, void* user);
/* Trains as `egc train` does. request_json: an object with dataset (name or path), model, config,
 * parameters, settings (object: flag names without dashes), out, resume, seeds, overwrite, until,
 * checkpoint_every, seed, data_dir; all but dataset or resume are optional. report: JSON with
 * directory, runs and outcomes, freed by egc_free(). A stopped run is EGC_INTERRUPTED and can be
 * resumed. */
EGC_API egc_status egc_train(const char* request_json, egc_epoch_function on_epoch, void* user,
                             char** report);

EGC_API void egc_free(void* memory); /* frees a text */

/* A checksum of bytes, by all threads; the same everywhere. */
EGC_API uint64_t egc_checksum(const void* bytes, size_t size);

/* NOLINTEND(readability-identifier-naming,modernize-*) */
#ifdef __cplusplus
}
#endif

#endif /* EGC_EGC_H_ */
