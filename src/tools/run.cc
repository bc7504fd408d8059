// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "base/log.h"
#include "dftracer/dftracer_config.hpp"
#include "model/trace_format.h"
#include "read/inputs.h"
#include "tools/child.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/output.h"
#include "tools/program_check.h"
#include "tools/recovery.h"
#include "tools/report.h"
#include "tools/tally.h"
#include "tools/time_text.h"

namespace dft::tools {
namespace {

namespace fs = std::filesystem;
constexpr const char* kLibrary = "libdftracer_preload.so";
constexpr const char* kNvtxLibrary = "NVTX_INJECTION64_PATH";
constexpr std::uint64_t kMostCounted = std::uint64_t{32} << 20;  // larger traces are not read only to count

struct RunOptions {
  std::string prefix = "./trace";
  std::string mode = "preload";
  std::string time_metric, data_dir;
  std::vector<std::string> env;
  bool crash_safe = false;
  bool no_metadata = false;
  bool quiet = false;
  std::vector<std::string> command;
  sighandler_t sigpipe = SIG_DFL;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// False, with a message, when a --env is no K=V.
bool add_wanted(const RunOptions& options, Environment& out) {
  for (const auto& pair : options.env) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      message("--env " + pair + ": NAME=VALUE is expected");
      return false;
    }
    out.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return true;
}

// AddressSanitizer of GCC ends a program before whose runtime anything is preloaded, unless it is told not to look. The
// preload library takes nothing from it: its functions lead on to the runtime's.
std::string sanitizer_options() {
  const char* before = std::getenv("ASAN_OPTIONS");
  std::string options = before != nullptr ? before : "";
  if (options.find("verify_asan_link_order") != std::string::npos) return options;
  return (options.empty() ? "" : options + ":") + "verify_asan_link_order=0";
}

// `first`, and behind it what the variable has already.
std::string before_variable(const std::string& first, const char* variable) {
  const char* before = std::getenv(variable);
  return before != nullptr && *before != '\0' ? first + ":" + before : first;
}

Environment tracing_environment(const RunOptions& options, const std::string& prefix, const std::string& library) {
  Environment out = {{"DFTRACER_ENABLE", "1"}, {"DFTRACER_INIT", upper(options.mode)}, {"DFTRACER_LOG_FILE", prefix}};
  if (!library.empty()) {
    // The loader takes blanks in LD_PRELOAD for ends of names: a library that lies behind one is named only, and looked
    // for in LD_LIBRARY_PATH.
    const bool nameable = library.find_first_of(" \t\n") == std::string::npos;
    out.emplace_back("LD_PRELOAD",
                     before_variable(nameable ? library : fs::path(library).filename().string(), "LD_PRELOAD"));
    if (!nameable) {
      out.emplace_back("LD_LIBRARY_PATH", before_variable(fs::path(library).parent_path().string(), "LD_LIBRARY_PATH"));
    }
    out.emplace_back("ASAN_OPTIONS", sanitizer_options());
  }
  // From outside it is there before the program's first thread; the program's user may have another in mind.
  if (DFTRACER_HAS_CUDA_TRACING != 0 && !library.empty() && std::getenv(kNvtxLibrary) == nullptr) {
    out.emplace_back(kNvtxLibrary, library);
  }
  if (options.crash_safe) out.emplace_back("DFTRACER_CRASH_SAFE", "1");
  if (options.no_metadata) out.emplace_back("DFTRACER_INC_METADATA", "0");
  if (!options.time_metric.empty()) out.emplace_back("DFTRACER_TIME_METRIC", upper(options.time_metric));
  if (!options.data_dir.empty()) out.emplace_back("DFTRACER_DATA_DIR", options.data_dir);
  return out;
}

std::set<std::string> files_of(const std::string& prefix, std::string_view suffix) {
  const auto files = read::files_of_prefix(prefix, suffix);
  return {files.begin(), files.end()};
}

std::vector<std::string> fresh_files(const std::string& prefix, std::string_view suffix,
                                     const std::set<std::string>& before) {
  std::vector<std::string> fresh;
  for (const auto& file : files_of(prefix, suffix)) {
    if (before.count(file) == 0) fresh.push_back(file);
  }
  return fresh;
}

class Counter : public Report {
 public:
  explicit Counter(const Selection& selection) : Report(selection) {}
  std::uint64_t events = 0;

 private:
  bool event(const read::Block&, const read::Event& event) override {
    events += event.cat == model::kCategoryDftracer ? 0 : 1;
    return true;
  }
};

void tell_traces(const std::vector<std::string>& traces, const std::string& prefix) {
  std::string text = counted(traces.size(), "trace") + ": ";
  if (traces.size() <= 3) {
    for (std::size_t i = 0; i < traces.size(); ++i) text += (i == 0 ? "" : ", ") + traces[i];
  } else {
    text += prefix + "-*" + std::string(model::kTraceSuffixPlain) + "*";
  }
  std::uint64_t disk = 0;
  std::error_code error;
  for (const auto& trace : traces) disk += fs::file_size(trace, error);
  text += " (" + human_bytes(static_cast<double>(disk));
  if (disk > kMostCounted) {
    message(text + ")");
    return;
  }
  Selection selection;
  selection.inputs = traces;
  Counter counter(selection);
  counter.read(false, false);
  message(text + ", " + counted(counter.events, "event") + ")");
  if (counter.losses().any())
    message("not everything was recorded: `dftracer info " + prefix + "` says what is missing");
}

// One line, or a few when something went wrong.
void tell(const RunOptions& options, const std::string& prefix, const Program& program,
          const std::set<std::string>& before, const std::set<std::string>& crashes_before, std::uint64_t idle) {
  for (const auto& crash : fresh_files(prefix, model::kCrashFileSuffix, crashes_before)) {
    RecoverOptions recovery;
    const RecoverResult result = recover_crash(crash, recovery);
    message(result.text);
  }
  const auto traces = fresh_files(prefix, model::kTraceSuffixPlain, before);
  if (!traces.empty() && options.quiet) return;
  if (!traces.empty()) {
    tell_traces(traces, prefix);
  } else if (!program.why_untraced.empty()) {
    message("no trace of " + program.path + ": " + program.why_untraced);
  } else if (options.mode == "function") {
    message(
        "no trace: the program did not initialise DFTracer (it must be built with its API, or be run with --mode "
        "preload)");
  } else {
    message("no trace: no event was recorded");
  }
  if (idle != 0) message(human_count(idle) + (idle == 1 ? " process" : " processes") + " recorded nothing");
}

// The program's own status, or 126 or 127 when it could not be started. A signal that ended it ends us too.
int finish(const Program& program, const ChildResult& result) {
  if (result.start_error != 0) {
    message(program.path + ": " + std::string(base::error_text(result.start_error)));
    return result.start_error == ENOENT ? 127 : 126;
  }
  if (!result.signalled) return result.status;
  die_by(result.status);
  return 128 + result.status;
}

// Empty, with a message, when nobody can tell it.
std::string absolute_prefix(const std::string& prefix) {
  std::error_code error;
  const fs::path absolute = fs::absolute(prefix, error);
  if (!error) return absolute.lexically_normal().string();
  const bool deleted = error == std::errc::no_such_file_or_directory;
  message("cannot tell where " + prefix + " is: " + (deleted ? "the current directory was deleted" : error.message()) +
          ": the program runs untraced; choose an absolute place with -o PREFIX");
  return {};
}

// The folder of the traces; false, with a message, when it cannot be made.
bool make_folder(const std::string& prefix) {
  std::error_code error;
  const fs::path folder = fs::path(prefix).parent_path();
  fs::create_directories(folder, error);
  if (!error) return true;
  message("cannot create " + folder.string() + ": " + error.message() +
          ": the program runs untraced; choose another place with -o PREFIX");
  return false;
}

int run_traced(const RunOptions& options, const Program& program, const std::string& prefix, const std::string& library,
               const Environment& wanted) {
  Tally tally;
  Environment environment = tracing_environment(options, prefix, library);
  if (!tally.path().empty()) environment.emplace_back(kTallyVariable, tally.path());
  environment.insert(environment.end(), wanted.begin(), wanted.end());
  const auto before = files_of(prefix, model::kTraceSuffixPlain);
  const auto crashes_before = files_of(prefix, model::kCrashFileSuffix);
  const ChildResult result = run_child(program.path, options.command, environment, options.sigpipe);
  const std::uint64_t idle = tally.take();
  if (result.start_error == 0) tell(options, prefix, program, before, crashes_before, idle);
  return finish(program, result);
}

int run(const RunOptions& options) {
  if (options.command.empty()) {
    message("run: a program is expected: dftracer run [options] -- PROGRAM [ARGUMENTS]");
    return kExitUsage;
  }
  if (options.prefix.empty()) {
    message("run: -o needs a prefix for the trace files, as in -o traces/job");
    return kExitUsage;
  }
  const Program program = find_program(options.command[0], std::getenv("PATH"));
  if (program.status != 0) {
    message(options.command[0] + (program.status == 127 ? ": command not found" : ": permission denied"));
    return program.status;
  }
  std::string library;
  if (options.mode != "function" && (library = find_library(kLibrary)).empty()) {
    message(std::string(kLibrary) +
            " was not found beside this command; install DFTracer, or run with --mode function");
    return kExitUsage;
  }
  Environment wanted;
  if (!add_wanted(options, wanted)) return kExitUsage;
  const std::string prefix = absolute_prefix(options.prefix);
  if (!prefix.empty() && make_folder(prefix)) return run_traced(options, program, prefix, library, wanted);
  return finish(program, run_child(program.path, options.command, wanted, options.sigpipe));
}

}  // namespace

void add_run(CommandLine& line, const ProcessStart& process) {
  const auto options = std::make_shared<RunOptions>();
  options->sigpipe = process.sigpipe;
  Command& command =
      line.add("run", "Run a program and trace it: dftracer run [options] -- PROGRAM [ARGUMENTS]",
               [options, behind = process.behind_dashes, dashes = process.dashes] {
                 if (!options->command.empty() && options->command[0].substr(0, 1) == "-") {
                   message("run: no such option: " + options->command[0] + "; `dftracer run --help` lists them");
                   return static_cast<int>(kExitUsage);
                 }
                 // Behind a program's name the dashes are its own.
                 if (dashes && !options->command.empty()) options->command.push_back("--");
                 options->command.insert(options->command.end(), behind.begin(), behind.end());
                 return run(*options);
               });
  command.text("-o,--output", options->prefix, "PREFIX", "Prefix of the trace files")
      .text("--mode", options->mode, "MODE",
            "preload: without the program's help; function: it calls the API; hybrid: both",
            {"preload", "function", "hybrid"})
      .flag("--crash-safe", options->crash_safe, "Lose nothing when the program is killed")
      .flag("--no-metadata", options->no_metadata, "Record no args")
      .text("--time-metric", options->time_metric, "UNIT", "Unit of times in the trace", {"ns", "us", "ms", "sec"})
      .text("--data-dir", options->data_dir, "DIRS", "Folders whose files are traced, separated by ':'")
      .texts("--env", options->env, "NAME=VALUE", "A variable for the program; may be given more than once")
      .flag("-q,--quiet", options->quiet, "Say nothing when all went well")
      .program(options->command)
      .footer("Exit status: that of the program; 127 not found, 126 not executable, 2 usage.");
}

}  // namespace dft::tools
