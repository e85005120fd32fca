// Pickles: what Python writes reads back as plain values; what would run code is only written down;
// whatever is broken is refused at once.
#include "egc/data/formats/pickle.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/core/expect_error.h"

namespace egc::data {
namespace {

using namespace std::string_literals;
using testing::expect_error;
using Kind = PyValue::Kind;

// Nearly as Python prints it. Deeper than six it says "...": values may contain themselves.
std::string show(const PyValue& v, int depth = 0) {
  const auto items = [&](const char* open, const char* close) {
    if (depth == 5 && !v.items.empty()) return fmt::format("{}...{}", open, close);
    std::string out = open;
    const bool dict = v.is(Kind::kDict);
    for (size_t k = 0; k < v.items.size(); ++k)
      out += (k == 0 ? "" : dict && k % 2 == 1 ? ": " : ", ") + show(*v.items[k], depth + 1);
    return out + close;
  };
  switch (v.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return v.number == 1 ? "True" : "False";
    case Kind::kInt:
      return std::to_string(v.number);
    case Kind::kFloat:
      return fmt::format("{}", v.real);
    case Kind::kText:
      return fmt::format("'{}'", v.text);
    case Kind::kBytes:
      return fmt::format("b'{}'", v.text);
    case Kind::kGlobal:
      return fmt::format("<{}>", v.text);
    case Kind::kList:
      return items("[", "]");
    case Kind::kTuple:
      return items("(", ")");
    case Kind::kDict:
    case Kind::kSet:
      return items("{", "}");
    case Kind::kCall:
      return items("call(", ")");
    case Kind::kPersistent:
      return items("pid(", ")");
  }
  return "?";
}

std::string read(const std::string& bytes) {
  const Pickle pickle(bytes, "some.pkl", ErrorKind::kData);
  EXPECT_EQ(pickle.used(), bytes.size());
  return show(pickle.root());
}

struct Good {
  const char* name;
  std::string bytes;
  std::string want;
};
void PrintTo(const Good& good, std::ostream* out) { *out << good.name; }

constexpr const char* kNested =
    "{'a': [1, 2, {'b': (None, True, False)}], 'c': 1.5, 't': 'cafe', 'neg': -1, 'm': 70000, "
    "'w': 300, 'i64': -1099511627776, 'e': [], 'x': (1), 'y': (1, 2), 'z': (1, 2, 3, 4), 'n': ()}";

// Written by Python 3.11: pickle.dumps(value, protocol).
const Good kWritten[] = {
    {"NestedProtocol0",
     "(dp0\nVa\np1\n(lp2\nI1\naI2\na(dp3\nVb\np4\n(NI01\nI00\ntp5\nsasVc\np6\nF1.5"
     "\nsVt\np7\nVcafe\np8\nsVneg\np9\nI-1\nsVm\np10\nI70000\nsVw\np11\nI300\nsVi6"
     "4\np12\nL-1099511627776L\nsVe\np13\n(lp14\nsVx\np15\n(I1\ntp16\nsVy\np17\n(I"
     "1\nI2\ntp18\nsVz\np19\n(I1\nI2\nI3\nI4\ntp20\nsVn\np21\n(ts."s,
     kNested},
    {"NestedProtocol1",
     "}q\000(X\001\000\000\000aq\001]q\002(K\001K\002}q\003X\001\000\000\000bq\004"
     "(NI01\nI00\ntq\005seX\001\000\000\000cq\006G\077\370\000\000\000\000\000\000"
     "X\001\000\000\000tq\007X\004\000\000\000cafeq\010X\003\000\000\000negq\011J\377"
     "\377\377\377X\001\000\000\000mq\nJp\021\001\000X\001\000\000\000wq\013M,\001"
     "X\003\000\000\000i64q\014L-1099511627776L\nX\001\000\000\000eq\015]q\016X\001"
     "\000\000\000xq\017(K\001tq\020X\001\000\000\000yq\021(K\001K\002tq\022X\001\000"
     "\000\000zq\023(K\001K\002K\003K\004tq\024X\001\000\000\000nq\025)u."s,
     kNested},
    {"NestedProtocol2",
     "\200\002}q\000(X\001\000\000\000aq\001]q\002(K\001K\002}q\003X\001\000\000\000"
     "bq\004N\210\211\207q\005seX\001\000\000\000cq\006G\077\370\000\000\000\000\000"
     "\000X\001\000\000\000tq\007X\004\000\000\000cafeq\010X\003\000\000\000negq\011"
     "J\377\377\377\377X\001\000\000\000mq\nJp\021\001\000X\001\000\000\000wq\013M"
     ",\001X\003\000\000\000i64q\014\212\006\000\000\000\000\000\377X\001\000\000\000"
     "eq\015]q\016X\001\000\000\000xq\017K\001\205q\020X\001\000\000\000yq\021K\001"
     "K\002\206q\022X\001\000\000\000zq\023(K\001K\002K\003K\004tq\024X\001\000\000"
     "\000nq\025)u."s,
     kNested},
    {"NestedProtocol3",
     "\200\003}q\000(X\001\000\000\000aq\001]q\002(K\001K\002}q\003X\001\000\000\000"
     "bq\004N\210\211\207q\005seX\001\000\000\000cq\006G\077\370\000\000\000\000\000"
     "\000X\001\000\000\000tq\007X\004\000\000\000cafeq\010X\003\000\000\000negq\011"
     "J\377\377\377\377X\001\000\000\000mq\nJp\021\001\000X\001\000\000\000wq\013M"
     ",\001X\003\000\000\000i64q\014\212\006\000\000\000\000\000\377X\001\000\000\000"
     "eq\015]q\016X\001\000\000\000xq\017K\001\205q\020X\001\000\000\000yq\021K\001"
     "K\002\206q\022X\001\000\000\000zq\023(K\001K\002K\003K\004tq\024X\001\000\000"
     "\000nq\025)u."s,
     kNested},
    {"NestedProtocol4",
     "\200\004\225\212\000\000\000\000\000\000\000}\224(\214\001a\224]\224(K\001K\002"
     "}\224\214\001b\224N\210\211\207\224se\214\001c\224G\077\370\000\000\000\000\000"
     "\000\214\001t\224\214\004cafe\224\214\003neg\224J\377\377\377\377\214\001m\224"
     "Jp\021\001\000\214\001w\224M,\001\214\003i64\224\212\006\000\000\000\000\000"
     "\377\214\001e\224]\224\214\001x\224K\001\205\224\214\001y\224K\001K\002\206\224"
     "\214\001z\224(K\001K\002K\003K\004t\224\214\001n\224)u."s,
     kNested},
    {"NestedProtocol5",
     "\200\005\225\212\000\000\000\000\000\000\000}\224(\214\001a\224]\224(K\001K\002"
     "}\224\214\001b\224N\210\211\207\224se\214\001c\224G\077\370\000\000\000\000\000"
     "\000\214\001t\224\214\004cafe\224\214\003neg\224J\377\377\377\377\214\001m\224"
     "Jp\021\001\000\214\001w\224M,\001\214\003i64\224\212\006\000\000\000\000\000"
     "\377\214\001e\224]\224\214\001x\224K\001\205\224\214\001y\224K\001K\002\206\224"
     "\214\001z\224(K\001K\002K\003K\004t\224\214\001n\224)u."s,
     kNested},
    {"BytesProtocol3", "\200\003C\003a\000bq\000."s, "b'a\0b'"s},
    {"BytesProtocol4", "\200\004\225\007\000\000\000\000\000\000\000C\003a\000b\224."s, "b'a\0b'"s},
    {"BytesProtocol5", "\200\005\225\007\000\000\000\000\000\000\000C\003a\000b\224."s, "b'a\0b'"s},
    {"BytesOfTwoIsACall",
     "\200\002c_codecs\nencode\nq\000X\003\000\000\000a\303\277q\001X\006\000\000\000"
     "latin1q\002\206q\003Rq\004."s,
     "call(<_codecs encode>, ('a\303\277', 'latin1'))"},
    {"ByteArray",
     "\200\005\225\015\000\000\000\000\000\000\000\226\002\000\000\000\000\000\000"
     "\000ab\224."s,
     "b'ab'"},
    {"Set", "\200\004\225\011\000\000\000\000\000\000\000\217\224(K\001K\002\220."s, "{1, 2}"},
    {"FrozenSet", "\200\004\225\006\000\000\000\000\000\000\000(K\001\221\224."s, "{1}"},
    {"OrderedDict",
     "\200\002ccollections\nOrderedDict\nq\000)Rq\001X\001\000\000\000aq\002K\001s"
     "."s,
     "{'a': 1}"},
    {"AttributesOfAnOrderedDict",
     "\200\002ccollections\nOrderedDict\nq\000)Rq\001}q\002X\001\000\000\000aq\003K\001sb"
     "."s,
     "{}"},
    {"ObjectOfTwo", "\200\002cm\nC\nq\000)\201q\001}q\002X\001\000\000\000kq\003K\001sb."s,
     "call(<m C>, (), {'k': 1})"},
    {"ObjectOfNought",
     "ccopy_reg\n_reconstructor\np0\n(cm\nC\np1\nc__builtin__\nobject\np2\nNtp3\nR"
     "p4\n(dp5\nVk\np6\nI1\nsb."s,
     "call(<copy_reg _reconstructor>, (<m C>, <__builtin__ object>, None), {'k': 1})"},
    {"NewObjEx",
     "\200\004\225\032\000\000\000\000\000\000\000\214\001m\224\214\001N\224\223\224"
     "K\001\205\224}\224\214\001k\224K\002s\222\224."s,
     "call(<m N>, (1))"},
    {"Persistent", "\200\002]q\000X\007\000\000\000storageq\001K\007\206q\002Qa."s,
     "[pid(('storage', 7))]"},
    {"PersistentOfNought", "(lp0\nPkey7\na."s, "[pid('key7')]"},
    {"MemoProtocol0", "(lp0\n(lp1\nI1\naag1\naVsharedsharedshared\np2\nag2\na."s,
     "[[1], [1], 'sharedsharedshared', 'sharedsharedshared']"},
    {"MemoProtocol1", "]q\000(]q\001K\001ah\001X\022\000\000\000sharedsharedsharedq\002h\002e."s,
     "[[1], [1], 'sharedsharedshared', 'sharedsharedshared']"},
    {"MemoProtocol2",
     "\200\002]q\000(]q\001K\001ah\001X\022\000\000\000sharedsharedsharedq\002h\002"
     "e."s,
     "[[1], [1], 'sharedsharedshared', 'sharedsharedshared']"},
    {"MemoProtocol4",
     "\200\004\225#\000\000\000\000\000\000\000]\224(]\224K\001ah\001\214\022share"
     "dsharedshared\224h\002e."s,
     "[[1], [1], 'sharedsharedshared', 'sharedsharedshared']"},
    {"CyclicListProtocol0", "(lp0\ng0\na."s, "[[[[[[...]]]]]]"},
    {"CyclicListProtocol2", "\200\002]q\000h\000a."s, "[[[[[[...]]]]]]"},
    {"CyclicListProtocol4", "\200\004\225\006\000\000\000\000\000\000\000]\224h\000a."s,
     "[[[[[[...]]]]]]"},
    {"CyclicDict", "\200\004\225\013\000\000\000\000\000\000\000}\224\214\002me\224h\000s."s,
     "{'me': {'me': {'me': {'me': {'me': {...}}}}}}"},
    {"CyclicTuple", "\200\004\225\013\000\000\000\000\000\000\000]\224h\000\205\224a0h\001."s,
     "([([([...])])])"},
    {"RawUnicodeEscapes", "Va\\u000ab\\u005c\\u20ac\\U0001f600\np0\n."s,
     "'a\nb\\\342\202\254\360\237\230\200'"},
    {"LatinOfNought", "Vcaf\351\np0\n."s, "'caf\303\251'"},
    {"FloatsOfNought", "(lp0\nF1.5\naF-0.25\naF1e+300\na."s, "[1.5, -0.25, 1e+300]"},
    {"IntZeroProtocol0", "I0\n."s, "0"},
    {"IntZeroProtocol2", "\200\002K\000."s, "0"},
    {"Int255Protocol0", "I255\n."s, "255"},
    {"Int255Protocol2", "\200\002K\377."s, "255"},
    {"Int65535Protocol0", "I65535\n."s, "65535"},
    {"Int65535Protocol2", "\200\002M\377\377."s, "65535"},
    {"Int2To31Less1Protocol0", "I2147483647\n."s, "2147483647"},
    {"Int2To31Less1Protocol2", "\200\002J\377\377\377\177."s, "2147483647"},
    {"IntMinus2To31Protocol0", "I-2147483648\n."s, "-2147483648"},
    {"IntMinus2To31Protocol2", "\200\002J\000\000\000\200."s, "-2147483648"},
    {"Int2To63Less1Protocol0", "L9223372036854775807L\n."s, "9223372036854775807"},
    {"Int2To63Less1Protocol2", "\200\002\212\010\377\377\377\377\377\377\377\177."s,
     "9223372036854775807"},
    {"IntMinus2To63Protocol0", "L-9223372036854775808L\n."s, "-9223372036854775808"},
    {"IntMinus2To63Protocol2", "\200\002\212\010\000\000\000\000\000\000\000\200."s,
     "-9223372036854775808"},
};

// Operations that Python 3 reads but does not write by itself.
const Good kByHand[] = {
    {"ShortString", "U\003abc."s, "'abc'"},
    {"String", "T\003\000\000\000abc."s, "'abc'"},
    {"QuotedString", "S'a\\'b\\n\\x41'\n."s, "'a'b\nA'"},
    {"Unicode8", "\215\003\000\000\000\000\000\000\000abc."s, "'abc'"},
    {"Bytes4", "B\002\000\000\000ab."s, "b'ab'"},
    {"Bytes8", "\216\002\000\000\000\000\000\000\000ab."s, "b'ab'"},
    {"Long4", "\213\001\000\000\000\377."s, "-1"},
    {"LongOfNoBytes", "\212\000."s, "0"},
    {"LongOfNineBytes", "\212\0110123456789."s.substr(0, 11) + ".", "b'012345678'"},
    {"WindowsLines", "I7\r\n."s, "7"},
    {"DupMakesTwo", "](K\0012e."s, "[1, 1]"},
    {"Pop", "K\001K\0020."s, "1"},
    {"PopMark", "K\001(K\002K\0031."s, "1"},
    {"PopTakesAnEmptyMark", "K\001(0."s, "1"},
    {"DictOfMark", "(K\001K\002d."s, "{1: 2}"},
    {"Instance", "(K\001im\nC\n."s, "call(<m C>, (1))"},
    {"Object", "(cm\nC\nK\001o."s, "call(<m C>, (1))"},
    {"LongMemo", "K\001r\000\001\000\0000j\000\001\000\000."s, "1"},
    {"MemoIsReplaced", "K\001q\0000K\002q\0000h\000."s, "2"},
    {"ProtocolLater", "K\001\200\005."s, "1"},
    {"ItemsOfACallAreNotKept", "cm\nC\n)R(K\001e."s, "call(<m C>, ())"},
    {"Infinity", "Finf\n."s, "inf"},
};

class GoodPickle : public ::testing::TestWithParam<Good> {};

TEST_P(GoodPickle, IsRead) { EXPECT_EQ(read(GetParam().bytes), GetParam().want); }

const auto kNameOf = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Written, GoodPickle, ::testing::ValuesIn(kWritten), kNameOf);
INSTANTIATE_TEST_SUITE_P(ByHand, GoodPickle, ::testing::ValuesIn(kByHand), kNameOf);

TEST(Pickle, EndsAtItsStop) {
  const std::string bytes = "K\001.more"s;
  EXPECT_EQ(Pickle(bytes, "x", ErrorKind::kData).used(), 3U);
}

TEST(Pickle, FindsTextKeysOnly) {
  const std::string bytes = "}(K\001K\002U\001aK\003u."s;
  const Pickle pickle(bytes, "x", ErrorKind::kData);
  ASSERT_NE(pickle.root().find("a"), nullptr);
  EXPECT_EQ(pickle.root().find("a")->number, 3);
  EXPECT_EQ(pickle.root().find("1"), nullptr);
  EXPECT_EQ(pickle.root().items[0]->find("a"), nullptr);
}

// A call of a global with one text, in all ways a pickle has to say it.
std::vector<std::string> ways_to_call(const std::string& module, const std::string& name,
                                      const std::string& text) {
  const std::string global = "c" + module + "\n" + name + "\n";
  const auto short_text = [](const std::string& t) {
    return "\214"s + static_cast<char>(t.size()) + t;
  };
  const std::string argument = short_text(text) + "\205";
  const std::string stack_global = short_text(module) + short_text(name) + "\223";
  return {global + "(V" + text + "\ntR.",
          "(V" + text + "\ni" + module + "\n" + name + "\n.",
          "(" + global + "V" + text + "\no.",
          "\200\002" + global + argument + "R.",
          "\200\004" + stack_global + argument + "R.",
          "\200\002" + global + argument + "\201.",
          "\200\004" + stack_global + argument + "}\222."};
}

TEST(Pickle, WhatWouldRunIsOnlyWrittenDown) {
  const std::string marker = ::testing::TempDir() + "/egc_pickle_was_executed";
  std::filesystem::remove(marker);
  const std::string command = "touch " + marker;
  const std::pair<const char*, const char*> globals[] = {{"posix", "system"},
                                                         {"nt", "system"},
                                                         {"os", "system"},
                                                         {"os", "popen"},
                                                         {"os", "execvp"},
                                                         {"builtins", "eval"},
                                                         {"builtins", "exec"},
                                                         {"builtins", "open"},
                                                         {"builtins", "__import__"},
                                                         {"builtins", "getattr"},
                                                         {"__builtin__", "eval"},
                                                         {"subprocess", "Popen"},
                                                         {"subprocess", "getoutput"},
                                                         {"shutil", "rmtree"},
                                                         {"importlib", "import_module"},
                                                         {"runpy", "run_path"},
                                                         {"pty", "spawn"},
                                                         {"webbrowser", "open"},
                                                         {"torch", "load"},
                                                         {"torch.storage", "_load_from_bytes"},
                                                         {"operator", "attrgetter"},
                                                         {"ctypes", "CDLL"},
                                                         {"code", "interact"},
                                                         {"pickle", "loads"},
                                                         {"", ""},
                                                         {"os", "system.__call__"}};
  for (const auto& [module, name] : globals)
    for (const std::string& bytes : ways_to_call(module, name, command))
      EXPECT_EQ(read(bytes), fmt::format("call(<{} {}>, ('{}'))", module, name, command));
  EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST(Pickle, CallsOfCallsAndStatesAreWrittenDownToo) {
  // getattr(__import__("os"), "system")("id"), and a state for what it gives
  EXPECT_EQ(read("cbuiltins\ngetattr\n(cbuiltins\n__import__\n(Vos\ntRVsystem\ntR(Vid\ntR}b."s),
            "call(call(<builtins getattr>, (call(<builtins __import__>, ('os')), 'system')), "
            "('id'), {})");
  // A callable that is none, arguments that are none.
  EXPECT_EQ(read("K\001K\002R."s), "call(1, 2)");
  EXPECT_EQ(read("NN\201."s), "call(None, None)");
}

struct Corrupt {
  const char* name;
  std::string bytes;
  const char* reason;
};
void PrintTo(const Corrupt& corrupt, std::ostream* out) { *out << corrupt.name; }

const Corrupt kCorrupt[] = {
    {"Empty", "", "unexpected end"},
    {"NoStop", "K\001"s, "unexpected end"},
    {"OnlyProtocol", "\200"s, "unexpected end"},
    {"Text", "hello, world\n", "unknown memo"},
    {"Zip", "PK\003\004"s, "unterminated line"},
    {"Zeros", std::string(64, '\0'), "unknown operation 0x00"},
    {"Ones", std::string(64, '\377'), "unknown operation 0xff"},
    // operations
    {"Ext1", "\202\001."s, "unknown operation 0x82"},
    {"Ext2", "\203\001\000."s, "unknown operation 0x83"},
    {"Ext4", "\204\001\000\000\000."s, "unknown operation 0x84"},
    {"NextBuffer", "\200\005\227."s, "unknown operation 0x97"},
    {"ReadonlyBuffer", "\200\005K\001\230."s, "unknown operation 0x98"},
    {"Unknown", "K\001!."s, "unknown operation 0x21"},
    // the stack
    {"NothingToStopWith", ".", "stack is empty"},
    {"OnlyAMark", "(.", "stack is empty"},
    {"PopNothing", "0.", "stack is empty"},
    {"DupNothing", "2.", "stack is empty"},
    {"AppendToNothing", "K\001a."s, "stack is empty"},
    {"AppendAcrossAMark", "](a."s, "stack is empty"},
    {"SetItemWithoutKey", "}K\001s."s, "stack is empty"},
    {"SetItemOfNothing", "s.", "stack is empty"},
    {"Tuple1OfNothing", "\205."s, "stack is empty"},
    {"Tuple2OfOne", "N\206."s, "stack is empty"},
    {"Tuple3OfTwo", "NN\207."s, "stack is empty"},
    {"TupleAcrossAMark", "N(N\206."s, "stack is empty"},
    {"ReduceNothing", "R.", "stack is empty"},
    {"ReduceOne", "NR.", "stack is empty"},
    {"NewObjOfOne", "N\201."s, "stack is empty"},
    {"NewObjExOfTwo", "NN\222."s, "stack is empty"},
    {"BuildNothing", "b.", "stack is empty"},
    {"BuildWithoutObject", "Nb.", "stack is empty"},
    {"PersistentOfNothing", "Q.", "stack is empty"},
    {"StackGlobalOfOne", "U\001a\223."s, "stack is empty"},
    {"StackGlobalOfNumbers", "K\001K\002\223."s, "global without a name"},
    // marks
    {"ListWithoutMark", "Nl.", "no mark"},
    {"TupleWithoutMark", "Nt.", "no mark"},
    {"DictWithoutMark", "NNd.", "no mark"},
    {"AppendsWithoutMark", "]Ne.", "no mark"},
    {"SetItemsWithoutMark", "}NNu.", "no mark"},
    {"AddItemsWithoutMark", "\217N\220."s, "no mark"},
    {"FrozenSetWithoutMark", "N\221."s, "no mark"},
    {"PopMarkWithoutMark", "N1.", "no mark"},
    {"InstanceWithoutMark", "im\nC\n.", "no mark"},
    {"ObjectWithoutMark", "No.", "no mark"},
    {"ObjectOfNothing", "(o.", "without a class"},
    {"MarkTakenTwice", "](Nee.", "no mark"},
    {"AppendsToNothing", "(Ne.", "stack is empty"},
    // what has no items
    {"AppendToANumber", "K\001Na."s, "something that has none"},
    {"AppendToATuple", ")Na.", "something that has none"},
    {"AppendToADict", "}Na.", "something that has none"},
    {"SetItemOfAList", "]NNs.", "something that has none"},
    {"AddItemsToAList", "](N\220."s, "something that has none"},
    {"BuildANumber", "K\001}b."s, "state for something that has none"},
    {"BuildAGlobal", "cm\nC\n}b.", "state for something that has none"},
    {"DictWithAKeyAlone", "(Nd.", "key without a value"},
    {"SetItemsWithAKeyAlone", "}(NNNu.", "key without a value"},
    // the memo
    {"UnknownMemo", "h\000."s, "unknown memo"},
    {"UnknownLongMemo", "j\377\377\377\377."s, "unknown memo"},
    {"UnknownTextMemo", "g9\n.", "unknown memo"},
    {"MemoOfNothing", "q\000."s, "stack is empty"},
    {"MemoizeNothing", "\224."s, "stack is empty"},
    {"MemoNamedByText", "Npx\n.", "not a number"},
    {"MemoNamedByNothing", "Np\n.", "not a number"},
    {"MemoBeyond64Bits", "Np99999999999999999999\n.", "not a number"},
    // numbers
    {"IntOfText", "Ione\n.", "not a number"},
    {"IntOfNothing", "I\n.", "not a number"},
    {"IntWithRest", "I1 2\n.", "not a number"},
    {"IntBeyond64Bits", "I9223372036854775808\n.", "not a number"},
    {"LongBeyond64Bits", "L99999999999999999999L\n.", "not a number"},
    {"FloatOfText", "Fone\n.", "not a number"},
    {"FloatWithRest", "F1.5x\n.", "not a number"},
    {"IntWithoutEnd", "I1", "unterminated line"},
    {"ShortInt", "J\001\002\003"s, "unexpected end"},
    {"ShortFloat", "G\077\360"s, "unexpected end"},
    // texts and lengths
    {"NoQuotes", "Sabc\n.", "quotes"},
    {"OneQuote", "S'\n.", "quotes"},
    {"OtherQuote", "S'abc\"\n.", "quotes"},
    {"TextWithoutEnd", "Vabc", "unterminated line"},
    {"GlobalWithoutName", "cos\n", "unterminated line"},
    {"InstanceWithoutName", "(ios\n", "unterminated line"},
    {"LongerThanTheFile", "U\377abc."s, "unexpected end"},
    {"TextOf4GB", "X\377\377\377\377abc."s, "unexpected end"},
    {"StringOf4GB", "T\377\377\377\377abc."s, "unexpected end"},
    {"BytesOf4GB", "B\377\377\377\377abc."s, "unexpected end"},
    {"LongOf4GB", "\213\377\377\377\377abc."s, "unexpected end"},
    {"TextOf2To64", "\215\377\377\377\377\377\377\377\377abc."s, "unexpected end"},
    {"TextOf2To63", "\215\000\000\000\000\000\000\000\200abc."s, "unexpected end"},
    {"BytesOf2To64", "\216\377\377\377\377\377\377\377\377abc."s, "unexpected end"},
    {"ByteArrayOf2To64", "\226\377\377\377\377\377\377\377\377abc."s, "unexpected end"},
    {"FrameWithoutLength", "\225\001\002."s, "unexpected end"},
};

class CorruptPickle : public ::testing::TestWithParam<Corrupt> {};

TEST_P(CorruptPickle, IsRefusedWithTheGivenKind) {
  for (const ErrorKind kind : {ErrorKind::kData, ErrorKind::kModel})
    expect_error(kind, {"some.pkl: not a readable pickle", GetParam().reason, "at byte"},
                 [&] { Pickle(GetParam().bytes, "some.pkl", kind); });
}

INSTANTIATE_TEST_SUITE_P(All, CorruptPickle, ::testing::ValuesIn(kCorrupt), kNameOf);

TEST(Pickle, EveryTruncationIsRefused) {
  for (const Good& good : kWritten)
    for (size_t size = 0; size < good.bytes.size(); ++size)
      expect_error(ErrorKind::kData, {"not a readable pickle"},
                   [&] { Pickle(good.bytes.substr(0, size), "x", ErrorKind::kData); });
}

// Whatever a changed byte makes of a pickle: values or an error.
TEST(Pickle, NoChangedByteDoesHarm) {
  int refused = 0;
  for (const Good& good : kWritten)
    for (size_t at = 0; at < good.bytes.size(); ++at)
      for (const int flip : {1, 4, 32, 128, 255}) {
        std::string bytes = good.bytes;
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        try {
          const Pickle pickle(bytes, "x", ErrorKind::kData);
          EXPECT_FALSE(show(pickle.root()).empty());
        } catch (const Error& e) {
          EXPECT_EQ(e.kind(), ErrorKind::kData);
          ++refused;
        }
      }
  EXPECT_GT(refused, 1000);
}

std::string repeat(const std::string& text, size_t times) {
  std::string out;
  for (size_t k = 0; k < times; ++k) out += text;
  return out;
}

double seconds_to_read(const std::string& bytes) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    const Pickle pickle(bytes, "x", ErrorKind::kData);
  } catch (const Error&) {
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(Pickle, DeepNestingDoesNotExhaustTheStack) {
  constexpr size_t kDeep = 100'000;
  for (const std::string& bytes :
       {repeat("]", kDeep) + repeat("a", kDeep - 1) + ".", "N" + repeat("\205", kDeep) + ".",
        repeat("(", kDeep) + repeat("l", kDeep) + ".", "N" + repeat("Q", kDeep) + ".",
        repeat("}N", kDeep) + "N" + repeat("s", kDeep - 1) + "s.", "N" + repeat(")R", kDeep) + "."})
    EXPECT_LT(seconds_to_read(bytes), 2) << bytes.substr(0, 4);
  const std::string bytes = "N" + repeat("\205", kDeep) + ".";
  EXPECT_EQ(read(bytes), "((((((...))))))");
}

TEST(Pickle, ManyMarksMemosAndCopiesAreQuick) {
  constexpr size_t kMany = 200'000;
  std::string numbered;  // memos whose numbers fall together in a hash table of 85,229 places
  for (size_t k = 1; k < 80'000; ++k) numbered += fmt::format("p{}\n", k * 85'229);
  for (const std::string& bytes :
       {repeat("(", kMany) + ".", "N" + repeat("2", kMany) + ".",
        "]q\000("s + repeat("h\000"s, kMany) + "e.", "N" + repeat("\224", kMany) + ".",
        repeat("(1", kMany) + "N.", "N" + numbered + ".", repeat("(0", kMany) + "N."})
    EXPECT_LT(seconds_to_read(bytes), 2) << bytes.substr(0, 8);
}

// A list of two of the list before, forty times over: 2^40 items to walk, few to keep.
TEST(Pickle, SharedListsAreNotMultiplied) {
  std::string bytes = "]";
  for (int k = 0; k < 40; ++k) bytes += "q\000]h\000ah\000a"s;
  const Pickle pickle(bytes + ".", "x", ErrorKind::kData);
  EXPECT_EQ(pickle.root().items.size(), 2U);
  EXPECT_EQ(pickle.root().items[0], pickle.root().items[1]);
}

}  // namespace
}  // namespace egc::data
