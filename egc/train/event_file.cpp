#include "egc/train/event_file.h"

#include <chrono>
#include <cmath>

#include "egc/core/atomic_file.h"
#include "egc/core/crc32.h"
#include "egc/train/event.pb.h"

namespace egc::train {
namespace {

template <class T>
void append_bytes(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// As TensorFlow masks it, so that a checksum of a checksum is none.
uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

std::string framed(const tensorboard::Event& event) {
  const std::string data = event.SerializeAsString();
  std::string out;
  append_bytes(out, static_cast<uint64_t>(data.size()));
  append_bytes(out, masked(crc32c(out)));
  out += data;
  append_bytes(out, masked(crc32c(data)));
  return out;
}

std::string framed(const EpochRecord& r, double wall_time) {
  tensorboard::Event event;
  event.set_wall_time(wall_time);
  event.set_step(r.epoch);
  const auto add = [&](const char* tag, double value) {
    if (std::isnan(value)) return;
    auto* to = event.mutable_summary()->add_value();
    to->set_tag(tag);
    to->set_simple_value(static_cast<float>(value));
  };
  add("loss/train", r.train_loss);
  add("loss/valid", r.valid_loss);
  add("score/valid", r.valid);
  add("learning_rate", r.lr);
  add("seconds", r.seconds);
  return framed(event);
}

}  // namespace

EventFile::EventFile(std::filesystem::path path, std::span<const EpochRecord> history)
    : path_(std::move(path)) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  wall_time_ = std::chrono::duration<double>(now).count();
  for (const EpochRecord& record : history) wall_time_ -= record.seconds;
  tensorboard::Event first;
  first.set_wall_time(wall_time_);
  first.set_file_version("brain.Event:2");
  std::string text = framed(first);
  for (const EpochRecord& record : history) text += framed(record, wall_time_ += record.seconds);
  write_whole_file(path_, text, Sync::kNo);
}

void EventFile::add(const EpochRecord& record) {
  append_to_file(path_, framed(record, wall_time_ += record.seconds));
}

}  // namespace egc::train
