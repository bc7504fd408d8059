// SPDX-License-Identifier: MIT
// Page migration as the kernel's driver tells it: of 0.4 and 0.5, of 0.6, and the KFD kinds since then.
#include "sources/gpu/rocprof/decode.h"

namespace dft::gpu::rocprof {

namespace {

enum Operation05 { kMigrate05 = 1, kFault05, kSuspend05, kUnmap05 };
enum Operation06 {
  kMigrateStart06 = 1,
  kMigrateEnd06,
  kFaultStart06,
  kFaultEnd06,
  kEviction06,
  kRestore06,
  kUnmap06,
  kDropped06
};

constexpr char kDriverDropped[] = "page migration: the kernel's driver dropped its events";

}  // namespace

bool Decoder::decode_page_migration(const Record& record, NamedActivity& out, ActivitySink& sink) const {
  return choice_.generation == Generation::k05 ? decode_page_migration_05(record, out)
                                               : decode_page_migration_06(record, out, sink);
}

bool Decoder::decode_page_migration_05(const Record& record, NamedActivity& out) const {
  PageMigrationRecord05 page;
  if (!record.get_exactly(&page)) return false;
  const auto place = [&](std::uint32_t node) { place_on(agents_->of_node(node), LaneKind::kPageMigration, out); };
  out.begin = page.start;
  out.end = page.end;
  add_signed(out, Field::kOperation, page.head.operation);
  add(out, Field::kPid, page.pid);
  switch (page.head.operation) {
    case kFault05:
      place(page.fault.node);
      add(out, Field::kAddress, page.fault.address);
      add(out, Field::kNode, page.fault.node);
      add(out, Field::kReadFault, page.fault.flags & 1u);
      add(out, Field::kMigrated, page.fault.flags >> 1 & 1u);
      return true;
    case kMigrate05:
      place(page.migrate.to_node);
      if (out.device == kNoId) place(page.migrate.from_node);
      add(out, Field::kStartAddr, page.migrate.start_address);
      add(out, Field::kEndAddr, page.migrate.end_address);
      add(out, Field::kFromNode, page.migrate.from_node);
      add(out, Field::kToNode, page.migrate.to_node);
      add(out, Field::kPrefetchNode, page.migrate.prefetch_node);
      add(out, Field::kPreferredNode, page.migrate.preferred_node);
      add_signed(out, Field::kTrigger, page.migrate.trigger);
      return true;
    case kSuspend05:
      place(page.suspend.node);
      add(out, Field::kNode, page.suspend.node);
      add_signed(out, Field::kTrigger, page.suspend.trigger);
      add(out, Field::kRescheduled, page.suspend.flags & 1u);
      return true;
    case kUnmap05:
      place(page.unmap.node);
      add(out, Field::kStartAddr, page.unmap.start_address);
      add(out, Field::kEndAddr, page.unmap.end_address);
      add(out, Field::kNode, page.unmap.node);
      add_signed(out, Field::kTrigger, page.unmap.trigger);
      return true;
    default: return false;
  }
}

bool Decoder::decode_page_migration_06(const Record& record, NamedActivity& out, ActivitySink& sink) const {
  PageMigrationRecord06 page;
  if (!record.get_exactly(&page)) return false;
  const auto place = [&](Id agent) { place_on(agents_->of_handle(agent.handle), LaneKind::kPageMigration, out); };
  out.is_instant = true;
  out.begin = page.timestamp;
  place(Id{});
  add_signed(out, Field::kOperation, page.head.operation);
  add(out, Field::kPid, page.pid);
  switch (page.head.operation) {
    case kMigrateStart06:
    case kMigrateEnd06: {
      const bool is_start = page.head.operation == kMigrateStart06;
      const MigrateStart06& pages = page.migrate_start;  // both begin alike
      place(pages.to_agent);
      if (out.device == kNoId) place(pages.from_agent);
      add(out, Field::kStartAddr, pages.start_address);
      add(out, Field::kEndAddr, pages.end_address);
      add(out, Field::kFromAgent, agent_number(pages.from_agent));
      add(out, Field::kToAgent, agent_number(pages.to_agent));
      if (is_start) add(out, Field::kPrefetchAgent, agent_number(pages.prefetch_agent));
      if (is_start) add(out, Field::kPreferredAgent, agent_number(pages.preferred_agent));
      add_signed(out, Field::kTrigger, is_start ? pages.trigger : page.migrate_end.trigger);
      if (!is_start) add_signed(out, Field::kErrorCode, page.migrate_end.error);
      return true;
    }
    case kFaultStart06:
    case kFaultEnd06:
      place(page.fault.agent);
      add(out, Field::kAgent, agent_number(page.fault.agent));
      add(out, Field::kAddress, page.fault.address);
      add(out, page.head.operation == kFaultStart06 ? Field::kReadFault : Field::kMigrated, page.fault.flag & 1u);
      return true;
    case kEviction06:
      place(page.eviction.agent);
      add(out, Field::kAgent, agent_number(page.eviction.agent));
      add_signed(out, Field::kTrigger, page.eviction.trigger);
      return true;
    case kRestore06:
      place(page.restore.agent);
      add(out, Field::kAgent, agent_number(page.restore.agent));
      add(out, Field::kRescheduled, page.restore.flag & 1u);
      return true;
    case kUnmap06:
      place(page.unmap.agent);
      add(out, Field::kAgent, agent_number(page.unmap.agent));
      add(out, Field::kStartAddr, page.unmap.start_address);
      add(out, Field::kEndAddr, page.unmap.end_address);
      add_signed(out, Field::kTrigger, page.unmap.trigger);
      return true;
    case kDropped06:
      add(out, Field::kDroppedEvents, page.dropped);
      sink.loss(LossCause::kDropped, page.dropped, 0, kDriverDropped);
      return true;
    default: return false;
  }
}

namespace {

// The events with one time and their paired forms differ in the times only.
struct Times {
  std::uint64_t begin, end;
};
Times times_in(const KfdMigrateEvent& r) { return {r.timestamp, 0}; }
Times times_in(const KfdFaultEvent& r) { return {r.timestamp, 0}; }
Times times_in(const KfdQueueEvent& r) { return {r.timestamp, 0}; }
Times times_in(const KfdMigrate& r) { return {r.start, r.end}; }
Times times_in(const KfdFault& r) { return {r.start, r.end}; }
Times times_in(const KfdQueue& r) { return {r.start, r.end}; }

}  // namespace

bool Decoder::decode_kfd(const Record& record, Family family, NamedActivity& out, ActivitySink& sink) const {
  const auto begin = [&](Times times, std::uint32_t pid, Id agent) {
    out.begin = times.begin;
    out.end = times.end;
    place_on(agents_->of_handle(agent.handle), LaneKind::kPageMigration, out);
    add_signed(out, Field::kOperation, static_cast<std::int32_t>(out.operation));
    add(out, Field::kPid, pid);
  };
  const auto migrate = [&](const auto& pages) {
    const Agents::Entry* dst = agents_->of_handle(pages.dst_agent.handle);
    const bool is_on_dst = dst != nullptr && dst->gpu != kNoId;
    begin(times_in(pages), pages.pid, is_on_dst ? pages.dst_agent : pages.src_agent);
    add(out, Field::kStartAddress, pages.start_address);
    add(out, Field::kEndAddress, pages.end_address);
    add(out, Field::kKfdSrcAgent, agent_number(pages.src_agent));
    add(out, Field::kKfdDstAgent, agent_number(pages.dst_agent));
    add(out, Field::kPrefetchAgent, agent_number(pages.prefetch_agent));
    add(out, Field::kPreferredAgent, agent_number(pages.preferred_agent));
    add_signed(out, Field::kErrorCode, pages.error);
    return true;
  };
  const auto fault = [&](const auto& page) {
    begin(times_in(page), page.pid, page.agent);
    add(out, Field::kAgent, agent_number(page.agent));
    add(out, Field::kAddress, page.address);
    return true;
  };
  const auto queue = [&](const auto& queues) {
    begin(times_in(queues), queues.pid, queues.agent);
    add(out, Field::kAgent, agent_number(queues.agent));
    return true;
  };
  out.is_instant = family <= Family::kKfdDroppedEvent;
  switch (family) {
    case Family::kKfdMigrateEvent: {
      KfdMigrateEvent r;
      return record.get(&r) && migrate(r);
    }
    case Family::kKfdMigrate: {
      KfdMigrate r;
      return record.get(&r) && migrate(r);
    }
    case Family::kKfdFaultEvent: {
      KfdFaultEvent r;
      return record.get(&r) && fault(r);
    }
    case Family::kKfdFault: {
      KfdFault r;
      return record.get(&r) && fault(r);
    }
    case Family::kKfdQueueEvent: {
      KfdQueueEvent r;
      return record.get(&r) && queue(r);
    }
    case Family::kKfdQueue: {
      KfdQueue r;
      return record.get(&r) && queue(r);
    }
    case Family::kKfdUnmapEvent: {
      KfdUnmapEvent r;
      if (!record.get(&r)) return false;
      begin({r.timestamp, 0}, r.pid, r.agent);
      add(out, Field::kAgent, agent_number(r.agent));
      add(out, Field::kStartAddress, r.start_address);
      add(out, Field::kEndAddress, r.end_address);
      return true;
    }
    case Family::kKfdDroppedEvent: {
      KfdDroppedEvent r;
      if (!record.get(&r)) return false;
      begin({r.timestamp, 0}, r.pid, Id{});
      add(out, Field::kDroppedEvents, r.count);
      sink.loss(LossCause::kDropped, r.count, 0, kDriverDropped);
      return true;
    }
    default: return false;
  }
}

}  // namespace dft::gpu::rocprof
