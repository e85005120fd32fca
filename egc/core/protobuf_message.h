// Bytes of a protobuf message, written field by field. Two file formats need no more of protobuf,
// and libprotobuf, loaded beside that of torch or TensorFlow, is a source of conflicts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace egc {

class ProtobufMessage {
 public:
  // Integers and enumerations. Negative ones take ten bytes, as in protobuf.
  ProtobufMessage& add_integer(int field, int64_t value) {
    add_key(field, kVarint);
    add_varint(static_cast<uint64_t>(value));
    return *this;
  }
  ProtobufMessage& add_float(int field, float value) { return add_fixed(field, kFixed32, value); }
  ProtobufMessage& add_double(int field, double value) { return add_fixed(field, kFixed64, value); }
  // Strings, bytes and messages; repeated fields are added one by one.
  ProtobufMessage& add(int field, std::string_view value) {
    add_key(field, kLengthDelimited);
    add_varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufMessage& add(int field, const ProtobufMessage& value) { return add(field, value.bytes_); }
  // The fields of another message of the same type.
  ProtobufMessage& append(const ProtobufMessage& fields) {
    bytes_ += fields.bytes_;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

  void add_key(int field, WireType type) { add_varint(static_cast<uint64_t>(field) << 3 | type); }
  void add_varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  template <class T>
  ProtobufMessage& add_fixed(int field, WireType type, T value) {
    add_key(field, type);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }

  std::string bytes_;
};

}  // namespace egc
