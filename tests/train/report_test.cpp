// The page and the event file of a run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "egc/core/crc32.h"
#include "egc/train/event_file.h"
#include "egc/train/html_report.h"
#include "tests/core/expect_balanced.h"
#include "tests/train/event.pb.h"

namespace egc {
namespace {

using testing::expect_balanced;
using train::EpochRecord;
using train::Report;

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

Report report(int64_t epochs) {
  Report r;
  r.title = "egc-m on <b>mine</b>";
  r.facts = {{"test accuracy", "91.00 %"}};
  r.metric = "accuracy";
  for (int64_t k = 1; k <= epochs; ++k)
    r.history.push_back({k, 1.0 / static_cast<double>(k), 1.1 / static_cast<double>(k),
                         1 - 0.5 / static_cast<double>(k), 1e-3, 1});
  r.best_epoch = epochs;
  r.confusion = {{8, 2}, {0, 0}};
  r.class_names = {"yes & no", "\"no\""};
  r.config = "{\"a\": \"<script>\"}";
  return r;
}

TEST(Report, IsOneWellFormedPageOfItsOwn) {
  for (const int64_t epochs : {0, 1, 2, 300}) {
    const std::string html = to_html(report(epochs));
    expect_balanced(html);
    for (const char* outside : {"http:", "https:", "src=", "href=", "<script"})
      EXPECT_EQ(html.find(outside), std::string::npos) << outside;
    for (const char* part : {"prefers-color-scheme: dark", "width=device-width", "91.00 %",
                             "egc-m on &lt;b&gt;mine&lt;/b&gt;", "yes &amp; no", "&quot;no&quot;"})
      EXPECT_NE(html.find(part), std::string::npos) << part;
    EXPECT_EQ(html.find("nan"), std::string::npos);
  }
}

TEST(Report, SaysWhatItWasTrainedOnAndHow) {
  Report r = report(5);
  r.sizes = {{"graphs", "12000"}, {"test set", "1000"}};
  r.command = "egc train mine --config 'a & b/config.json' --seed 1";
  r.version = "1.2.3+abc";
  const std::string html = to_html(r);
  expect_balanced(html);
  for (const char* part :
       {"Confusion matrix", "Learning rate (log scale)", ">12000<", "'a &amp; b/config.json'",
        "egc 1.2.3+abc", "<details><summary>Complete configuration", "best epoch, 5"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(Report, DrawsScoresOfABinaryTask) {
  Report r = report(2);
  EXPECT_EQ(to_html(r).find("ROC curve"), std::string::npos);
  r.scores = {{0.9F, 0.8F, 0.4F}, {0.1F, 0.5F}};
  const std::string html = to_html(r);
  expect_balanced(html);
  for (const char* part : {"ROC curve", "labelled positive", "Scores, test set", "chance"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  r.scores.negatives.clear();  // no curve, but scores
  EXPECT_EQ(to_html(r).find("ROC curve"), std::string::npos);
  EXPECT_NE(to_html(r).find("Scores, test set"), std::string::npos);
}

TEST(Report, HasNoNan) {
  Report r = report(4);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (EpochRecord& e : r.history) e.valid = e.valid_loss = nan;
  r.errors = {std::numeric_limits<float>::quiet_NaN()};
  const std::string html = to_html(r);
  expect_balanced(html);
  EXPECT_EQ(html.find("nan"), std::string::npos);
}

TEST(EventFile, TensorBoardsRecordsComeBack) {
  std::string path = ::testing::TempDir() + "/egc_events_XXXXXX";
  close(mkstemp(path.data()));
  const std::vector<EpochRecord> history = {{1, 0.5, 0.6, 0.7, 1e-3, 2}};
  train::EventFile file(path, history);
  file.add({2, 0.4, 0.5, std::numeric_limits<double>::quiet_NaN(), 1e-4, 3});
  std::string text = read_text(path);
  std::vector<tensorboard::Event> events;
  const auto masked = [](uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; };
  while (!text.empty()) {
    uint64_t length = 0;
    uint32_t crc = 0;
    std::memcpy(&length, text.data(), 8);
    std::memcpy(&crc, text.data() + 8, 4);
    EXPECT_EQ(crc, masked(crc32c(text.substr(0, 8))));
    ASSERT_LE(length + 16, text.size());
    const std::string data = text.substr(12, length);
    std::memcpy(&crc, text.data() + 12 + length, 4);
    EXPECT_EQ(crc, masked(crc32c(data)));
    ASSERT_TRUE(events.emplace_back().ParseFromString(data));
    text.erase(0, length + 16);
  }
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[1].step(), 1);
  EXPECT_EQ(events[1].summary().value(0).tag(), "loss/train");
  EXPECT_EQ(events[1].summary().value(0).simple_value(), 0.5F);
  EXPECT_EQ(events[1].summary().value_size(), 5);
  EXPECT_EQ(events[2].summary().value_size(), 4);  // a score that is none is left out
  EXPECT_NEAR(events[2].wall_time() - events[1].wall_time(), 3, 1e-3);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace egc
