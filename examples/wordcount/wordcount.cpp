// SPDX-License-Identifier: MIT
// Counts the words of all text files of a directory with several threads, annotated with DFTracer's C++ macros.
//
//   wordcount [--threads N] [--top N] [--repeat N] [DIRECTORY]
//
// In the trace: one region `run`, `list_files` and `merge`, and for each file `count_file` with `read_file` and one
// `count_block` for every 16 KiB inside it. Each file is an entity that its `count_file` uses.
#include <dftracer/dftracer.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 16 * 1024;

struct Options {
  std::string directory = "/usr/share/common-licenses";
  unsigned threads = 4;
  unsigned top = 10;
  unsigned repeat = 1;
};

struct Tally {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t words = 0;
  std::unordered_map<std::string, std::uint64_t> counts;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Counts the words that begin in [begin, end) of a text; returns how many they were.
std::uint64_t count_block(const std::string& text, std::size_t begin, std::size_t end, Tally& tally) {
  DFTRACER_CPP_FUNCTION();
  std::uint64_t words = 0;
  std::string word;
  std::size_t at = begin;
  while (at < end) {
    const bool inside_earlier_word = at == begin && at > 0 && is_letter(text[at - 1]);
    word.clear();
    for (; at < text.size() && is_letter(text[at]); ++at) word += static_cast<char>(text[at] | 0x20);
    if (!word.empty() && !inside_earlier_word) {
      ++tally.counts[word];
      ++words;
    }
    while (at < end && !is_letter(text[at])) ++at;
  }
  DFTRACER_CPP_FUNCTION_UPDATE("offset", begin);
  DFTRACER_CPP_FUNCTION_UPDATE("words", words);
  return words;
}

bool read_file(const fs::path& path, std::string& text) {
  DFTRACER_CPP_FUNCTION();
  std::ifstream file(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  const bool good = !file.bad() && file.is_open();
  DFTRACER_CPP_FUNCTION_UPDATE("bytes", text.size());
  DFTRACER_CPP_FUNCTION_UPDATE("ok", good);
  return good;
}

void count_file(const fs::path& path, Tally& tally) {
  DFTRACER_CPP_FUNCTION();
  DFTRACER_CPP_FUNCTION_UPDATE("path", path.string());
  profiler_dft_fn.uses("text_file", path.c_str(), DFT_STORE_LOCAL_DISK, path.c_str());
  std::string text;
  if (!read_file(path, text)) {
    DFTRACER_CPP_INSTANT(unreadable);
    std::fprintf(stderr, "wordcount: cannot read %s\n", path.c_str());
    return;
  }
  std::uint64_t words = 0;
  for (std::size_t at = 0; at < text.size(); at += kBlock) {
    words += count_block(text, at, std::min(at + kBlock, text.size()), tally);
  }
  ++tally.files;
  tally.bytes += text.size();
  tally.words += words;
  DFTRACER_CPP_FUNCTION_UPDATE("words", words);
  DFTRACER_CPP_FUNCTION_UPDATE("bytes_per_word",
                               words ? static_cast<double>(text.size()) / static_cast<double>(words) : 0.0);
}

std::vector<fs::path> list_files(const std::string& directory) {
  DFTRACER_CPP_FUNCTION();
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.is_regular_file(error) && !entry.is_symlink(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  DFTRACER_CPP_FUNCTION_UPDATE("directory", directory);
  DFTRACER_CPP_FUNCTION_UPDATE("files", files.size());
  return files;
}

// Threads take the next file until none is left.
std::vector<Tally> count_files(const std::vector<fs::path>& files, const Options& options) {
  std::vector<Tally> tallies(options.threads);
  std::atomic<std::size_t> next{0};
  const std::size_t jobs = files.size() * options.repeat;
  std::vector<std::thread> threads;
  for (Tally& tally : tallies) {
    threads.emplace_back([&] {
      for (std::size_t job = next++; job < jobs; job = next++) count_file(files[job % files.size()], tally);
      DFTRACER_CPP_INSTANT("thread done");
    });
  }
  for (std::thread& thread : threads) thread.join();
  return tallies;
}

Tally merge(const std::vector<Tally>& tallies) {
  DFTRACER_CPP_FUNCTION();
  Tally all;
  for (const Tally& tally : tallies) {
    all.files += tally.files;
    all.bytes += tally.bytes;
    all.words += tally.words;
    for (const auto& [word, count] : tally.counts) all.counts[word] += count;
  }
  DFTRACER_CPP_FUNCTION_UPDATE("distinct", all.counts.size());
  return all;
}

void print(const Tally& tally, unsigned top) {
  std::printf("%llu files, %llu bytes, %llu words, %zu different\n", static_cast<unsigned long long>(tally.files),
              static_cast<unsigned long long>(tally.bytes), static_cast<unsigned long long>(tally.words),
              tally.counts.size());
  std::vector<std::pair<std::string, std::uint64_t>> order(tally.counts.begin(), tally.counts.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  order.resize(std::min<std::size_t>(order.size(), top));
  for (const auto& [word, count] : order) {
    std::printf("%10llu %s\n", static_cast<unsigned long long>(count), word.c_str());
  }
}

int run(const Options& options) {
  DFTRACER_CPP_FUNCTION();
  const std::vector<fs::path> files = list_files(options.directory);
  if (files.empty()) {
    std::fprintf(stderr, "wordcount: no files in %s\n", options.directory.c_str());
    return 1;
  }
  const Tally all = merge(count_files(files, options));
  print(all, options.top);
  return all.files == files.size() * options.repeat ? 0 : 1;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    unsigned* number = argument == "--threads"  ? &options.threads
                       : argument == "--top"    ? &options.top
                       : argument == "--repeat" ? &options.repeat
                                                : nullptr;
    if (number != nullptr && i + 1 < argc) {
      *number = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    } else if (number == nullptr && argument.rfind("--", 0) != 0) {
      options.directory = argument;
    } else {
      return false;
    }
  }
  return options.threads > 0 && options.repeat > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: wordcount [--threads N] [--top N] [--repeat N] [DIRECTORY]\n");
    return 2;
  }
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  DFTRACER_CPP_APP_METADATA_STR("directory", options.directory.c_str());
  DFTRACER_CPP_APP_METADATA_INT("threads", static_cast<int>(options.threads));
  DFTRACER_CPP_ENTITY_TYPE("text_file", DFT_ROLE_INPUT, "file whose words are counted");
  const int status = run(options);
  DFTRACER_CPP_FINI();
  return status;
}
