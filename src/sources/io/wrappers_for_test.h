// SPDX-License-Identifier: MIT
// Purpose: the wrappers with the true recorder behind them, in a folder of their own; what they recorded, as events.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "record/drained_records_for_test.h"
#include "sources/io/io_source.h"

namespace dft::io {

struct Event {
  const record::CopiedRecord* record;
  std::string name;
  std::string category;
  std::string file;  // "" without fhash
  long number(const char* key) const { return static_cast<long>(record->arg(key)); }
  bool has(const char* key) const {
    model::ArgView view{};
    return record->find(key, view);
  }
  std::string text(const char* key) const { return record->text(key); }
  std::string hashed(const char* key) const {
    model::StringDef known;
    const auto id = static_cast<model::StringId>(record->arg(key));
    return record::recorder.definitions.string(id, known) ? std::string(known.bytes) : "";
  }
};

class WrappersTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/dft-wrappers-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    char resolved[4096];
    ASSERT_NE(realpath(name, resolved), nullptr);
    folder_ = resolved;
    drained_.begin(record::PoolOptions{});
    start(IoConfig{});
  }
  void TearDown() override {
    stop_io();
    if (!ended_) drained_.end();
    EXPECT_EQ(system(("rm -rf '" + folder_ + "'").c_str()), 0);
  }
  // Traces the test's folder only.
  void start(IoConfig config) {
    const std::string_view include = folder_;
    config.trace_all = false;
    config.includes = {&include, 1};
    ASSERT_TRUE(start_io(config));
  }
  std::string path(const char* name) const { return folder_ + "/" + name; }

  // Ends the recording; what was recorded, in order.
  const std::vector<Event>& events() {
    if (!ended_) {
      stop_io();
      drained_.end();
      ended_ = true;
      for (const record::CopiedRecord& one : drained_.records) events_.push_back(made(one));
    }
    return events_;
  }
  std::vector<Event> named(const char* name) {
    std::vector<Event> found;
    for (const Event& event : events()) {
      if (event.name == name) found.push_back(event);
    }
    return found;
  }

  std::string folder_;

 private:
  static Event made(const record::CopiedRecord& one) {
    Event event{&one, {}, {}, {}};
    model::SiteDef site;
    if (record::recorder.definitions.site(one.header().site, site)) {
      event.name = site.name;
      event.category = site.cat;
    }
    if (event.has("fhash")) event.file = event.hashed("fhash");
    return event;
  }
  record::DrainedRecords drained_;
  bool ended_ = false;
  std::vector<Event> events_;
};

}  // namespace dft::io
