// SPDX-License-Identifier: MIT
// The life of the library: scenarios, tools, the end. As in the real one: rocprofiler-register (here the stand-in for
// HIP) hands the runtimes' tables over, whereupon every tool is asked, those that want it are initialised, and the end
// comes from an exit handler.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "state.h"

namespace standin {

namespace {

State* current = nullptr;

bool is_on(const std::string& value) { return value != "0"; }

void apply_word(Scenario& s, const std::string& word) {
  const std::size_t at = word.find('=');
  const std::string key = word.substr(0, at), value = at == std::string::npos ? "" : word.substr(at + 1);
  const auto number = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
  const std::map<std::string, bool*> switches = {
      {"shuffle", &s.shuffle},
      {"no_flush", &s.no_flush},
      {"initialize_twice", &s.initialize_twice},
      {"locked", &s.locked},
      {"late", &s.late},
      {"no_finalize", &s.no_finalize},
      {"child_dies", &s.child_dies},
      {"scratch_bytes", &s.scratch_bytes},
      {"uuid16", &s.uuid16},
  };
  const std::map<std::string, std::uint32_t*> numbers = {
      {"zero_every", &s.zero_every}, {"zero_end_every", &s.zero_end_every}, {"reversed_every", &s.reversed_every}};
  if (const auto on = switches.find(key); on != switches.end()) {
    *on->second = is_on(value);
  } else if (const auto every = numbers.find(key); every != numbers.end()) {
    *every->second = number;
  } else if (key == "drops") {
    s.drops = number;
  } else if (key == "fail") {
    s.fail.insert(value);
  } else if (key == "version") {
    unsigned major = 0, minor = 0, patch = 0;
    std::sscanf(value.c_str(), "%u.%u.%u", &major, &minor, &patch);
    s.version = major * 10000 + minor * 100 + patch;
  } else {
    std::fprintf(stderr, "stand-in: what is %s?\n", word.c_str());
    std::abort();
  }
}

std::vector<Configure> tools_in_the_process() {
  std::vector<Configure> found;
  const auto take = [&found](void* library) {
    void* symbol = library == nullptr ? nullptr : dlsym(library, "rocprofiler_configure");
    const auto configure = reinterpret_cast<Configure>(symbol);
    for (const Configure one : found) {
      if (one == configure) return;
    }
    if (symbol != nullptr) found.push_back(configure);
  };
  if (const char* list = std::getenv("ROCP_TOOL_LIBRARIES")) {
    std::istringstream in(list);
    for (std::string path; std::getline(in, path, ':');) take(dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL));
  }
  take(dlopen(nullptr, RTLD_NOW));
  std::vector<std::string> objects;
  dl_iterate_phdr(
      [](struct dl_phdr_info* object, std::size_t, void* out) {
        if (object->dlpi_name != nullptr && object->dlpi_name[0] == '/')
          static_cast<std::vector<std::string>*>(out)->push_back(object->dlpi_name);
        return 0;
      },
      &objects);
  for (const std::string& path : objects) take(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD));
  return found;
}

// A tool is asked with the layout of client ids that belongs to the version.
void ask(Configure configure) {
  State& s = state();
  Bytes client(Record::client_id, s.release);
  const std::uint32_t handle = 0xc11e0000u + static_cast<std::uint32_t>(s.tools.size());
  if (s.release == Release::k10) {
    const std::uint64_t size = client.size();
    std::memcpy(client.data(), &size, sizeof size);
  }
  client.put(Field::client_id_handle, handle);
  ++s.counters.configured;
  const std::string text = std::to_string(s.scenario.version / 10000) + ".x of the stand-in";
  void* result = configure(s.scenario.version, text.c_str(), static_cast<std::uint32_t>(s.tools.size()), client.data());
  std::uint32_t after = 0;
  std::memcpy(&after, client.data() + offset_of(Field::client_id_handle, s.release), sizeof after);
  if (after != handle) {
    std::fprintf(stderr, "stand-in: a tool wrote over its client's handle\n");
    std::abort();
  }
  if (result == nullptr) {
    ++s.counters.declined;
    return;
  }
  struct Result {
    std::size_t size;
    int (*initialize)(void (*)(), void*);
    void (*finalize)(void*);
    void* data;
  };
  Result answer;
  std::memcpy(&answer, result, sizeof answer);
  if (answer.size != sizeof answer) std::abort();
  s.tools.push_back({answer.initialize, answer.finalize, answer.data});
}

void end_of_client() {}

// For tests of whole programs, into the file that DFT_HIP_REPORT names.
void report(const State& s) {
  const char* path = std::getenv("DFT_HIP_REPORT");
  std::FILE* out = path == nullptr || getpid() != s.owner ? nullptr : std::fopen(path, "w");
  if (out == nullptr) return;
  const auto print = [out](const char* key, std::uint64_t value, const char* end) {
    std::fprintf(out, "\"%s\":%llu%s", key, static_cast<unsigned long long>(value), end);
  };
  std::fputc('{', out);
  print("asked", s.counters.configured, ",");
  print("declined", s.counters.declined, ",");
  print("initialized", s.counters.initialized, ",");
  print("contexts", s.contexts.size(), ",");
  print("calls", s.calls.load(), ",");
  print("delivered", s.delivered.load(), "}\n");
  std::fclose(out);
}

}  // namespace

State& state() {
  if (current == nullptr) apply_words("");
  return *current;
}

void apply_words(const char* words) {
  auto* fresh = new State;
  fresh->before = current;
  fresh->scenario.version = kNewest == Release::k10 ? 10000 : 500;
  std::istringstream in(words);
  for (std::string word; in >> word;) apply_word(fresh->scenario, word);
  const std::uint32_t version = fresh->scenario.version;
  fresh->release = version >= 10000 ? Release::k10 : version >= 600 ? Release::k06 : Release::k05;
  if (fresh->scenario.locked) fresh->initialized = 1;
  if (current != nullptr) finalize_now();
  if (current != nullptr) fresh->next_internal = current->next_internal + 1000;  // ids are never used again
  current = fresh;
}

void initialize(const Configure* tools, std::size_t count) {
  State& s = state();
  if (s.initialized.load() != 0) return;
  s.initialized = -1;
  static bool once = false;
  if (!once)
    std::atexit([] {
      if (state().scenario.child_dies && getpid() != state().owner) std::raise(SIGSEGV);
      if (!state().scenario.no_finalize) finalize_now();
    });
  once = true;
  std::vector<Configure> found(tools, tools + count);
  if (count == 0) found = tools_in_the_process();
  for (const Configure configure : found) ask(configure);
  for (const Tool& tool : s.tools) {
    ++s.counters.initialized;
    if (tool.initialize != nullptr) tool.initialize(end_of_client, tool.data);
    if (s.scenario.initialize_twice) tool.initialize(end_of_client, tool.data);
  }
  if (s.scenario.drops != 0) {
    for (Buffer& buffer : s.buffers) buffer.add_drops(s.scenario.drops);
  }
  s.initialized = 1;
}

void finalize_now() {
  State& s = *current;
  if (s.finalized.exchange(-1) != 0) return;
  for (auto& context : s.contexts) context = false;
  for (const Tool& tool : s.tools) {
    ++s.counters.finalized;
    if (tool.finalize != nullptr) tool.finalize(tool.data);
  }
  if (s.scenario.late) {
    for (Buffer& buffer : s.buffers) buffer.flush(true);
  }
  for (Worker& worker : s.workers) worker.end();
  s.finalized = 1;
  report(s);
}

}  // namespace standin

__attribute__((constructor)) static void read_environment() {
  if (const char* words = std::getenv("DFT_HIP_STANDIN")) standin::apply_words(words);
}
