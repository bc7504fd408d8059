// SPDX-License-Identifier: MIT
// Purpose: Python values as args of regions.
// Rules:   no value raises into the caller: what cannot be said exactly is said as text, and what has no text as the
//          name of its type. Integers keep 64 bits and are text beyond; None, NaN and infinities become null.
#pragma once

#include <string>
#include <vector>

#include "python/python.h"

namespace dft::python {

enum Kind : int { kInt = 1, kUnsigned = 2, kDouble = 3, kBool = 4, kText = 5 };

struct Value {
  Kind kind = kInt;
  std::uint64_t bits = 0;
  const char* text = nullptr;
  std::size_t size = 0;
  Ref owner;  // of the text
};

// The bytes of a str; surrogates that stand for undecodable bytes become those bytes. False: no memory.
bool text_of(PyObject* unicode, Value& out);
// `as_float`: numbers become doubles. Never fails and leaves no exception.
Value value_of(PyObject* object, bool as_float = false);

struct Key {
  const char* text;
  std::size_t size;
};
inline bool operator==(const Key& a, const Key& b) { return a.size == b.size && memcmp(a.text, b.text, a.size) == 0; }

void put(DFTracerData* region, Key key, const Value& value);
inline void put_int(DFTracerData* region, Key key, std::int64_t value) {
  dftracer_region_update_bits(region, key.text, key.size, kInt, static_cast<std::uint64_t>(value));
}

// Args that go on every event of a span.
class Args {
 public:
  void set(Key key, const Value& value);
  void clear() { list_.clear(); }
  bool empty() const { return list_.empty(); }
  void put_on(DFTracerData* region) const;

 private:
  struct Arg {
    std::string key;
    Kind kind;
    std::uint64_t bits;
    std::string text;
  };
  std::vector<Arg> list_;
};

// The type name of an exception that ends a region, as its arg `exception`.
void mark_exception(DFTracerData* region, PyObject* type);

}  // namespace dft::python
