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

// One function for both shells; zsh takes it through bashcompinit.
std::string script(const std::vector<CommandWords>& all, bool zsh) {
  std::string commands = joined(all[0].options), cases;
  for (std::size_t i = 1; i < all.size(); ++i) {
    commands += " " + all[i].name;
    cases += "    " + all[i].name + ") words=\"" + joined(all[i].options) + "\" ;;\n";
  }
  std::string text = zsh ? "#compdef dftracer\nautoload -U +X bashcompinit && bashcompinit\n" : "";
  text +=
      "_dftracer() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" words=\"\"\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"" +
      commands +
      "\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${COMP_WORDS[1]}\" in\n" +
      cases +
      "  esac\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
      "    *)\n"
      "      if [ \"${COMP_WORDS[1]}\" = completion ]; then\n"
      "        COMPREPLY=($(compgen -W \"bash zsh\" -- \"$current\"))\n"
      "      else\n"
      "        COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "      fi ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _dftracer dftracer\n";
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
