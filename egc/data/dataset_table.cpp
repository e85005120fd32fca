#include "egc/data/dataset_table.h"

#include <algorithm>

namespace egc::data {

// Addresses: the Open Graph Benchmark's master.csv files, PyTorch Geometric's zinc.py and
// gnn_benchmark_dataset.py, the benchmarking-gnns repository. The publishers give no checksums;
// those here are pinned by others who downloaded the files (several agree on arxiv's).
const std::vector<KnownDataset>& known_datasets() {
  static const std::vector<KnownDataset> table = {
      {"zinc",
       "molecules, constrained solubility (regression)",
       {"zinc12k", "ZINC"},
       R"({"name": "zinc", "task": "graph-regression", "metric": "mae",
           "node_features": "categorical", "categories": [28], "recipe": "zinc"})",
       Packing::kZincPickles,
       {{.url = "https://www.dropbox.com/s/feo9qle74kg48gy/molecules.zip?dl=1"},
        {.url = "https://raw.githubusercontent.com/graphdeeplearning/benchmarking-gnns/master/"
                "data/molecules/train.index"},
        {.url = "https://raw.githubusercontent.com/graphdeeplearning/benchmarking-gnns/master/"
                "data/molecules/val.index"},
        {.url = "https://raw.githubusercontent.com/graphdeeplearning/benchmarking-gnns/master/"
                "data/molecules/test.index"}},
       {12000, 23.16, 49.83, {10000, 1000, 1000}}},
      {"cifar10",
       "superpixels of images (10 classes)",
       {"cifar10-superpixels", "CIFAR10"},
       R"({"name": "cifar10", "task": "graph-classification", "metric": "accuracy",
           "num_classes": 10, "node_features": "float"})",
       Packing::kPygTensors,
       {{.url = "https://data.pyg.org/datasets/benchmarking-gnns/CIFAR10_v2.zip"}},
       {60000, 117.63, 941.04, {45000, 5000, 10000}}},
      {"molhiv",
       "molecules, HIV inhibition (binary)",
       {"ogbg-molhiv", "ogbg_molhiv", "hiv"},
       R"({"name": "ogbg-molhiv", "task": "graph-binary", "metric": "rocauc",
           "node_features": "categorical", "add_inverse_edge": true, "recipe": "ogb",
           "categories": [119, 5, 12, 12, 10, 6, 6, 2, 2], "edge_categories": [5, 6, 2]})",
       Packing::kOgbRaw,
       {{.url = "http://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download/hiv.zip"}},
       {41127, 25.51, 27.47, {32901, 4113, 4113}}},
      {"code2",
       "abstract syntax trees of Python methods (their names)",
       {"ogbg-code2", "ogbg_code2"},
       R"({"name": "ogbg-code2", "task": "graph-sequence", "metric": "f1",
           "node_features": "categorical", "categories": [98, 10030, 21]})",
       Packing::kOgbRaw,
       {{.url = "http://snap.stanford.edu/ogb/data/graphproppred/code2.zip"}},
       {452741, 125.2, 124.2, {407976, 22817, 21948}}},
      {"arxiv",
       "citations of arXiv papers (40 subjects)",
       {"ogbn-arxiv", "ogbn_arxiv"},
       R"({"name": "ogbn-arxiv", "task": "node-classification", "metric": "accuracy",
           "num_classes": 40, "undirected": true})",
       Packing::kOgbRaw,
       {{.url = "http://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip",
         .sha256 = "49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276",
         .bytes = 83058288}},
       {1, 169343, 1166243, {90941, 29799, 48603}}},
      {"mag",
       "papers, authors, institutions, fields (349 venues)",
       {"ogbn-mag", "ogbn_mag"},
       R"({"name": "ogbn-mag", "task": "node-classification-hetero", "metric": "accuracy",
           "num_classes": 349, "undirected": true, "add_inverse_edge": true})",
       Packing::kOgbRaw,
       {{.url = "http://snap.stanford.edu/ogb/data/nodeproppred/mag.zip",
         .sha256 = "2afe62ead87f2c301a7398796991d347db85b2d01c5442c95169372bf5a9fca4"}},
       {1, 1939743, 21111007, {629571, 64879, 41939}}},
  };
  return table;
}

const KnownDataset* find_known(std::string_view name) {
  for (const KnownDataset& d : known_datasets())
    if (d.name == name || std::find(d.folders.begin(), d.folders.end(), name) != d.folders.end())
      return &d;
  return nullptr;
}

}  // namespace egc::data
