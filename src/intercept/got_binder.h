// SPDX-License-Identifier: MIT
// Purpose: leads the calls of all loaded objects to wrappers, by the words (slots) in which each object keeps the
//          addresses of functions of others: PLT and GOT entries, and data words such as tables of functions.
// Threads: any. Others call through the slots while they change; one lock for the changes, taken with signals blocked.
//          The dynamic linker's own functions are called only without that lock, since a constructor that runs inside
//          dlopen may wait for it. Never from a signal handler or a vfork child.
// Invariants:
//   1. A slot leads to a wrapper only if that wrapper ends in the address which the caller would have reached without
//      us. So the calls of the process keep their order, whatever lies between: another preload library, the program's
//      own definition with RTLD_NEXT behind it, a sanitizer, an allocator, another binder.
//   2. `real` of a row is stored before the first slot that leads to its wrapper, and kept after unbind().
//   3. Nothing is written to an object outside a dl_iterate_phdr callback that shows it loaded.
// What is left alone: see LeftSlots. What dlsym returns is left alone as well: a program that asks for a function by
// name, often to put its own in front of it, gets the true one. Objects in other namespaces (dlmopen) are not seen.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/futex_lock.h"
#include "intercept/binding_table.h"
#include "intercept/elf_object.h"
#include "intercept/mapped_array.h"
#include "intercept/slot_writer.h"

namespace dft::intercept {

// Slots that do not lead to a wrapper, although they belong to a function of the table.
struct LeftSlots {
  std::uint32_t other = 0;    // hold another function than any row ends in, and no spare row is free
  std::uint32_t unsure = 0;   // not resolved yet, and it cannot be said to which definition they will be
  std::uint32_t refused = 0;  // their page cannot be made writable
  std::uint32_t through = 0;  // lead to a PLT entry of the executable, whose own slot is bound
};

struct BoundCounts {
  std::uint32_t objects = 0;  // loaded objects that were looked through
  std::uint32_t slots = 0;    // slots that lead to a wrapper
  LeftSlots left;
};

class GotBinder {
 public:
  constexpr GotBinder() = default;

  // Binds all objects that are loaded. False when bound already, or without memory: then nothing has changed.
  bool bind(const Binding* bindings, std::size_t count);
  // After a dlopen, or before a dlsym: binds the objects that have come since, forgets those that have gone. Costs one
  // look at two counters of the dynamic linker when there are none. `dlopen_flags`: those of that dlopen, 0 if unknown.
  void bind_new_objects(int dlopen_flags = 0);
  // The same for objects whose relocations are certainly done, without a call of the dynamic linker: for a thread that
  // somebody inside a dlopen may wait for.
  void bind_complete_objects(int dlopen_flags = 0);
  // Every slot that still leads to our wrapper gets back what it held. Wrappers may still be running, or be called by a
  // tool that was bound after us: they must stay and must pass on to `real`.
  void unbind();
  // In the child, on its only thread: the bindings are kept.
  void reset_after_fork() {
    lock_.reset_after_fork();
    writer_ = SlotWriter();  // a page that another thread of the parent had opened stays writable
  }
  BoundCounts counts();

 private:
  struct Object {
    enum class State : std::uint8_t { kNew, kBeingLoaded, kDone, kOurs };
    std::uintptr_t base;
    const void* dynamic;
    std::uint32_t id;       // grows; the records of one object lie together, in the order of ids
    std::uint32_t seen_in;  // the last scan that found it loaded
    std::uint32_t first_in;
    State state;
    LeftSlots left;
  };
  struct Record {
    SlotWord* word;
    void* before;
    std::uint32_t row;
    std::uint32_t object;
  };
  struct Match {
    Slot slot;
    std::uint32_t row;  // the first of its name
    std::uint32_t object;
  };
  struct Code {
    std::uintptr_t begin, end;
    bool ours;
  };

  template <void (GotBinder::*visit)(ElfObject&)>
  void each_object();
  bool counters_changed();
  bool anything_new();
  bool scan_new(int dlopen_flags);
  void scan();
  void scan_until_settled();

  void find_libc(ElfObject& object);
  void find_definitions(ElfObject& object);
  void look_at(ElfObject& object);
  void find_slots(ElfObject& object);
  void bind_object(ElfObject& object);
  void bind_again(ElfObject& object);
  void restore(ElfObject& object);

  bool is_ours(const ElfObject& object);
  Object* known(const ElfObject& object);
  bool still_bound(const ElfObject& object, const Object& entry);
  Object::State first_look(ElfObject& object);
  void forget_gone();
  void forget_records(std::uint32_t object);
  Record* first_record(std::uint32_t object);
  const void* canonical_plt(const Row& row) const;
  const Code* code_at(const void* address);
  bool is_foreign_code(const void* address);
  bool may_stand_behind_us(const ElfObject& object, const void* value);
  void vote(const ElfObject& object, const Match& match);
  bool sees_other_definitions(const ElfObject& object);
  Row* row_for_unresolved(Row* group, const char* version);
  Row* spare_for(Row* group, void* target);
  Row* choose(const ElfObject& object, const Slot& slot, Row* group, void* value);
  void bind_slot(const ElfObject& object, const Match& match);
  template <class Visit>
  void each_match(std::uint32_t object, Visit&& visit);

  enum class Phase : std::uint8_t { kUnbound, kPreparing, kBound };
  base::FutexLock lock_;
  std::atomic<Phase> phase_{Phase::kUnbound};  // these three are written under the lock and read without it
  std::atomic<bool> any_being_loaded_{false};
  std::atomic<unsigned long long> changes_{0};  // loads and unloads up to the last scan
  bool first_scan_ = false;
  bool before_libc_ = false;
  bool deep_bind_ = false;
  bool some_gone_ = false;
  unsigned long long unloads_ = 0;
  std::uint32_t scan_ = 0;
  std::uint32_t settled_ = 0;  // objects that this scan or an earlier one found being loaded are complete by now
  std::uint32_t next_id_ = 0;
  std::size_t cursor_ = 0;
  ObjectPlace program_{};  // the executable, which is never unloaded
  BindingTable table_;
  MappedArray<Object> objects_;
  MappedArray<Record> records_;
  MappedArray<Match> matches_;  // of this scan, in the order of its objects
  MappedArray<Code> code_;
  SlotWriter writer_;
  Object* current_ = nullptr;  // the object whose slots are being bound
  bool own_scope_ = false;     // it may see other definitions than the global scope
};

template <class Visit>
void GotBinder::each_match(std::uint32_t object, Visit&& visit) {
  Match* match = std::lower_bound(matches_.begin(), matches_.end(), object,
                                  [](const Match& entry, std::uint32_t id) { return entry.object < id; });
  for (; match != matches_.end() && match->object == object; ++match) visit(*match);
}

}  // namespace dft::intercept
