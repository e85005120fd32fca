// Model files: what is saved loads to the bit, and no damaged or hostile file is believed.
#include "egc/models/model_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "egc/core/safetensors.h"
#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/models/network_inputs.h"
#include "tests/tensor/arrays.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

namespace fs = std::filesystem;
using models::load_network;
using models::make_network;
using models::ModelConfig;
using models::ModelInput;
using models::Network;
using models::Notes;
using models::parse_model_config;
using models::save_network;
using testing::awkward_graph;
using testing::expect_error;
using testing::expect_same_state;
using testing::infer;
using testing::same_bits;
using Json = nlohmann::ordered_json;
using Metadata = std::map<std::string, std::string>;

struct Example {
  const char* name;
  const char* config;
};

// Every task, every encoder, the layers that differ most in what they store.
constexpr Example kExamples[] = {
    {"RegressionEmbeddingEgcM",
     R"({"task":"graph-regression","model":"egc-m","hidden":16,"layers":2,"encoder":"embedding",
         "categories":[5,3],"heads":4,"bases":2,"aggregators":["symnorm","std","max"],
         "activation":"softmax","self_loops":"all","dropout":0.5,"dropout_at":["head","encoder"]})"},
    {"RegressionLinearEgcS",
     R"({"task":"graph-regression","model":"egc-s","hidden":64,"layers":1,"features":3,"heads":8,
         "bases":1,"readout":"sum"})"},
    {"ClassificationLinearGat",
     R"({"task":"graph-classification","model":"gat","hidden":8,"layers":2,"outputs":4,
         "features":3,"heads":2,"readout":"max"})"},
    {"BinaryAtomGatv2",
     R"({"task":"graph-binary","model":"gatv2","hidden":8,"layers":2,"encoder":"atom",
         "categories":[2,7,1],"heads":4,"residual":false,"readout":"sum"})"},
    {"SequenceAstPna",
     R"({"task":"graph-sequence","model":"pna","hidden":8,"layers":2,"outputs":5,"encoder":"ast",
         "categories":[4,3,6],"towers":2,"mean_log_degree":1.7,"sequence_length":3})"},
    {"NodesLinearMpnnMax",
     R"({"task":"node-classification","model":"mpnn-max","hidden":8,"layers":2,"outputs":3,
         "features":3,"towers":4})"},
    {"NodesBareEgcM",
     R"({"task":"node-classification","model":"egc-m","hidden":8,"layers":2,"outputs":5,
         "encoder":"none","features":3,"heads":2,"residual":false})"},
    {"NodesBareGcnWithoutNorm",
     R"({"task":"node-classification","model":"gcn","hidden":6,"layers":3,"outputs":6,
         "encoder":"none","features":3,"norm":false,"residual":false})"},
    {"HeteroRegc",
     R"({"task":"node-classification-hetero","model":"regc","hidden":16,"layers":2,"outputs":4,
         "encoder":"none","features":3,"heads":4,"bases":2,"norm":false,"residual":false,
         "node_types":["author","paper"],"target_type":"paper","embedded_nodes":[5,0],
         "relations":[["writes","author","paper"],["cites","paper","paper"],
                      ["written","paper","author"]]})"},
    {"HeteroLinearRegc",
     R"({"task":"node-classification-hetero","model":"regc","hidden":8,"layers":2,"outputs":4,
         "encoder":"linear","features":3,"heads":4,"bases":2,"norm":false,"residual":false,
         "node_types":["author","paper"],"target_type":"paper","embedded_nodes":[5,0],
         "relations":[["writes","author","paper"],["cites","paper","paper"],
                      ["written","paper","author"]]})"},
    {"HeteroRgcn",
     R"({"task":"node-classification-hetero","model":"rgcn","hidden":4,"layers":3,"outputs":2,
         "encoder":"none","features":3,"node_types":["author","paper"],"target_type":"author",
         "embedded_nodes":[5,14],"relations":[["cites","paper","paper"],
         ["written","paper","author"],["writes","author","paper"]]})"},
    {"RegressionGaMlp",
     R"({"task":"graph-regression","model":"ga-mlp","hidden":8,"layers":3,"encoder":"embedding",
         "categories":[5,3]})"},
    {"ClassificationLinearGin",
     R"({"task":"graph-classification","model":"gin","hidden":8,"layers":1,"outputs":2,
         "features":3,"norm":false})"},
    {"BinaryLinearSage",
     R"({"task":"graph-binary","model":"sage","hidden":8,"layers":2,"features":3,
         "aggregators":["max"]})"},
    {"SequenceEmbeddingMpnnSum",
     R"({"task":"graph-sequence","model":"mpnn-sum","hidden":8,"layers":1,"outputs":7,
         "encoder":"embedding","categories":[9],"towers":1,"sequence_length":2})"},
};

ModelConfig config_of(const Example& example) { return parse_model_config(example.config, "test"); }

ModelInput input_for(const ModelConfig& c, DType type = DType::kF32) {
  ModelInput in;
  const Csr graph = awkward_graph();
  const int64_t n = graph.num_targets();
  if (c.task == Task::kNodeClassificationHetero) {
    // Five authors, as many papers as the graph has nodes.
    const int64_t authors = 5;
    std::vector<int64_t> author;
    std::vector<int64_t> paper;
    for (int64_t k = 0; k < n; ++k) {
      author.push_back(k % authors);
      paper.push_back(k);
    }
    in.hetero.num_nodes = {authors, n};
    for (const auto& r : c.schema.relations)
      in.hetero.relations.push_back(r.name == "cites" ? graph
                                    : r.name == "writes"
                                        ? Csr::from_edges(n, authors, author, paper)
                                        : Csr::from_edges(authors, n, paper, author));
    for (size_t t = 0; t < c.embedded_nodes.size(); ++t)
      in.hetero_x.push_back(c.embedded_nodes[t] > 0 ? Tensor()
                                                    : testing::random_tensor(in.hetero.num_nodes[t],
                                                                             c.features, 5, type));
    return in;
  }
  in.graph = graph;
  in.first_node = {0, 4, 9, n};
  if (c.features > 0)
    in.x = testing::random_tensor(n, c.features, 5, type);
  else
    in.categories = testing::random_categories(n, c.categories, 5);
  return in;
}

// With running statistics and parameters that are nowhere what a new network has.
std::shared_ptr<Network> used_network(const ModelConfig& config, DType type = DType::kF32) {
  const auto network = testing::new_network(config, 3);
  network->to(type);
  uint64_t seed = 100;
  for (const auto& p : network->parameters()) {
    const Tensor& value = p->value;
    const Tensor change = testing::random_tensor(value.rows(), value.columns(), ++seed, type);
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t k = 0; k < value.size(); ++k)
        value.data<T>()[k] += static_cast<T>(0.1) * change.data<T>()[k];
    });
  }
  Tape tape = Tape::training(0);
  network->forward(tape, input_for(config, type));
  return network;
}

std::string read_raw(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_raw(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<ssize_t>(bytes.size()));
}

// A file taken apart, to be put together again with something wrong and a checksum that fits.
struct Parts {
  struct Tensor {
    DType dtype;
    std::vector<int64_t> shape;
    std::vector<std::byte> data;
  };

  explicit Parts(const fs::path& path) {
    const SafetensorsFile file(path);
    metadata = file.metadata();
    for (const auto& [name, view] : file.tensors())
      tensors[name] = {view.dtype, view.shape, {view.data.begin(), view.data.end()}};
  }

  Json config() const { return Json::parse(metadata.at("config")); }

  // As model_file.cpp documents it: names, types, shapes and bytes of the tensors, the metadata but
  // the checksum, everything preceded by its length.
  std::string checksum() const {
    uLong crc = crc32_z(0, nullptr, 0);
    const auto add = [&crc](const void* data, size_t bytes) {
      const uint64_t length = bytes;
      crc = crc32_z(crc, reinterpret_cast<const Bytef*>(&length), sizeof(length));
      if (bytes > 0) crc = crc32_z(crc, static_cast<const Bytef*>(data), bytes);
    };
    for (const auto& [name, t] : tensors) {
      add(name.data(), name.size());
      add(name_of(t.dtype).data(), name_of(t.dtype).size());
      add(t.shape.data(), t.shape.size() * sizeof(int64_t));
      add(t.data.data(), t.data.size());
    }
    for (const auto& [key, value] : metadata) {
      if (key == "checksum") continue;
      add(key.data(), key.size());
      add(value.data(), value.size());
    }
    return fmt::format("crc32:{:08x}", crc);
  }

  // Not write_safetensors: it syncs, and here are hundreds of files.
  void write_as_is(const fs::path& path) const {
    nlohmann::json root = nlohmann::json::object();
    root["__metadata__"] = metadata;
    std::string data;
    for (const auto& [name, t] : tensors) {
      root[name] = {{"dtype", name_of(t.dtype)},
                    {"shape", t.shape},
                    {"data_offsets", {data.size(), data.size() + t.data.size()}}};
      data.append(reinterpret_cast<const char*>(t.data.data()), t.data.size());
    }
    std::string header = root.dump();
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const uint64_t length = header.size();
    write_raw(path, std::string(reinterpret_cast<const char*>(&length), 8) + header + data);
  }
  void write(const fs::path& path) {
    metadata["checksum"] = checksum();
    write_as_is(path);
  }

  std::map<std::string, Tensor> tensors;
  Metadata metadata;
};

class ModelFile : public ::testing::Test {
 protected:
  ModelFile() {
    std::string name = ::testing::TempDir() + "/egc_model_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    directory_ = name;
    path_ = directory_ / "model.safetensors";
  }
  ~ModelFile() override { fs::remove_all(directory_); }

  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  // An egc::Error of the right kind, on one line that names the file, and nothing else.
  ::testing::AssertionResult refused(const std::string& part = "") const {
    try {
      load_network(path_);
    } catch (const Error& e) {
      const std::string message = e.what();
      if (e.kind() != ErrorKind::kModel)
        return ::testing::AssertionFailure()
               << "kind " << static_cast<int>(e.kind()) << ": " << message.substr(0, 300);
      if (message.find(path_.string()) == std::string::npos)
        return ::testing::AssertionFailure() << "no path in: " << message.substr(0, 300);
      if (message.find('\n') != std::string::npos)
        return ::testing::AssertionFailure() << "more than a line: " << message.substr(0, 300);
      if (message.find(part) == std::string::npos)
        return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << message;
      return ::testing::AssertionSuccess();
    } catch (const std::exception& e) {
      return ::testing::AssertionFailure()
             << "another exception: " << std::string(e.what()).substr(0, 300);
    }
    return ::testing::AssertionFailure() << "it was loaded";
  }

  // A good file with the given change, its checksum correct.
  void rewrite(const std::function<void(Parts&)>& change) const {
    Parts parts(path_);
    change(parts);
    parts.write(path_);
  }

  fs::path directory_;
  fs::path path_;
};

class ModelFileOf : public ModelFile,
                    public ::testing::WithParamInterface<std::tuple<Example, DType>> {
 protected:
  Example example() const { return std::get<0>(GetParam()); }
  DType type() const { return std::get<1>(GetParam()); }
};

TEST_P(ModelFileOf, LoadsToTheBit) {
  const ModelConfig config = config_of(example());
  const auto network = used_network(config, type());
  const Notes notes = {{"accuracy", "0.75"}, {"", ""}, {"text", "\"\n\t\\ \xE2\x98\x83"}};
  save_network(path_, *network, notes);
  EXPECT_EQ(files(), 1U);
  const std::string bytes = read_raw(path_);

  const models::LoadedNetwork loaded = load_network(path_);
  EXPECT_EQ(loaded.notes, notes);
  EXPECT_EQ(loaded.network->config(), config);
  EXPECT_EQ(loaded.network->dtype(), type());
  expect_same_state(loaded.network->state(), network->state());
  for (const auto& p : loaded.network->parameters()) EXPECT_NE(p->value.gradient(), nullptr);

  const ModelInput input = input_for(config, type());
  const Tensor expected = infer(*network, input);
  EXPECT_EQ(expected.dtype(), type());
  EXPECT_TRUE(testing::all_finite(expected));
  EXPECT_TRUE(same_bits(infer(*loaded.network, input), expected));

  save_network(path_, *loaded.network, loaded.notes);
  EXPECT_TRUE(read_raw(path_) == bytes);  // no EXPECT_EQ: it would print them
}

TEST_P(ModelFileOf, CopyIsEqualAndIndependent) {
  const ModelConfig config = config_of(example());
  const auto network = used_network(config, type());
  const auto copy = models::copy_network(*network);
  EXPECT_EQ(copy->config(), config);
  EXPECT_EQ(copy->dtype(), type());
  const State before = network->state();
  expect_same_state(copy->state(), before);
  for (const auto& p : copy->parameters()) {
    ASSERT_NE(p->value.gradient(), nullptr);
    EXPECT_FALSE(p->grad().defined());
  }
  const ModelInput input = input_for(config, type());
  const Tensor expected = infer(*network, input);
  EXPECT_TRUE(same_bits(infer(*copy, input), expected));
  testing::fill_values(*network, 0.5);
  EXPECT_FALSE(same_bits(infer(*network, input), expected));
  EXPECT_TRUE(same_bits(infer(*copy, input), expected));
  expect_same_state(copy->state(), before);
  // And it learns: layers see the parameters that the optimizer does.
  Tape tape = Tape::training(0);
  const Tensor y = copy->forward(tape, input);
  tape.backward(y, Tensor::full(y.rows(), y.columns(), type(), 1));
  for (const auto& p : network->parameters()) EXPECT_FALSE(p->grad().defined());
  EXPECT_TRUE(copy->parameters()[0]->grad().defined());
}

INSTANTIATE_TEST_SUITE_P(ModelFile, ModelFileOf,
                         ::testing::Combine(::testing::ValuesIn(kExamples),
                                            ::testing::Values(DType::kF32, DType::kF64)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) == DType::kF64 ? "Double" : "Float");
                         });

void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

// Networks that are as good as any other, though small or unusual.
void expect_round_trip(const fs::path& path, const char* json) {
  const ModelConfig config = parse_model_config(json, "test");
  const auto network = used_network(config);
  save_network(path, *network);
  try {
    const auto loaded = load_network(path);
    expect_same_state(loaded.network->state(), network->state());
    const ModelInput input = input_for(config);
    EXPECT_TRUE(same_bits(infer(*loaded.network, input), infer(*network, input))) << json;
  } catch (const std::exception& e) {
    ADD_FAILURE() << json << "\n" << e.what();
  }
}

// Fewer tensors than the defaults of towers and sequence_length, which these do not have.
TEST_F(ModelFile, NetworksOfFewTensorsLoad) {
  for (const char* model : {"gcn", "mlp", "gin", "sage", "egc-s", "gat"})
    expect_round_trip(
        path_, fmt::format(R"({{"task":"node-classification","model":"{}","hidden":8,"layers":1,
                               "outputs":4,"encoder":"none","features":3,"residual":false}})",
                           model)
                   .c_str());
}

TEST_F(ModelFile, NumbersThatTheModelDoesNotUseMayBeLarge) {
  expect_round_trip(path_,
                    R"({"model":"gcn","hidden":8,"layers":1,"features":3,"sequence_length":1000})");
  // The powers of the graph have no tensors.
  expect_round_trip(path_, R"({"model":"ga-mlp","hidden":8,"layers":40,"features":3})");
}

// Relational layers on an ordinary graph, evaluated where an epilogue could be folded.
TEST_F(ModelFile, RelationalLayersOnOrdinaryGraphsEvaluate) {
  for (const char* model : {"rgcn", "regc"})
    for (const char* norm : {"true", "false"}) {
      const std::string json = fmt::format(
          R"({{"model":"{}","hidden":8,"layers":1,"features":3,"norm":{}}})", model, norm);
      const ModelConfig config = parse_model_config(json, "test");
      const auto network = used_network(config);
      EXPECT_NO_THROW(infer(*network, input_for(config))) << json;
    }
}

TEST_F(ModelFile, ReservedNotesAreRefused) {
  const auto network = used_network(config_of(kExamples[1]));
  for (const char* name : {"format", "config", "checksum"})
    expect_error(ErrorKind::kUsage, {"save_network", fmt::format("\"{}\"", name)}, [&] {
      save_network(path_, *network, {{"fine", "x"}, {name, ""}});
    });
  EXPECT_EQ(files(), 0U);
}

TEST_F(ModelFile, NotesThatAreNotUtf8AreRefused) {
  const auto network = used_network(config_of(kExamples[1]));
  expect_error(ErrorKind::kUsage, {"UTF-8"}, [&] {
    save_network(path_, *network, {{"note", "\xff"}});
  });
  EXPECT_EQ(files(), 0U);
}

TEST_F(ModelFile, TypesThatAreNotComputedWithAreRefused) {
  const auto network = used_network(config_of(kExamples[1]));
  for (const DType type : {DType::kBF16, DType::kF16, DType::kI64})
    expect_error(ErrorKind::kUsage, {"float32 or float64", std::string(spelled_name_of(type))},
                 [&] { network->to(type); });
  EXPECT_EQ(network->dtype(), DType::kF32);
}

// One wrong tensor, wherever it is, and none of the others is taken.
TEST_F(ModelFile, AStateThatDoesNotFitChangesNothing) {
  const ModelConfig config = config_of(kExamples[0]);
  const State good = used_network(config)->state();
  const auto network = testing::new_network(config);
  const State before = network->state();
  const auto refused = [&](const State& state, const std::string& part) {
    expect_error(ErrorKind::kModel, {"over there", part},
                 [&] { network->load_state(state, "over there"); });
    expect_same_state(network->state(), before);
  };
  for (const auto& [name, array] : good) {
    State state = good;
    state.erase(name);
    refused(state, fmt::format("the tensor \"{}\" is missing", name));
    state[name + ".more"] = array;
    refused(state, fmt::format("no tensor \"{}.more\"", name));
    state = good;
    state[name] = testing::ones({array.numel() + 1});
    refused(state, fmt::format("\"{}\" must be {}, got [{}]", name, spell_shape(array.shape()),
                               array.numel() + 1));
  }
  network->load_state(good, "over there");
  expect_same_state(network->state(), good);
}

// Into the network's own types.
TEST_F(ModelFile, StatesOfOtherTypesAreConverted) {
  const ModelConfig config = config_of(kExamples[0]);
  const State good = used_network(config)->state();
  const auto network = testing::new_network(config);
  State wide = good;
  for (auto& [name, array] : wide)
    array = array.to(array.dtype() == DType::kI64 ? DType::kI32 : DType::kF64);
  network->load_state(wide, "test");
  expect_same_state(network->state(), good);
  network->to(DType::kF64);
  network->load_state(good, "test");
  for (const auto& [name, array] : network->state())
    EXPECT_TRUE(array.equals(good.at(name).to(array.dtype()))) << name;
  EXPECT_EQ(network->dtype(), DType::kF64);
}

TEST_F(ModelFile, HalfPrecisionOfMatricesOnly) {
  const auto network = used_network(config_of(kExamples[1]));
  save_network(path_, *network, {}, models::Storage::kHalf);
  const auto loaded = load_network(path_).network;
  State want = network->state();
  for (auto& [name, array] : want)
    if (array.dim() >= 2) array = array.to(DType::kF16).to(DType::kF32);
  expect_same_state(loaded->state(), want);
  testing::fill_values(*network, 1e5);
  expect_error(ErrorKind::kUsage, {"weight", "65504"},
               [&] { save_network(path_, *network, {}, models::Storage::kHalf); });
}

TEST_F(ModelFile, SavingReplacesAFile) {
  write_raw(path_, "something else");
  const auto network = used_network(config_of(kExamples[1]));
  save_network(path_, *network);
  expect_same_state(load_network(path_).network->state(), network->state());
  EXPECT_EQ(files(), 1U);
}

TEST_F(ModelFile, SavingWithoutADirectoryIsTheSystemsFault) {
  const auto network = used_network(config_of(kExamples[1]));
  expect_error(ErrorKind::kSystem, {"missing"},
               [&] { save_network(directory_ / "missing" / "model", *network); });
}

TEST_F(ModelFile, MissingFilesAreTheSystemsFault) {
  expect_error(ErrorKind::kSystem, {path_.string()}, [&] { load_network(path_); });
  expect_error(ErrorKind::kSystem, {directory_.string()}, [&] { load_network(directory_); });
}

// ---- damage ----

// Small, so that much of it can be damaged in a moment.
constexpr const char* kSmall =
    R"({"task":"node-classification","model":"egc-s","hidden":4,"layers":1,"outputs":2,
        "features":2,"heads":2,"bases":1})";

class DamagedFile : public ModelFile {
 protected:
  DamagedFile() {
    save_network(path_, *used_network(parse_model_config(kSmall, "test")), {{"note", "kept"}});
    whole_ = read_raw(path_);
  }
  size_t header_end() const {
    uint64_t length = 0;
    std::memcpy(&length, whole_.data(), 8);
    return 8 + length;
  }

  std::string whole_;
};

TEST_F(DamagedFile, UndamagedItLoads) {
  EXPECT_NO_THROW(load_network(path_));
  rewrite([](Parts&) {});
  EXPECT_TRUE(read_raw(path_) == whole_);
  EXPECT_EQ(load_network(path_).notes, (Notes{{"note", "kept"}}));
}

TEST_F(DamagedFile, EveryTruncationIsRefused) {
  for (size_t size = whole_.size(); size-- > 0;) {
    fs::resize_file(path_, size);
    ASSERT_TRUE(refused()) << size;
  }
}

TEST_F(DamagedFile, EveryFlippedBitIsRefused) {
  const auto flipped_is_refused = [&](size_t bit) {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](char c) {
      file.seekp(static_cast<std::streamoff>(bit / 8));
      file.put(c).flush();
    };
    put(static_cast<char>(whole_[bit / 8] ^ 1 << bit % 8));
    const auto result = refused();
    put(whole_[bit / 8]);
    return result;
  };
  for (size_t bit = 0; bit < 8 * whole_.size(); ++bit)
    ASSERT_TRUE(flipped_is_refused(bit))
        << "bit " << bit % 8 << " of byte " << bit / 8 << ", '" << whole_[bit / 8] << "'";
  EXPECT_NO_THROW(load_network(path_));  // every bit was put back
}

TEST_F(DamagedFile, AppendedBytesAreRefused) {
  for (const size_t count : {1, 3, 4, 8, 100, 4096})
    for (const char c : {'\0', ' ', '}', '\xff'}) {
      write_raw(path_, whole_ + std::string(count, c));
      EXPECT_TRUE(refused("belong to no tensor")) << count;
    }
  write_raw(path_, whole_ + whole_);
  EXPECT_TRUE(refused());
}

TEST_F(DamagedFile, AWrongHeaderLengthIsRefused) {
  const uint64_t right = header_end() - 8;
  for (const uint64_t length :
       {uint64_t{0}, uint64_t{1}, right - 1, right - 8, right + 1, right + 8, whole_.size() - 8,
        whole_.size() - 7, whole_.size(), uint64_t{100} << 20, uint64_t{1} << 31, uint64_t{1} << 32,
        uint64_t{1} << 40, uint64_t{1} << 62, uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{7}}) {
    // Blanks before the data would be a shorter header that says the same.
    if (length < right && whole_[8 + length] == ' ') continue;
    std::string bytes = whole_;
    std::memcpy(bytes.data(), &length, 8);
    write_raw(path_, bytes);
    EXPECT_TRUE(refused()) << length;
  }
}

TEST_F(DamagedFile, ExchangedBytesAreRefused) {
  for (size_t at = 8; at + 1 < whole_.size(); ++at) {
    if (whole_[at] == whole_[at + 1]) continue;
    // The header's padding: a blank before the last brace says the same.
    if (at + 1 < header_end() && whole_[at + 1] == ' ') continue;
    std::string bytes = whole_;
    std::swap(bytes[at], bytes[at + 1]);
    write_raw(path_, bytes);
    ASSERT_TRUE(refused()) << at;
  }
}

TEST_F(DamagedFile, TheChecksumCoversEverything) {
  const auto stale = [&](const std::function<void(Parts&)>& change) {
    write_raw(path_, whole_);
    Parts parts(path_);
    change(parts);
    parts.write_as_is(path_);
    return refused("corrupt");
  };
  EXPECT_TRUE(stale([](Parts& p) { p.metadata["note"] = "Kept"; }));
  EXPECT_TRUE(stale([](Parts& p) { p.metadata.erase("note"); }));
  EXPECT_TRUE(stale([](Parts& p) { p.metadata["more"] = ""; }));
  EXPECT_TRUE(stale([](Parts& p) { p.metadata["config"] += " "; }));
  EXPECT_TRUE(stale([](Parts& p) { p.metadata["checksum"] = ""; }));
  EXPECT_TRUE(stale([](Parts& p) { p.metadata["checksum"] += " "; }));
  EXPECT_TRUE(stale([](Parts& p) { p.tensors.begin()->second.data[0] ^= std::byte{1}; }));
  EXPECT_TRUE(stale([](Parts& p) {
    auto& shape = p.tensors.at("encoder.lin.weight").shape;
    std::swap(shape.at(0), shape.at(1));
  }));
  // Bytes that move from the name of a note to its text.
  EXPECT_TRUE(stale([](Parts& p) {
    p.metadata.erase("note");
    p.metadata["notek"] = "ept";
  }));
  // Tensors of the same size that change their places.
  EXPECT_TRUE(stale([](Parts& p) {
    std::swap(p.tensors.at("body.blocks.0.norm.running_mean").data,
              p.tensors.at("body.blocks.0.norm.running_var").data);
  }));
}

TEST_F(DamagedFile, WhatIsNoModelIsRefused) {
  for (const std::string& bytes :
       {std::string(), std::string("PK\3\4 a zip archive with a model"), std::string(4096, '\0'),
        std::string(4096, '\xff'), std::string("{\"hidden\": 8}"), std::string(100, '\n')}) {
    write_raw(path_, bytes);
    EXPECT_TRUE(refused()) << bytes.size();
  }
  write_safetensors(path_, {});
  EXPECT_TRUE(refused("not a model written by egc"));
  for (const char* key : {"format", "config", "checksum"}) {
    write_raw(path_, whole_);
    Parts parts(path_);
    parts.metadata.erase(key);
    parts.write_as_is(path_);
    EXPECT_TRUE(refused(fmt::format("\"{}\"", key))) << key;
  }
  for (const char* format : {"", "egc-model-2", "egc-model-1 ", "pt"}) {
    write_raw(path_, whole_);
    rewrite([&](Parts& p) { p.metadata["format"] = format; });
    EXPECT_TRUE(refused("egc-model-1")) << format;
  }
}

TEST_F(DamagedFile, MissingTensorsAreRefused) {
  const Parts good(path_);
  for (const auto& [name, tensor] : good.tensors) {
    write_raw(path_, whole_);
    rewrite([&, key = name](Parts& p) { p.tensors.erase(key); });
    EXPECT_TRUE(refused()) << name;
  }
  rewrite([](Parts& p) { p.tensors.clear(); });
  EXPECT_TRUE(refused());
}

TEST_F(DamagedFile, AMissingTensorIsNamed) {
  rewrite([](Parts& p) {
    p.tensors["head.lin.extra"] = p.tensors.at("head.lin.bias");
    p.tensors.erase("head.lin.bias");
  });
  EXPECT_TRUE(refused("\"head.lin.extra\""));
  write_raw(path_, whole_);
  // The number of values is right, so only the names tell.
  rewrite([](Parts& p) { p.tensors.erase("body.blocks.0.norm.num_batches_tracked"); });
  EXPECT_TRUE(refused("\"body.blocks.0.norm.num_batches_tracked\""));
}

TEST_F(DamagedFile, ExtraTensorsAreRefused) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const std::vector<std::byte> four(4);
  const std::map<std::string, Parts::Tensor> extras = {
      {"extra", {DType::kF32, {1}, four}},
      {"", {DType::kF32, {}, four}},
      {"head.lin.bias.", {DType::kI32, {1, 1}, four}},
      {"head.lin", {DType::kU8, {4}, four}},
      {"half", {DType::kF16, {2}, four}},
      {"empty", {DType::kF64, {0}, {}}},
      // No bytes, and extents whose product does not fit 64 bits.
      {"wide", {DType::kF32, {0, kHuge, kHuge}, {}}},
      {"wider", {DType::kF32, {0, kHuge, kHuge, kHuge, 3}, {}}},
      {"deep", {DType::kF32, std::vector<int64_t>(100, 1), four}},
      {"deeper", {DType::kF32, std::vector<int64_t>(5000, 1), four}},
  };
  for (const auto& [name, tensor] : extras) {
    write_raw(path_, whole_);
    rewrite([&, key = name, value = tensor](Parts& p) { p.tensors[key] = value; });
    EXPECT_TRUE(refused(fmt::format("\"{}\"", name))) << name;
  }
}

TEST_F(DamagedFile, WrongShapesAreRefused) {
  const Parts good(path_);
  int count = 0;
  for (const auto& [name, tensor] : good.tensors) {
    const auto values = static_cast<int64_t>(tensor.data.size() / size_of(tensor.dtype));
    if (values == 1) continue;  // a single value may come in any shape
    std::vector<std::vector<int64_t>> shapes = {{values, 1}, {1, values}, {1, 1, values}};
    if (tensor.shape.size() == 2) {
      shapes.push_back({values});
      if (tensor.shape[0] != tensor.shape[1]) shapes.push_back({tensor.shape[1], tensor.shape[0]});
    }
    for (const auto& shape : shapes) {
      if (shape == tensor.shape) continue;
      write_raw(path_, whole_);
      rewrite([&, key = name](Parts& p) { p.tensors.at(key).shape = shape; });
      EXPECT_TRUE(refused(fmt::format("\"{}\" must be", name))) << name;
      ++count;
    }
    // One value less and one more.
    for (const int64_t more : {-1, 1}) {
      write_raw(path_, whole_);
      rewrite([&, key = name](Parts& p) {
        auto& t = p.tensors.at(key);
        t.shape = {values + more};
        t.data.resize(static_cast<size_t>(values + more) * size_of(t.dtype));
      });
      EXPECT_TRUE(refused()) << name << " " << more;
    }
  }
  EXPECT_GE(count, 20);
}

// Whatever the types are, the answer is a network or an error of ours.
TEST_F(DamagedFile, OtherTypesNeverCrash) {
  const Parts good(path_);
  for (const auto& [name, tensor] : good.tensors)
    for (const DType type : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64,
                             DType::kI32, DType::kI16, DType::kI8, DType::kU8, DType::kBool}) {
      write_raw(path_, whole_);
      rewrite([&, key = name](Parts& p) {
        auto& t = p.tensors.at(key);
        t.data.resize(t.data.size() / size_of(t.dtype) * size_of(type));
        t.dtype = type;
      });
      try {
        load_network(path_);
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::kModel) << e.what();
      } catch (const std::exception& e) {
        ADD_FAILURE() << name << ": " << e.what();
      }
    }
}

// ---- hostile configurations: the checksum is right ----

TEST_F(DamagedFile, BadConfigurationsAreRefused) {
  const std::string good = Parts(path_).metadata.at("config");
  for (const std::string& config :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("{}"),
        good + "}", good + good, good.substr(0, good.size() - 1),
        good.substr(0, good.size() - 1) + ",\"extra\":1}",
        good.substr(0, good.size() - 1) + ",\"hidden\":4}", std::string(100'000, '['),
        std::string("{\"hidden\":1e400}"), good + std::string("\0{", 2)}) {
    write_raw(path_, whole_);
    rewrite([&](Parts& p) { p.metadata["config"] = config; });
    EXPECT_TRUE(refused()) << config.substr(0, 200);
  }
}

TEST_F(DamagedFile, ADeeplyNestedConfigurationDoesNotExhaustTheStack) {
  rewrite([](Parts& p) {
    p.metadata["config"] =
        "{\"hidden\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  });
  // In a process of its own, so that an overflow is a failure here and not the end of all tests.
  const auto load = [&] {
    try {
      load_network(path_);
    } catch (const Error&) {
      std::_Exit(0);
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(load(), ::testing::ExitedWithCode(0), "");
}

TEST_F(DamagedFile, TheConfigurationOfAnotherNetworkIsRefused) {
  for (const Example& example : kExamples) {
    write_raw(path_, whole_);
    rewrite([&](Parts& p) { p.metadata["config"] = to_json(config_of(example)); });
    EXPECT_TRUE(refused()) << example.name;
  }
}

// This process may not map more than some bytes beyond what it has: an allocation of what the
// configuration asks for becomes an exception that is not ours.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(rlim_t more) {
    getrlimit(RLIMIT_AS, &before_);
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit{pages * 4096 + more, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};
constexpr rlim_t kEnough = rlim_t{256} << 20;

// A configuration that asks for enormous sizes is refused or, where the model does not use the
// number, changes nothing.
TEST_F(ModelFile, EnormousSizesAreRefusedOrDoNotMatter) {
  int refusals = 0;
  for (const Example& example : kExamples) {
    const ModelConfig config = config_of(example);
    const ModelInput input = input_for(config);
    const auto network = used_network(config);
    const Tensor expected = infer(*network, input);
    save_network(path_, *network);
    const std::string whole = read_raw(path_);
    const AddressSpaceLimit limit(kEnough);
    for (const char* key : {"hidden", "layers", "outputs", "features", "categories",
                            "embedded_nodes", "sequence_length", "towers", "heads", "bases"})
      for (const int64_t value :
           {int64_t{1'000'000}, int64_t{1'000'000'000}, int64_t{1'000'000'000'000}}) {
        Json json = Json::parse(to_json(config));
        const bool list =
            std::string_view(key) == "categories" || std::string_view(key) == "embedded_nodes";
        if (list && !json.contains(key)) continue;
        if (list)
          json[key][0] = value;
        else
          json[key] = value;
        write_raw(path_, whole);
        rewrite([&](Parts& p) { p.metadata["config"] = json.dump(); });
        SCOPED_TRACE(fmt::format("{}, {} = {}", example.name, key, value));
        const auto start = std::chrono::steady_clock::now();
        try {
          const auto loaded = load_network(path_);
          EXPECT_TRUE(same_bits(infer(*loaded.network, input), expected));
        } catch (const Error& e) {
          EXPECT_EQ(e.kind(), ErrorKind::kModel) << e.what();
          ++refusals;
        } catch (const std::exception& e) {
          ADD_FAILURE() << e.what();
        }
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
      }
  }
  EXPECT_GE(refusals, 14 * 4 * 3);
}

struct Hostile {
  const char* name;
  const char* example;
  const char* key;
  const char* value;
};

// Those that the model does use: refused, never ignored.
constexpr Hostile kHostile[] = {
    {"Hidden", "RegressionEmbeddingEgcM", "hidden", "1000000"},
    {"HiddenOfGat", "ClassificationLinearGat", "hidden", "1000000"},
    {"HiddenGreatest", "RegressionGaMlp", "hidden", "9223372036854775806"},
    {"HiddenOfHetero", "HeteroRegc", "hidden", "1000000"},
    {"Layers", "RegressionEmbeddingEgcM", "layers", "1000000000"},
    {"LayersOfGaMlp", "RegressionGaMlp", "layers", "1000000000"},
    {"LayersOfHetero", "HeteroRgcn", "layers", "1000000000"},
    {"LayersGreatest", "RegressionGaMlp", "layers", "9223372036854775807"},
    {"Outputs", "SequenceAstPna", "outputs", "1000000000000"},
    {"OutputsOfHetero", "HeteroRgcn", "outputs", "9223372036854775807"},
    {"Features", "NodesLinearMpnnMax", "features", "1000000000000"},
    {"FeaturesOfHetero", "HeteroRegc", "features", "9223372036854775807"},
    {"FeaturesOfBare", "NodesBareEgcM", "features", "9223372036854775807"},
    {"Categories", "RegressionEmbeddingEgcM", "categories", "[1000000000000,3]"},
    {"CategoriesOfAtom", "BinaryAtomGatv2", "categories", "[2,7,1000000000000]"},
    {"CategoriesGreatest", "BinaryAtomGatv2", "categories", "[9223372036854775807]"},
    {"EmbeddedNodes", "HeteroRegc", "embedded_nodes", "[1000000000000,0]"},
    {"EmbeddedNodesGreatest", "HeteroRgcn", "embedded_nodes", "[5,9223372036854775807]"},
    {"SequenceLength", "SequenceAstPna", "sequence_length", "1000000000"},
    {"SequenceLengthGreatest", "SequenceAstPna", "sequence_length", "9223372036854775807"},
    {"Towers", "SequenceAstPna", "towers", "1000000000"},
    {"TowersOfMpnn", "NodesLinearMpnnMax", "towers", "1000000000"},
    {"Heads", "RegressionEmbeddingEgcM", "heads", "1000000000"},
    {"HeadsOfGat", "ClassificationLinearGat", "heads", "1000000000"},
    {"HeadsOfRegc", "HeteroRegc", "heads", "1000000000"},
    {"Bases", "RegressionEmbeddingEgcM", "bases", "1000000000"},
    {"BasesOfRegc", "HeteroRegc", "bases", "1000000000"},
    // Sums and products that wrap in 64 bits: to nothing, to something negative ...
    {"CategoriesWrapToZero", "RegressionEmbeddingEgcM", "categories",
     "[4611686018427387904,4611686018427387904,4611686018427387904,4611686018427387904]"},
    {"CategoriesWrapToEight", "RegressionEmbeddingEgcM", "categories",
     "[9223372036854775807,9223372036854775807,10]"},
    {"CategoriesWrapToMinus", "RegressionEmbeddingEgcM", "categories",
     "[9223372036854775807,9223372036854775807,1]"},
    {"BasesWrapToZero", "RegressionLinearEgcS", "bases", "4611686018427387904"},
    {"BasesWrapToMinus", "RegressionLinearEgcS", "bases", "2305843009213693951"},
    {"BasesGreatest", "RegressionLinearEgcS", "bases", "9223372036854775807"},
    // ... and to the very shapes of the file: eight heads of width eight with one basis, four of
    // width four with two, four powers of width eight.
    {"BasesWrapToOne", "RegressionLinearEgcS", "bases", "2305843009213693953"},
    {"BasesOfRegcWrapToTwo", "HeteroRegc", "bases", "4611686018427387906"},
    {"LayersOfGaMlpWrapToThree", "RegressionGaMlp", "layers", "2305843009213693955"},
};

class HostileConfig : public ModelFile, public ::testing::WithParamInterface<Hostile> {};

TEST_P(HostileConfig, IsRefused) {
  for (const Example& example : kExamples) {
    if (std::string_view(example.name) != GetParam().example) continue;
    save_network(path_, *used_network(config_of(example)));
    ASSERT_NO_THROW(load_network(path_));
    rewrite([](Parts& p) {
      Json json = p.config();
      json[GetParam().key] = Json::parse(GetParam().value);
      p.metadata["config"] = json.dump();
    });
    const AddressSpaceLimit limit(kEnough);
    EXPECT_TRUE(refused());
    return;
  }
  FAIL() << "no such example";
}

INSTANTIATE_TEST_SUITE_P(ModelFile, HostileConfig, ::testing::ValuesIn(kHostile),
                         [](const auto& info) { return std::string(info.param.name); });

void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

// Tensors of no values that fit the wrapped products: nothing is left to compare.
TEST_F(ModelFile, EmptyTensorsDoNotMakeAHugeBasisFit) {
  save_network(path_, *used_network(config_of(kExamples[1])));
  rewrite([](Parts& p) {
    Json json = p.config();
    json["bases"] = int64_t{1} << 62;
    p.metadata["config"] = json.dump();
    for (const char* name : {"bases_lin.weight", "comb_lin.weight", "comb_lin.bias"}) {
      auto& t = p.tensors.at(std::string("body.blocks.0.conv.") + name);
      t.shape[0] = 0;
      t.data.clear();
    }
  });
  EXPECT_TRUE(refused());
}

// After a refusal the limit on parameters must be gone.
TEST_F(ModelFile, ARefusedFileDoesNotLimitTheNextNetwork) {
  save_network(path_, *used_network(config_of(kExamples[0])));
  rewrite([](Parts& p) {
    Json json = p.config();
    json["hidden"] = 1'000'000;
    p.metadata["config"] = json.dump();
  });
  EXPECT_TRUE(refused());
  EXPECT_NO_THROW(make_network(parse_model_config(R"({"hidden":256,"features":64})", "test")));
}

}  // namespace
}  // namespace egc
