// SPDX-License-Identifier: MIT
// Purpose: the options of the subcommands. The one file behind it includes CLI11, which is slow to compile.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dft::tools {

// What an option, or ("" as its name) an argument, may be.
struct OptionChoices {
  std::string names;  // as the shell's `case` takes them: -q|--quiet
  std::vector<std::string> choices;
};

// One subcommand being described. The variables must outlive the command line; names are "-q,--quiet".
class Command {
 public:
  explicit Command(CLI::App& app) : app_(app) {}
  Command& inputs(std::vector<std::string>& out, const char* text);  // positional, one at least
  Command& choice(const char* name, std::string& out, const std::vector<std::string>& choices, const char* text);
  Command& flag(const char* name, bool& out, const char* text);
  // With `choices` only these are taken, in any case of letters.
  Command& text(const char* name, std::string& out, const char* type, const char* text,
                const std::vector<std::string>& choices = {});
  Command& texts(const char* name, std::vector<std::string>& out, const char* type, const char* text);
  Command& numbers(const char* name, std::vector<std::int64_t>& out, const char* type, const char* text);
  Command& number(const char* name, std::uint64_t& out, std::uint64_t least, std::uint64_t most, const char* text);
  Command& excludes(const char* name, const char* other);
  Command& describe(const char* name, const char* text);
  Command& group(const char* title);  // of the options added from now on
  Command& footer(const char* text);
  // Whatever follows the options is a program and its arguments.
  Command& program(std::vector<std::string>& out);
  const std::vector<OptionChoices>& choices() const { return choices_; }

 private:
  CLI::App& app_;
  std::vector<OptionChoices> choices_;
  std::string group_ = "Options";
};

struct CommandWords {
  std::string name;  // empty: the command itself
  std::vector<std::string> options;
  std::vector<OptionChoices> choices;
};

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  Command& add(const char* name, const char* text, std::function<int()> run);
  // The exit status: of what was chosen, or of help and usage errors, which are printed.
  int run(int argc, const char* const* argv);
  std::vector<CommandWords> words() const;  // for completion

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dft::tools
