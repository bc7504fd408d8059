// SPDX-License-Identifier: MIT
// What a libcupti tells when a graph is made executable, under the driver of this machine: which of its releases may be
// asked how many nodes a graph has.
//   graph_callbacks LIBCUPTI STEP    STEP: callbacks (they are only counted), ids (as the tracer uses them)
// Exit status 77 without a device.
#include <atomic>
#include <cstring>

#include "driver.h"
#include "sources/gpu/cupti/functions.h"
#include "sources/gpu/cupti/graph_nodes.h"

namespace {

namespace cupti = dft::gpu::cupti;

constexpr int kNodes = 5;

cupti::Functions functions;
cupti::GraphSizes sizes;
std::atomic<int> called{0};
bool uses_them = false;

void on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId id, const void* data) {
  called.fetch_add(1, std::memory_order_relaxed);
  const auto* resource = static_cast<const CUpti_ResourceData*>(data);
  if (!uses_them || resource == nullptr || resource->resourceDescriptor == nullptr) return;
  cupti::count_graph_nodes(id, *static_cast<const cupti::GraphData*>(resource->resourceDescriptor), functions, sizes);
}

void subscribe(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  const char* missing = library != nullptr ? cupti::load_functions(library, &functions) : "the library";
  if (missing != nullptr) {
    std::fprintf(stderr, "%s: no %s\n", path, missing);
    std::exit(1);
  }
  std::uint32_t api = 0;
  functions.get_version(&api);
  CUpti_SubscriberHandle subscriber;
  const int result =
      static_cast<int>(functions.subscribe(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(&on_callback), nullptr));
  std::printf("version %u, subscribe %d, graph launches %d;", api, result,
              static_cast<int>(functions.enable(static_cast<CUpti_ActivityKind>(51))));
  for (const cupti::GraphCallback id : cupti::kGraphCallbacks) {
    std::printf(" callback %u: %d", static_cast<unsigned>(id),
                static_cast<int>(functions.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id)));
  }
  std::printf("; ");
  std::fflush(stdout);
}

void make_graph() {
  const CUfunction nothing = driver::load(driver::kPtx, "_ZN5train7nothingEv");
  CUstream stream;
  CUgraph made;
  CUgraphExec ready;
  CHECK(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (int i = 0; i < kNodes; ++i) CHECK(CU(cuLaunchKernel)(nothing, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
  CHECK(CU(cuStreamEndCapture)(stream, &made));
  using Instantiate = CUresult (*)(CUgraphExec*, CUgraph, unsigned long long);
  const auto instantiate = reinterpret_cast<Instantiate>(dlsym(driver::library, "cuGraphInstantiateWithFlags"));
  if (instantiate == nullptr) std::exit(driver::kSkipped);
  CHECK(instantiate(&ready, made, 0));
  for (int i = 0; i < 2; ++i) CHECK(CU(cuGraphLaunch)(ready, stream));
  CHECK(CU(cuStreamSynchronize)(stream));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  uses_them = std::strcmp(argv[2], "ids") == 0;
  driver::open_device();
  subscribe(argv[1]);
  make_graph();
  std::printf("%d callbacks", called.load());
  sizes.drain([](cupti::GraphSize size) { std::printf(", graph %u of %u nodes", size.graph, size.nodes); });
  std::printf("\n");
  return 0;
}
