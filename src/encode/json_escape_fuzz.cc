// SPDX-License-Identifier: MIT
// Purpose: any bytes as a string: the result is strict JSON, UTF-8, and says the same when nothing was replaced.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "encode/json_check.h"
#include "encode/json_text.h"
#include "encode/json_writer.h"
#include "encode/strict_json_for_test.h"
#include "encode/utf8.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dft::encode;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  dft::base::Buffer out;
  const bool whole = append_json_string(input, out);
  require(whole == is_utf8(input));
  require(out.size() <= 2 + text::escaped_bound(input.data(), input.size()));
  const strict::Value read = strict::parse(out.view());  // throws, and so ends the run, when it is not JSON
  require(read.kind == strict::Value::kString);
  require(!whole || read.text == input);
  require(is_json(out.view()));

  // The checker takes nothing that the strict reader refuses (the reader knows only the escapes that we write).
  if (is_json(input) && input.find("\\u") == std::string_view::npos) strict::parse(input, false);
  return 0;
}
