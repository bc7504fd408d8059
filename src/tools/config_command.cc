// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <memory>

#include "config/config.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace dft::tools {
namespace {

int print_config(bool json) {
  const config::Loaded loaded = config::load(config::process_environment, environ);
  Output out;
  if (json) {
    begin_json(out, "config");
    out.json().key("configuration").raw(config::render_json(loaded));
    end_json(out);
  } else {
    out << config::render_text(loaded);
  }
  for (const auto& note : loaded.notes) message(note);
  return loaded.notes.empty() ? kExitGood : kExitDamaged;
}

}  // namespace

void add_config(CommandLine& line) {
  const auto json = std::make_shared<bool>(false);
  Command& command = line.add("config", "Print the configuration that a traced program would get here",
                              [json] { return print_config(*json); });
  command.flag("--json", *json, "Print one JSON object");
}

}  // namespace dft::tools
