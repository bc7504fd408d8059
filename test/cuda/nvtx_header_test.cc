// SPDX-License-Identifier: MIT
// NVTX's own header, where the toolkit has it, with our injection linked in (nvtx_injection.cc).
#include <nvtx3/nvToolsExt.h>

#include "replay.h"
namespace dft::gpu {
namespace {

TEST(NvtxHeader, RangesMarksAndAttributesArrive) {
  record::DrainedRecords drained;
  drained.begin({});
  nvtxRangePushA("epoch");
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("trainer");
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff112233;
  event.category = 9;
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 0.5;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "step");
  nvtxDomainRangePushEx(domain, &event);
  nvtxMarkA("checkpoint");
  EXPECT_EQ(nvtxDomainRangePop(domain), 0);
  const nvtxRangeId_t id = nvtxRangeStartA("load");
  nvtxRangeEnd(id);
  EXPECT_EQ(nvtxRangePop(), 0);
  drained.end();
  const auto lines = lines_of(drained, 0, model::TimeMetric::kNs);
  EXPECT_EQ(count(lines, "CUDA_MARKER"), 4u);
  EXPECT_NE(first(lines, "\"step\"").find(R"("domain":"trainer","category":9,"color":4279312947,"payload":0.5)"),
            std::string::npos)
      << first(lines, "\"step\"");
  EXPECT_NE(first(lines, "checkpoint").find(R"("dur":0)"), std::string::npos);
  EXPECT_NE(first(lines, "epoch"), "");
  EXPECT_NE(first(lines, "load"), "");
}

}  // namespace
}  // namespace dft::gpu
