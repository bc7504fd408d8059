// SPDX-License-Identifier: MIT
#include <memory>

#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace dft::tools {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The branch of one subcommand: its options, and what the option before the cursor, or an argument, may be.
std::string branch(const CommandWords& command) {
  std::string values, argument;
  for (const auto& [names, choices] : command.choices) {
    (names.empty() ? argument : values) += names.empty() ? " argument=\"" + joined(choices) + "\""
                                                         : " " + names + ") values=\"" + joined(choices) + "\" ;;";
  }
  if (!values.empty()) values = "; case \"$previous\" in" + values + " esac";
  return "    " + command.name + ") words=\"" + joined(command.options) + "\"" + argument + values + " ;;\n";
}

// One function for both shells; zsh takes it through bashcompinit.
std::string script(const std::vector<CommandWords>& all, bool zsh) {
  std::string commands = joined(all[0].options), cases;
  for (std::size_t i = 1; i < all.size(); ++i) {
    commands += " " + all[i].name;
    cases += branch(all[i]);
  }
  std::string text = zsh ? "#compdef dftracer\nautoload -U +X bashcompinit && bashcompinit\n" : "";
  text += R"sh(_dftracer() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words="" values="" argument="" at
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ")sh" +
          commands + R"sh(" -- "$current"))
    return
  fi
  if [ "${COMP_WORDS[1]}" = run ]; then
    for ((at = 2; at < COMP_CWORD; at++)); do
      [ "${COMP_WORDS[at]}" = -- ] || continue
      if [ "$previous" = -- ]; then COMPREPLY=($(compgen -c -- "$current")); fi
      COMPREPLY+=($(compgen -f -- "$current"))
      return
    done
  fi
  case "${COMP_WORDS[1]}" in
)sh" + cases +
          R"sh(  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *)
      [ -n "$values" ] || values="$argument"
      if [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$current"))
      else
        COMPREPLY=($(compgen -f -- "$current"))
      fi ;;
  esac
}
complete -o filenames -F _dftracer dftracer
)sh";
  return text;
}

}  // namespace

void add_completion(CommandLine& line) {
  const auto shell = std::make_shared<std::string>();
  Command& command =
      line.add("completion", "Print a completion script: source <(dftracer completion bash)", [shell, &line] {
        Output out;
        out << script(line.words(), *shell == "zsh");
        return kExitGood;
      });
  command.choice("shell", *shell, {"bash", "zsh"}, "bash or zsh");
}

}  // namespace dft::tools
