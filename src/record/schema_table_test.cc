// SPDX-License-Identifier: MIT
#include "record/schema_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace dft::record {
namespace {

using model::ArgType;
using model::SchemaId;

class Schemas : public testing::Test {
 protected:
  SchemaId chain(std::initializer_list<std::string_view> keys) {
    SchemaId schema = model::kNoArgs;
    for (const auto key : keys) schema = table_->extend(schema, ArgType::kInt64, key);
    return schema;
  }
  std::string keys_of(SchemaId id) const {
    std::string keys;
    model::SchemaView schema;
    if (!definitions_->schema(id, schema)) return "(none)";
    model::ArgCursor cursor(schema.fields, schema.bytes);
    for (model::ArgView field; cursor.next(field);) keys += std::string(field.key, field.key_len) + " ";
    return keys;
  }
  std::unique_ptr<DefinitionsLog> definitions_ = std::make_unique<DefinitionsLog>();
  std::unique_ptr<SchemaTable> table_ = std::make_unique<SchemaTable>(*definitions_);
};

TEST_F(Schemas, TheSameArgsInTheSameOrderAreOneSchema) {
  const SchemaId once = chain({"step", "a_key_of_more_than_eight_bytes", "loss"});
  EXPECT_EQ(keys_of(once), "step a_key_of_more_than_eight_bytes loss ");
  EXPECT_EQ(chain({"step", "a_key_of_more_than_eight_bytes", "loss"}), once);
  EXPECT_NE(chain({"step", "loss", "a_key_of_more_than_eight_bytes"}), once);
  EXPECT_NE(table_->extend(model::kNoArgs, ArgType::kDouble, "step"), chain({"step"}));
}

TEST_F(Schemas, AShortKeyIsFoundByItsWordOnceItIsKnown) {
  const auto next = [this](std::uint32_t from, ArgType type, std::uint32_t key_len = 4) {
    const std::uint64_t step = table_->step_from(from, {type, model::leading_word("step", 4), key_len});
    return step != 0 ? from + step : 0;
  };
  EXPECT_EQ(next(model::kNoArgs, ArgType::kInt64), 0u);
  const SchemaId step = chain({"step"});
  EXPECT_EQ(next(model::kNoArgs, ArgType::kInt64), step);
  EXPECT_EQ(next(model::kNoArgs, ArgType::kUint64), 0u);
  EXPECT_EQ(next(model::kNoArgs, ArgType::kInt64, 5), 0u);
  EXPECT_EQ(next(step, ArgType::kInt64), 0u);
  EXPECT_EQ(next(step | 1u << 16, ArgType::kInt64), 0u);
}

TEST_F(Schemas, AKeyThatIsThereAlreadyLeadsBackIfItsTypeIsTheSame) {
  const SchemaId both = chain({"a", "b"});
  EXPECT_EQ(table_->extend(both, ArgType::kInt64, "a"), both);
  EXPECT_EQ(table_->extend(both, ArgType::kDouble, "a"), model::kSelfDescribing);
}

TEST_F(Schemas, WhatNoSchemaCanHoldIsSelfDescribing) {
  const std::string long_key(65, 'k');
  for (const std::string_view key : {"", "hhash", "relations", "quo\"te", "back\\slash", "new\nline", "\xc3\xa9"}) {
    EXPECT_EQ(table_->extend(model::kNoArgs, ArgType::kInt64, key), model::kSelfDescribing) << key;
  }
  EXPECT_EQ(table_->extend(model::kNoArgs, ArgType::kInt64, long_key), model::kSelfDescribing);
  EXPECT_EQ(table_->extend(model::kNoArgs, ArgType::kRelation, "r"), model::kSelfDescribing);
  EXPECT_EQ(table_->extend(model::kNoArgs, ArgType::kDropped, "d"), model::kSelfDescribing);
  EXPECT_EQ(table_->extend(model::kSelfDescribing, ArgType::kInt64, "a"), model::kSelfDescribing);
  SchemaId schema = model::kNoArgs;
  for (unsigned i = 0; i < model::kMaxFields; ++i) {
    schema = table_->extend(schema, ArgType::kInt64, "k" + std::to_string(i));
    ASSERT_NE(schema, model::kSelfDescribing);
  }
  EXPECT_EQ(table_->extend(schema, ArgType::kInt64, "one_more"), model::kSelfDescribing);
}

TEST_F(Schemas, KeysMadeUpAtRunTimeFillTheTableOnceAndKnownOnesStay) {
  const SchemaId step = chain({"step", "loss"});
  unsigned made = 0;
  for (int i = 0; i < 10'000; ++i) {
    const SchemaId id = table_->extend(model::kNoArgs, ArgType::kInt64, "key" + std::to_string(i));
    if (id == model::kSelfDescribing) continue;
    EXPECT_EQ(keys_of(id), "key" + std::to_string(i) + " ");
    ++made;
  }
  EXPECT_EQ(made, model::kMaxPlainSchemas - 2u);
  EXPECT_EQ(chain({"step", "loss"}), step);
  EXPECT_EQ(table_->extend(step, ArgType::kInt64, "step"), step);
}

TEST_F(Schemas, ThoseWithConstantsAreBoundedApart) {
  DefinitionsLog& log = *definitions_;
  char list[model::arg_size(4, 8)];
  const std::uint64_t value = 7;
  model::put_arg(list, ArgType::kUint64, "size", &value, 8);
  for (unsigned i = 0; i < model::kMaxConstantSchemas; ++i)
    ASSERT_NE(log.add_schema({list, sizeof list}, true), 0) << i;
  EXPECT_EQ(log.add_schema({list, sizeof list}, true), model::kNoArgs);
  const SchemaId plain = chain({"step"});
  EXPECT_NE(plain, model::kSelfDescribing);
  EXPECT_EQ(keys_of(plain), "step ");
}

TEST_F(Schemas, ThreadsAgree) {
  constexpr int kThreads = 8;
  std::vector<std::vector<SchemaId>> seen(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const std::string key = "k" + std::to_string(i);
        const SchemaId one = table_->extend(model::kNoArgs, ArgType::kInt64, key);
        mine.push_back(table_->extend(one, ArgType::kString, key + "_and_text"));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& mine : seen) EXPECT_EQ(mine, seen[0]);
  for (int i = 0; i < 200; ++i) {
    const std::string key = "k" + std::to_string(i);
    EXPECT_EQ(keys_of(seen[0][static_cast<std::size_t>(i)]), key + " " + key + "_and_text ");
  }
}

}  // namespace
}  // namespace dft::record
