#include "egc/data/formats/pickle.h"
#include "egc/data/formats/from_chars.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <map>

namespace egc::data {

const PyValue* PyValue::find(std::string_view key) const {
  if (kind != Kind::kDict) return nullptr;
  for (size_t k = 0; k + 1 < items.size(); k += 2)
    if (items[k]->is(Kind::kText) && items[k]->text == key) return items[k + 1];
  return nullptr;
}

bool PyValue::is_call(std::string_view global) const {
  return kind == Kind::kCall && items.size() >= 2 && items[0]->is(Kind::kGlobal) &&
         items[0]->text == global && items[1]->is(Kind::kTuple);
}

using Kind = PyValue::Kind;

// The machine that a pickle is a program for: a stack, a memo, and marks.
class PickleReader {
 public:
  PickleReader(Pickle& to, std::string_view bytes, const std::string& where, ErrorKind kind)
      : to_(to), bytes_(bytes), where_(where), kind_(kind) {}

  void run() {
    for (;;) {
      const auto code = static_cast<unsigned char>(take(1)[0]);
      if (code == '.') break;
      step(code);
    }
    to_.root_ = pop();
    to_.used_ = at_;
  }

 private:
  [[noreturn]] void bad(const char* what) const {
    fail(kind_, "{}: not a readable pickle file: {} at byte {}", where_, what, at_);
  }

  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - at_) bad("unexpected end");
    const std::string_view out = bytes_.substr(at_, size);
    at_ += size;
    return out;
  }
  template <class T>
  T take_number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view take_line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) bad("unterminated line");
    const std::string_view out = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return out.ends_with('\r') ? out.substr(0, out.size() - 1) : out;
  }

  PyValue* push(Kind kind) {
    PyValue& value = to_.values_.emplace_back();
    value.kind = kind;
    stack_.push_back(&value);
    return &value;
  }
  void push_int(int64_t number) { push(Kind::kInt)->number = number; }
  void push_text(Kind kind, std::string_view text) { push(kind)->text = text; }
  std::string_view keep(std::string text) { return to_.texts_.emplace_back(std::move(text)); }

  PyValue* pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() == marks_.back()))
      bad("the stack is empty");
    PyValue* out = stack_.back();
    stack_.pop_back();
    return out;
  }
  PyValue* top() {
    if (stack_.empty()) bad("the stack is empty");
    return stack_.back();
  }
  // What was pushed since the last mark.
  std::vector<const PyValue*> pop_mark() {
    if (marks_.empty()) bad("no mark on the stack");
    const size_t mark = marks_.back();
    marks_.pop_back();
    if (mark > stack_.size()) bad("the stack is empty");
    const std::vector<const PyValue*> out(stack_.begin() + static_cast<ptrdiff_t>(mark),
                                          stack_.end());
    stack_.resize(mark);
    return out;
  }
  void push_tuple(size_t count) {
    std::vector<const PyValue*> items(count);
    for (size_t k = count; k > 0; --k) items[k - 1] = pop();
    push(Kind::kTuple)->items = std::move(items);
  }

  // What list and dictionary operators add to: the thing itself, or a call that made one.
  void extend(PyValue* to, Kind kind, const std::vector<const PyValue*>& items) {
    if (to->kind != kind && to->kind != Kind::kCall) bad("items for something that has none");
    if (kind == Kind::kDict && items.size() % 2 != 0) bad("a key without a value");
    if (to->kind == Kind::kCall) return;  // an object's own list or dictionary: not ours to read
    to->items.insert(to->items.end(), items.begin(), items.end());
  }

  void push_call(const PyValue* callable, const PyValue* arguments) {
    // The one class that is data: state dictionaries are OrderedDicts, filled item by item.
    const bool dictionary = callable->is(Kind::kGlobal) &&
                            callable->text == "collections OrderedDict" &&
                            arguments->is(Kind::kTuple) && arguments->items.empty();
    if (dictionary)
      push(Kind::kDict);
    else
      push(Kind::kCall)->items = {callable, arguments};
  }

  void get(uint64_t index) {
    const auto it = memo_.find(index);
    if (it == memo_.end()) bad("an unknown memo");
    stack_.push_back(it->second);
  }

  // Two's complement, little endian. What does not fit 64 bits is kept as its bytes.
  void push_long(std::string_view digits) {
    if (digits.size() > 8) return push_text(Kind::kBytes, digits);
    uint64_t value = 0;
    for (size_t k = 0; k < digits.size(); ++k)
      value |= uint64_t{static_cast<unsigned char>(digits[k])} << (8 * k);
    const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
    if (negative && digits.size() < 8) value |= ~uint64_t{0} << (8 * digits.size());
    push_int(static_cast<int64_t>(value));
  }

  void push_decimal(std::string_view line) {
    if (line.ends_with('L')) line.remove_suffix(1);
    if (line == "00" || line == "01") {
      push(Kind::kBool)->number = line[1] - '0';
      return;
    }
    int64_t value = 0;
    const auto [next, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || next != line.data() + line.size()) bad("not a number of 64 bits");
    push_int(value);
  }

  void push_float(std::string_view line) {
    double value = 0;
    const auto [next, error] = data::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || next != line.data() + line.size()) bad("not a number");
    push(Kind::kFloat)->real = value;
  }

  // Protocol 0: a Python literal. Simple escapes are understood, others left as they are.
  void push_quoted(std::string_view line) {
    if (line.size() < 2 || (line[0] != '\'' && line[0] != '"') || line.back() != line[0])
      bad("a text without its quotes");
    line = line.substr(1, line.size() - 2);
    std::string out;
    for (size_t k = 0; k < line.size(); ++k) {
      if (line[k] != '\\' || k + 1 == line.size()) {
        out.push_back(line[k]);
        continue;
      }
      const char c = line[++k];
      unsigned value = 0;
      if (c == 'x' && k + 2 < line.size() &&
          std::from_chars(line.data() + k + 1, line.data() + k + 3, value, 16).ptr ==
              line.data() + k + 3) {
        out.push_back(static_cast<char>(value));
        k += 2;
      } else if (c == 'n') {
        out.push_back('\n');
      } else if (c == 't') {
        out.push_back('\t');
      } else if (c == 'r') {
        out.push_back('\r');
      } else {
        out.push_back(c);
      }
    }
    push_text(Kind::kText, keep(std::move(out)));
  }

  // Protocol 0: bytes are Latin-1, other characters \uXXXX or \UXXXXXXXX.
  void push_raw_unicode(std::string_view line) {
    std::string out;
    const auto add = [&](uint32_t c) {
      if (c < 0x80) {
        out.push_back(static_cast<char>(c));
        return;
      }
      if (c >= 0x110000) bad("not a character");
      const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      constexpr int kFirst[] = {0, 0xC0, 0xE0, 0xF0};
      out.push_back(static_cast<char>(kFirst[more] | (c >> (6 * more))));
      for (int k = more - 1; k >= 0; --k)
        out.push_back(static_cast<char>(0x80 | ((c >> (6 * k)) & 0x3F)));
    };
    for (size_t k = 0; k < line.size(); ++k) {
      const size_t digits = line[k] != '\\' || k + 1 == line.size() ? 0
                            : line[k + 1] == 'u'                    ? 4
                            : line[k + 1] == 'U'                    ? 8
                                                                    : 0;
      uint32_t value = 0;
      if (digits > 0 && k + 1 + digits < line.size()) {
        const char* first = line.data() + k + 2;
        if (std::from_chars(first, first + digits, value, 16).ptr != first + digits)
          bad("an escape without its digits");
        add(value);
        k += 1 + digits;
      } else {
        add(static_cast<unsigned char>(line[k]));
      }
    }
    push_text(Kind::kText, keep(std::move(out)));
  }

  void push_global(std::string_view module, std::string_view name) {
    push_text(Kind::kGlobal, keep(fmt::format("{} {}", module, name)));
  }

  void step(unsigned char code);
  bool step_scalar(unsigned char code);
  bool step_container(unsigned char code);
  bool step_object(unsigned char code);
  bool step_memo(unsigned char code);

  Pickle& to_;
  std::string_view bytes_;
  const std::string& where_;
  ErrorKind kind_;
  size_t at_ = 0;
  std::vector<PyValue*> stack_;
  std::vector<size_t> marks_;
  std::map<uint64_t, PyValue*> memo_;
};

void PickleReader::step(unsigned char code) {
  if (step_scalar(code) || step_container(code) || step_object(code) || step_memo(code)) return;
  bad(fmt::format("unknown operation 0x{:02x}", code).c_str());
}

// clang-format off
bool PickleReader::step_scalar(unsigned char code) {
  switch (code) {
    case 'N': push(Kind::kNone); return true;
    case 0x88: push(Kind::kBool)->number = 1; return true;
    case 0x89: push(Kind::kBool)->number = 0; return true;
    case 'I': push_decimal(take_line()); return true;
    case 'L': push_decimal(take_line()); return true;
    case 'J': push_int(take_number<int32_t>()); return true;
    case 'K': push_int(take_number<uint8_t>()); return true;
    case 'M': push_int(take_number<uint16_t>()); return true;
    case 0x8a: push_long(take(take_number<uint8_t>())); return true;
    case 0x8b: push_long(take(take_number<uint32_t>())); return true;
    case 'F': push_float(take_line()); return true;
    case 'G': {
      const auto bits = __builtin_bswap64(take_number<uint64_t>());
      push(Kind::kFloat)->real = std::bit_cast<double>(bits);
      return true;
    }
    case 'S': push_quoted(take_line()); return true;
    case 'V': push_raw_unicode(take_line()); return true;
    case 'T': push_text(Kind::kText, take(take_number<uint32_t>())); return true;
    case 'U': push_text(Kind::kText, take(take_number<uint8_t>())); return true;
    case 'X': push_text(Kind::kText, take(take_number<uint32_t>())); return true;
    case 0x8c: push_text(Kind::kText, take(take_number<uint8_t>())); return true;
    case 0x8d: push_text(Kind::kText, take(take_number<uint64_t>())); return true;
    case 'B': push_text(Kind::kBytes, take(take_number<uint32_t>())); return true;
    case 'C': push_text(Kind::kBytes, take(take_number<uint8_t>())); return true;
    case 0x8e: push_text(Kind::kBytes, take(take_number<uint64_t>())); return true;
    case 0x96: push_text(Kind::kBytes, take(take_number<uint64_t>())); return true;
    default: return false;
  }
}
// clang-format on

bool PickleReader::step_container(unsigned char code) {
  switch (code) {
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case '0':
      if (!marks_.empty() && stack_.size() == marks_.back())
        marks_.pop_back();
      else
        pop();
      return true;
    case '1':
      pop_mark();
      return true;
    case '2':
      stack_.push_back(top());
      return true;
    case ']':
      push(Kind::kList);
      return true;
    case '}':
      push(Kind::kDict);
      return true;
    case ')':
      push(Kind::kTuple);
      return true;
    case 0x8f:
      push(Kind::kSet);
      return true;
    case 'l': {
      auto items = pop_mark();
      push(Kind::kList)->items = std::move(items);
      return true;
    }
    case 'd': {
      const auto items = pop_mark();
      extend(push(Kind::kDict), Kind::kDict, items);
      return true;
    }
    case 't': {
      auto items = pop_mark();
      push(Kind::kTuple)->items = std::move(items);
      return true;
    }
    case 0x91: {
      auto items = pop_mark();
      push(Kind::kSet)->items = std::move(items);
      return true;
    }
    case 0x85:
      push_tuple(1);
      return true;
    case 0x86:
      push_tuple(2);
      return true;
    case 0x87:
      push_tuple(3);
      return true;
    case 'a': {
      const PyValue* item = pop();
      extend(top(), Kind::kList, {item});
      return true;
    }
    case 'e': {
      const auto items = pop_mark();
      extend(top(), Kind::kList, items);
      return true;
    }
    case 's': {
      const PyValue* value = pop();
      const PyValue* key = pop();
      extend(top(), Kind::kDict, {key, value});
      return true;
    }
    case 'u': {
      const auto items = pop_mark();
      extend(top(), Kind::kDict, items);
      return true;
    }
    case 0x90: {
      const auto items = pop_mark();
      extend(top(), Kind::kSet, items);
      return true;
    }
    default:
      return false;
  }
}

bool PickleReader::step_object(unsigned char code) {
  switch (code) {
    case 'c': {
      const std::string_view module = take_line();
      push_global(module, take_line());
      return true;
    }
    case 0x93: {
      const PyValue* name = pop();
      const PyValue* module = pop();
      if (!name->is(Kind::kText) || !module->is(Kind::kText)) bad("a global without a name");
      push_global(module->text, name->text);
      return true;
    }
    case 'R':
    case 0x81: {
      const PyValue* arguments = pop();
      push_call(pop(), arguments);
      return true;
    }
    case 0x92: {
      pop();  // keyword arguments
      const PyValue* arguments = pop();
      push_call(pop(), arguments);
      return true;
    }
    case 'i': {
      const std::string_view module = take_line();
      const std::string_view name = take_line();
      auto items = pop_mark();
      push_global(module, name);
      const PyValue* callable = pop();
      push(Kind::kTuple)->items = std::move(items);
      push_call(callable, pop());
      return true;
    }
    case 'o': {
      auto items = pop_mark();
      if (items.empty()) bad("an object without a class");
      const PyValue* callable = items.front();
      items.erase(items.begin());
      push(Kind::kTuple)->items = std::move(items);
      push_call(callable, pop());
      return true;
    }
    case 'b': {
      const PyValue* state = pop();
      PyValue* object = top();
      if (object->kind == Kind::kDict) return true;  // attributes of an OrderedDict
      if (object->kind != Kind::kCall) bad("a state for something that has none");
      object->items.push_back(state);
      return true;
    }
    case 'P': {
      push_text(Kind::kText, take_line());
      const PyValue* id = pop();
      push(Kind::kPersistent)->items = {id};
      return true;
    }
    case 'Q': {
      const PyValue* id = pop();
      push(Kind::kPersistent)->items = {id};
      return true;
    }
    default:
      return false;
  }
}

// clang-format off
bool PickleReader::step_memo(unsigned char code) {
  switch (code) {
    case 0x80: take(1); return true;  // the protocol's number
    case 0x95: take(8); return true;  // a frame's length: a hint for reading ahead
    case 'p': {
      push_decimal(take_line());
      const int64_t index = pop()->number;
      memo_[static_cast<uint64_t>(index)] = top();
      return true;
    }
    case 'q': memo_[take_number<uint8_t>()] = top(); return true;
    case 'r': memo_[take_number<uint32_t>()] = top(); return true;
    case 0x94: memo_[memo_.size()] = top(); return true;
    case 'g': {
      push_decimal(take_line());
      get(static_cast<uint64_t>(pop()->number));
      return true;
    }
    case 'h': get(take_number<uint8_t>()); return true;
    case 'j': get(take_number<uint32_t>()); return true;
    default: return false;
  }
}
// clang-format on

Pickle::Pickle(std::string_view bytes, const std::string& where, ErrorKind kind) {
  PickleReader(*this, bytes, where, kind).run();
}

}  // namespace egc::data
