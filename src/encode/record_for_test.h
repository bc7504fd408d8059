// SPDX-License-Identifier: MIT
// Purpose: records and definitions made by hand, for tests and fuzzers.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "model/definitions.h"
#include "model/record.h"

namespace dft::encode {

class FakeDefinitions final : public model::Definitions {
 public:
  model::SiteId add_site(std::string name, std::string cat, model::Layer layer) {
    sites_.push_back({std::move(name), std::move(cat), layer});
    return static_cast<model::SiteId>(sites_.size());
  }
  model::StringId add_string(model::StringKind kind, std::string bytes) {
    strings_.push_back({kind, std::move(bytes), {}});
    std::memcpy(strings_.back().hash, base::string_hash(strings_.back().bytes).digits, 16);
    return static_cast<model::StringId>(strings_.size());
  }
  model::SchemaId add_schema(std::string fields) {
    schemas_.push_back(std::move(fields));
    return static_cast<model::SchemaId>(schemas_.size());
  }
  void spoil_hash(model::StringId id) { std::memcpy(strings_[id - 1].hash, "\"}broken\n\"{\0\xff\\,,", 16); }

  bool site(model::SiteId id, model::SiteDef& out) const override {
    if (id == 0 || id > sites_.size()) return false;
    const Site& site = sites_[id - 1];
    out = {site.name, site.cat, site.layer};
    return true;
  }
  bool string(model::StringId id, model::StringDef& out) const override {
    if (id == 0 || id > strings_.size()) return false;
    const String& string = strings_[id - 1];
    out.bytes = string.bytes;
    out.kind = string.kind;
    std::memcpy(out.hash, string.hash, sizeof out.hash);
    return true;
  }
  bool schema(model::SchemaId id, model::SchemaView& out) const override {
    if (id == 0 || id > schemas_.size()) return false;
    out = {schemas_[id - 1].data(), schemas_[id - 1].size()};
    return true;
  }

 private:
  struct Site {
    std::string name, cat;
    model::Layer layer;
  };
  struct String {
    model::StringKind kind;
    std::string bytes;
    char hash[16];
  };
  std::deque<Site> sites_;
  std::deque<String> strings_;
  std::deque<std::string> schemas_;
};

// A record in its own 8-byte aligned memory. Padding is filled with bytes that would be noticed.
class RecordBuilder {
 public:
  RecordBuilder(model::RecordKind kind, model::SiteId site, std::uint64_t begin = 0, std::uint64_t end = 0,
                std::uint8_t flags = model::kFlagNanoseconds) {
    words_.resize(sizeof(model::RecordHeader) / 8);
    header() = {sizeof(model::RecordHeader), kind, flags, 0, site, 0, begin, end};
  }
  RecordBuilder& arg(model::ArgType type, std::string_view key, const void* value, std::size_t value_len) {
    const std::size_t at = words_.size();
    words_.resize(at + model::arg_size(key.size(), value_len) / 8, 0x2222220022222222ull);
    model::put_arg(reinterpret_cast<char*>(&words_[at]), type, key, value, value_len);
    header().schema = model::kSelfDescribing;
    header().size = static_cast<std::uint32_t>(words_.size() * 8);
    return *this;
  }
  RecordBuilder& int64(std::string_view key, std::int64_t v) { return arg(model::ArgType::kInt64, key, &v, 8); }
  RecordBuilder& uint64(std::string_view key, std::uint64_t v) { return arg(model::ArgType::kUint64, key, &v, 8); }
  RecordBuilder& real(std::string_view key, double v) { return arg(model::ArgType::kDouble, key, &v, 8); }
  RecordBuilder& boolean(std::string_view key, bool v) {
    const std::uint64_t bits = v;
    return arg(model::ArgType::kBool, key, &bits, 8);
  }
  RecordBuilder& string(std::string_view key, std::string_view v) {
    return arg(model::ArgType::kString, key, v.data(), v.size());
  }
  RecordBuilder& hash(std::string_view key, model::StringId v) {
    const std::uint64_t bits = v;
    return arg(model::ArgType::kHash, key, &bits, 8);
  }
  RecordBuilder& relation(std::string_view name, std::uint64_t entity) {
    return arg(model::ArgType::kRelation, name, &entity, 8);
  }
  RecordBuilder& json(std::string_view key, std::string_view v) {
    return arg(model::ArgType::kJson, key, v.data(), v.size());
  }
  // The values of a record with a schema.
  RecordBuilder& value(std::uint64_t bits) {
    words_.push_back(bits);
    header().size = static_cast<std::uint32_t>(words_.size() * 8);
    return *this;
  }
  RecordBuilder& text(std::string_view v) {
    const std::size_t at = words_.size();
    words_.resize(at + 1 + model::padded8(v.size()) / 8, 0x2222220022222222ull);
    words_[at] = v.size();
    std::memcpy(&words_[at + 1], v.data(), v.size());
    header().size = static_cast<std::uint32_t>(words_.size() * 8);
    return *this;
  }
  RecordBuilder& lane(std::uint32_t lane) {
    header().lane = lane;
    return *this;
  }
  model::RecordHeader& header() { return *reinterpret_cast<model::RecordHeader*>(words_.data()); }
  const model::RecordHeader& get() const { return *reinterpret_cast<const model::RecordHeader*>(words_.data()); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace dft::encode
