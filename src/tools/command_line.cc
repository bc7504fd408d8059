// SPDX-License-Identifier: MIT
#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <deque>
#include <string_view>
#include <utility>

#include "tools/commands.h"
#include "tools/output.h"

namespace dft::tools {

struct CommandLine::Impl {
  CLI::App app{"Trace programs and read their traces", "dftracer"};
  std::deque<Command> commands;
  std::function<int()> chosen;
};

namespace {
std::vector<std::string> words_of(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const auto& name : option.get_lnames()) words.push_back("--" + name);
  for (const auto& name : option.get_snames()) words.push_back("-" + name);
  return words;
}
}  // namespace

Command& Command::inputs(std::vector<std::string>& out, const char* text) {
  app_.add_option("inputs", out, text)->required()->type_name("TRACE");
  return *this;
}

Command& Command::choice(const char* name, std::string& out, const std::vector<std::string>& choices,
                         const char* text) {
  app_.add_option(name, out, text)->required()->check(CLI::IsMember(choices));
  choices_.push_back({"", choices});
  return *this;
}

Command& Command::flag(const char* name, bool& out, const char* text) {
  app_.add_flag(name, out, text)->group(group_);
  return *this;
}

Command& Command::text(const char* name, std::string& out, const char* type, const char* text,
                       const std::vector<std::string>& choices) {
  CLI::Option* option = app_.add_option(name, out, text)->group(group_)->type_name(type);
  if (!choices.empty()) {
    option->transform(CLI::IsMember(choices, CLI::ignore_case));
    std::string names;
    for (const auto& word : words_of(*option)) names += (names.empty() ? "" : "|") + word;
    choices_.push_back({names, choices});
  }
  if (!out.empty()) option->capture_default_str();
  return *this;
}

Command& Command::texts(const char* name, std::vector<std::string>& out, const char* type, const char* text) {
  app_.add_option(name, out, text)->group(group_)->type_name(type)->allow_extra_args(false);
  return *this;
}

Command& Command::numbers(const char* name, std::vector<std::int64_t>& out, const char* type, const char* text) {
  app_.add_option(name, out, text)->group(group_)->type_name(type)->allow_extra_args(false);
  return *this;
}

Command& Command::number(const char* name, std::uint64_t& out, std::uint64_t least, std::uint64_t most,
                         const char* text) {
  app_.add_option(name, out, text)->group(group_)->type_name("N")->check(CLI::Range(least, most));
  return *this;
}

Command& Command::excludes(const char* name, const char* other) {
  app_.get_option(name)->excludes(app_.get_option(other));
  return *this;
}

Command& Command::describe(const char* name, const char* text) {
  app_.get_option(name)->description(text);
  return *this;
}

Command& Command::group(const char* title) {
  group_ = title;
  return *this;
}

Command& Command::footer(const char* text) {
  app_.footer(text);
  return *this;
}

Command& Command::program(std::vector<std::string>& out) {
  app_.prefix_command();
  CLI::App* app = &app_;
  app_.parse_complete_callback([app, &out] { out = app->remaining(); });
  return *this;
}

CommandLine::CommandLine() : impl_(std::make_unique<Impl>()) {
  impl_->app.set_version_flag("--version", "dftracer " DFT_VERSION);
  impl_->app.set_help_all_flag("--help-all", "Help of all subcommands");
  impl_->app.require_subcommand(1);
  impl_->app.footer(
      "Exit status: 0 all read, 1 some input damaged or nothing found, 2 usage; `run`: that of the program.");
}

CommandLine::~CommandLine() = default;

Command& CommandLine::add(const char* name, const char* text, std::function<int()> run) {
  CLI::App* app = impl_->app.add_subcommand(name, text);
  app->final_callback([this, run = std::move(run)] { impl_->chosen = run; });
  return impl_->commands.emplace_back(*app);
}

int CommandLine::run(int argc, const char* const* argv) {
  const auto named = [&](const CLI::App* command) { return std::string_view(command->get_name()) == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::as_const(impl_->app).get_subcommands(named).empty()) {
    message(std::string(argv[1]) + ": no such command; `dftracer --help` lists them");
    return kExitUsage;
  }
  try {
    impl_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return impl_->app.exit(error);  // help, version
    const std::string command = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
    message((command.empty() ? "" : command + ": ") + error.what() + "; `dftracer " +
            (command.empty() ? "" : command + " ") + "--help` tells what there is");
    return kExitUsage;
  }
  return impl_->chosen();
}

std::vector<CommandWords> CommandLine::words() const {
  const auto described = [](const CLI::App& app) {
    CommandWords words{app.get_name(), {}, {}};
    for (const CLI::Option* option : app.get_options()) {
      for (auto& word : words_of(*option)) words.options.push_back(std::move(word));
    }
    return words;
  };
  std::vector<CommandWords> all{described(impl_->app)};
  all[0].name.clear();
  auto command = impl_->commands.begin();  // in the order of the subcommands
  for (const CLI::App* app : impl_->app.get_subcommands([](const CLI::App*) { return true; })) {
    all.push_back(described(*app));
    all.back().choices = (command++)->choices();
  }
  return all;
}

}  // namespace dft::tools
