// Small valid datasets in a directory that removes itself, for a test to read or to damage.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::testing {

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// A .npy file, version 1. `shape` as Python writes it: "(3, 2)".
inline std::string npy(std::string_view descr, std::string_view shape, std::string_view data,
                       std::string_view fortran_order = "False") {
  std::string header = "{'descr': '" + std::string(descr) +
                       "', 'fortran_order': " + std::string(fortran_order) +
                       ", 'shape': " + std::string(shape) + ", }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out.append(header).append(data);
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class Values>
auto to_vector(const Values& values) {
  using T = std::remove_cvref_t<decltype(*values.begin())>;
  return std::vector<T>(values.begin(), values.end());
}

class DatasetFiles {
 public:
  // The folder's name is what a dataset without dataset.json is called.
  explicit DatasetFiles(const std::string& folder = "data") {
    std::string name = ::testing::TempDir() + "/egc_data_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    root_ = name;
    dir_ = root_ / folder;
    std::filesystem::create_directories(dir_);
  }
  ~DatasetFiles() { std::filesystem::remove_all(root_); }
  DatasetFiles(const DatasetFiles&) = delete;
  DatasetFiles& operator=(const DatasetFiles&) = delete;

  const std::filesystem::path& root() const { return root_; }  // around the dataset
  const std::filesystem::path& dir() const { return dir_; }
  std::filesystem::path path(const std::string& name) const { return dir_ / name; }

  void write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories(path(name).parent_path());
    std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) std::abort();
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    if (!file) std::abort();
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // One byte in place.
  void poke(const std::string& name, size_t at, char byte) const {
    std::fstream file(path(name), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    if (!file.put(byte).flush()) std::abort();
  }
  // The first `from` becomes `to`.
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read(name);
    const size_t at = text.find(from);
    if (at == std::string::npos) std::abort();
    write(name, text.replace(at, from.size(), to));
  }
  void append(const std::string& name, const std::string& text) const {
    write(name, read(name) + text);
  }
  void remove(const std::string& name) const {
    if (std::filesystem::remove_all(path(name)) == 0) std::abort();
  }
  void make_directory(const std::string& name) const {
    std::filesystem::create_directories(path(name));
  }
  // name.csv becomes name.csv.gz.
  void pack(const std::string& name) const {
    write(name + ".gz", gzip(read(name)));
    remove(name);
  }

  // Three graphs of 3, 2 and 4 nodes with 3, 1 and 4 edges; categories; a number each.
  void make_molecules() const {
    write("dataset.json", R"({"name": "molecules", "task": "graph-regression",
"node_features": "categorical", "categories": [3, 2], "edge_categories": [3]})");
    write("raw/num-node-list.csv", "3\n2\n4\n");
    write("raw/num-edge-list.csv", "3\n1\n4\n");
    write("raw/edge.csv", "0,1\n1,2\n2,0\n1,0\n0,1\n1,2\n2,3\n3,3\n");
    write("raw/node-feat.csv", "0,1\n1,0\n2,1\n0,0\n1,1\n2,0\n0,1\n1,1\n2,1\n");
    write("raw/edge-feat.csv", "0\n1\n2\n0\n1\n2\n0\n1\n");
    write("raw/graph-label.csv", "0.5\n-1.25\n3\n");
    write("split/random/train.csv", "0\n");
    write("split/random/valid.csv", "1\n");
    write("split/random/test.csv", "2\n");
  }

  // One graph of five nodes with six edges, of them one twice and a loop; floats; three classes.
  void make_citations() const {
    write("dataset.json", R"({"name": "citations", "task": "node-classification",
"num_classes": 3, "undirected": true})");
    write("raw/num-node-list.csv", "5\n");
    write("raw/edge.csv", "0,1\n1,2\n2,3\n3,4\n0,1\n4,4\n");
    write("raw/node-feat.csv", "0.5,1\n1.5,-2\n2.5,3e2\n3.5,0\n4.5,1\n");
    write("raw/node-label.csv", "0\n1\n2\n1\n0\n");
    write("split/time/train.csv", "0\n4\n");
    write("split/time/valid.csv", "2\n");
    write("split/time/test.csv", "3\n1\n");
  }

  // ogbn-mag's layout: two authors, three papers with features and classes.
  void make_authors() const {
    write("dataset.json", R"({"name": "authors", "task": "node-classification-hetero",
"num_classes": 2, "undirected": true, "add_inverse_edge": true})");
    write("raw/num-node-dict.csv", "paper,author\n3,2\n");
    write("raw/triplet-type-list.csv", "paper,cites,paper\nauthor,writes,paper\n");
    write("raw/relations/author___writes___paper/edge.csv", "0,0\n1,2\n1,1\n");
    write("raw/relations/author___writes___paper/num-edge-list.csv", "3\n");
    write("raw/relations/paper___cites___paper/edge.csv", "0,1\n1,2\n");
    write("raw/node-feat/paper/node-feat.csv", "0.5,1\n1.5,2\n2.5,3\n");
    write("raw/node-label/paper/node-label.csv", "0\n1\n1\n");
    write("split/time/paper/train.csv", "0\n");
    write("split/time/paper/valid.csv", "2\n");
    write("split/time/paper/test.csv", "1\n");
  }

  // One type of nodes and a relation id per edge; relation 1 has no edge.
  void make_relations() const {
    write("dataset.json", R"({"name": "relations", "task": "node-classification-hetero",
"num_classes": 2})");
    write("raw/num-node-list.csv", "4\n");
    write("raw/edge.csv", "0,1\n1,2\n2,3\n3,0\n");
    write("raw/edge_reltype.csv", "0\n2\n0\n2\n");
    write("raw/node-label.csv", "0\n1\n0\n-1\n");
    write("split/random/train.csv", "0\n1\n");
    write("split/random/test.csv", "2\n");
  }

  // Two syntax trees of four nodes and one.
  void make_code() const {
    write("raw/num-node-list.csv", "4\n1\n");
    write("raw/num-edge-list.csv", "3\n0\n");
    write("raw/edge.csv", "0,1\n0,2\n2,3\n");
    write("raw/node-feat.csv", "5,7\n1,0\n2,3\n0,9\n4,4\n");
    write("raw/node_depth.csv", "0\n1\n1\n25\n0\n");
    write("raw/node_is_attributed.csv", "0\n1\n0\n1\n1\n");
    write("raw/graph-label.csv", "get name\nset\n");
    write("split/project/train.csv", "0\n");
    write("split/project/test.csv", "1\n");
  }

 private:
  std::filesystem::path root_;
  std::filesystem::path dir_;
};

// Bit by bit, so that NaN equals NaN; the name of the first array that differs, or nothing.
inline std::string difference(const data::Dataset& a, const data::Dataset& b) {
  struct Shown {
    std::string name;
    int64_t columns;
    std::string bytes;
  };
  const auto list = [](const data::Dataset& d) {
    std::vector<Shown> out;
    data::visit_arrays(d, [&](const std::string& name, const auto& array) {
      if constexpr (requires { array.columns; }) {
        const auto bytes = std::as_bytes(array.values.span());
        out.push_back({name, array.columns,
                       std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
      } else {
        const auto bytes = std::as_bytes(array.span());
        out.push_back(
            {name, -1, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
      }
    });
    return out;
  };
  if (!(a.info == b.info)) return "info";
  if (a.hetero.schema != b.hetero.schema || a.hetero.num_nodes != b.hetero.num_nodes ||
      a.hetero.nodes_of_graph != b.hetero.nodes_of_graph ||
      a.hetero.target_type != b.hetero.target_type)
    return "hetero";
  if (a.splits.size() != b.splits.size()) return "number of splits";
  for (size_t s = 0; s < a.splits.size(); ++s)
    if (a.splits[s].name != b.splits[s].name) return "name of split " + std::to_string(s);
  const auto of_a = list(a);
  const auto of_b = list(b);
  if (of_a.size() != of_b.size()) return "number of arrays";
  for (size_t k = 0; k < of_a.size(); ++k)
    if (of_a[k].name != of_b[k].name || of_a[k].columns != of_b[k].columns ||
        of_a[k].bytes != of_b[k].bytes)
      return of_a[k].name;
  return "";
}

}  // namespace egc::testing
