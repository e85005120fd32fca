#include "egc/train/event_file.h"

#include <chrono>
#include <cmath>

#include "egc/core/atomic_file.h"
#include "egc/core/crc32.h"
#include "egc/core/protobuf_message.h"

namespace egc::train {
namespace {

// Fields of TensorFlow's event.proto and summary.proto, as far as scalars need them.
namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
}
namespace summary {
constexpr int kValue = 1, kTag = 1, kSimpleValue = 2;
}

template <class T>
void append_bytes(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// As TensorFlow masks it, so that a checksum of a checksum is none.
uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

std::string framed(const ProtobufMessage& event) {
  const std::string& data = event.bytes();
  std::string out;
  append_bytes(out, static_cast<uint64_t>(data.size()));
  append_bytes(out, masked(crc32c(out)));
  out += data;
  append_bytes(out, masked(crc32c(data)));
  return out;
}

std::string framed(const EpochRecord& r, double wall_time) {
  ProtobufMessage scalars;
  const auto add = [&](const char* tag, double value) {
    if (std::isnan(value)) return;
    ProtobufMessage scalar;
    scalar.add(summary::kTag, tag).add_float(summary::kSimpleValue, static_cast<float>(value));
    scalars.add(summary::kValue, scalar);
  };
  add("loss/train", r.train_loss);
  add("loss/valid", r.valid_loss);
  add("score/valid", r.valid);
  add("learning_rate", r.lr);
  add("seconds", r.seconds);
  ProtobufMessage event;
  event.add_double(event::kWallTime, wall_time).add_integer(event::kStep, r.epoch);
  event.add(event::kSummary, scalars);
  return framed(event);
}

}  // namespace

EventFile::EventFile(std::filesystem::path path, std::span<const EpochRecord> history)
    : path_(std::move(path)) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  wall_time_ = std::chrono::duration<double>(now).count();
  for (const EpochRecord& record : history) wall_time_ -= record.seconds;
  ProtobufMessage first;
  first.add_double(event::kWallTime, wall_time_).add(event::kFileVersion, "brain.Event:2");
  std::string text = framed(first);
  for (const EpochRecord& record : history) text += framed(record, wall_time_ += record.seconds);
  write_whole_file(path_, text, Sync::kNo);
}

void EventFile::add(const EpochRecord& record) {
  append_to_file(path_, framed(record, wall_time_ += record.seconds));
}

}  // namespace egc::train
