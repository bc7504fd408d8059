// SPDX-License-Identifier: MIT
#include "tools/args_reader.h"

#include <charconv>

#include "read/event.h"

namespace dft::tools {

bool for_each_arg(std::string_view args,
                  const std::function<void(std::string_view, const read::Value&, std::string_view)>& member) {
  thread_local read::JsonTokens tokens;
  std::string padded(args);
  padded.append(read::kPadding, ' ');
  if (!tokens.index(std::string_view(padded).substr(0, args.size()))) return false;
  read::JsonCursor cursor(tokens, 0, static_cast<std::uint32_t>(args.size()), true, false);
  std::string plain;
  return cursor.object([&](std::string_view key) {
    read::Value value;
    if (!cursor.value(value)) return false;
    std::string_view text = value.text;
    if (value.escaped) {
      plain.assign(value.text.size(), '\0');
      plain.resize(static_cast<std::size_t>(read::unescape(value.text, plain.data())));
      text = plain;
    }
    member(key, value, text);
    return true;
  });
}

std::optional<std::string> find_arg(std::string_view args, std::string_view key) {
  std::optional<std::string> found;
  for_each_arg(args, [&](std::string_view name, const read::Value&, std::string_view text) {
    if (name == key) found = std::string(text);
  });
  return found;
}

std::optional<std::uint64_t> find_number(std::string_view args, std::string_view key) {
  const auto text = find_arg(args, key);
  std::uint64_t number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

}  // namespace dft::tools
