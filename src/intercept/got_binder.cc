// SPDX-License-Identifier: MIT
#include "intercept/got_binder.h"

#include <dlfcn.h>
#include <string.h>

#include <algorithm>

#include "intercept/preload_library.h"

namespace dft::intercept {

namespace {

// Code of the library that this binder is part of.
void landmark() {}

// libc and the dynamic linker call each other's functions under their own locks and in the middle of their own work:
// what libc does inside one call of the application is not a call of the application, and malloc, locks or thread start
// would be re-entered. Their calls of the names that we bind do not pass through slots anyway (hidden symbols).
bool is_libc_or_linker(const ElfObject& object) {
  for (const char* prefix : {"libc.so.", "ld-linux", "ld64.so", "libpthread.so.", "libdl.so.", "librt.so.", "ld-musl",
                             "libc.musl", "linux-vdso", "linux-gate"})
    if (strncmp(object.soname(), prefix, strlen(prefix)) == 0) return true;
  return false;
}

// Waits until a dlopen of another thread that has already begun is over: dlsym takes the same lock.
void wait_for_running_dlopen() { (void)dlsym(RTLD_DEFAULT, "dl_iterate_phdr"); }

struct Counters {
  unsigned long long loads, unloads;
};
Counters read_counters() {
  Counters now{};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<Counters*>(out) = {info->dlpi_adds, info->dlpi_subs};
        return 1;
      },
      &now);
  return now;
}

}  // namespace

template <void (GotBinder::*visit)(ElfObject&)>
void GotBinder::each_object() {
  cursor_ = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* self) {
        ElfObject object(*info);
        (static_cast<GotBinder*>(self)->*visit)(object);
        return 0;
      },
      this);
}

// Both counters in one: they only grow, so a sum that is the same means that neither has changed.
bool GotBinder::counters_changed() {
  const Counters now = read_counters();
  some_gone_ = now.unloads != unloads_;
  unloads_ = now.unloads;
  return changes_.exchange(now.loads + now.unloads, std::memory_order_relaxed) != now.loads + now.unloads;
}

bool GotBinder::bind(const Binding* bindings, std::size_t count) {
  {
    const base::LockGuard guard(lock_);
    if (phase_ != Phase::kUnbound || !table_.load(bindings, count)) return false;
    phase_ = Phase::kPreparing;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
          *static_cast<ObjectPlace*>(out) = ElfObject(*info).place();
          return 1;
        },
        &program_);
    each_object<&GotBinder::find_libc>();
    before_libc_ = true;
    each_object<&GotBinder::find_definitions>();
  }
  table_.resolve_indirect();
  {
    const base::LockGuard guard(lock_);
    counters_changed();
    first_scan_ = true;
    scan();
    first_scan_ = false;
    phase_ = Phase::kBound;
  }
  scan_until_settled();
  return true;
}

bool GotBinder::anything_new() {
  const Counters now = read_counters();
  return now.loads + now.unloads != changes_.load(std::memory_order_relaxed);
}

bool GotBinder::scan_new(int dlopen_flags) {
  const base::LockGuard guard(lock_);
  if (phase_ != Phase::kBound || (!counters_changed() && !any_being_loaded_)) return false;
  deep_bind_ = (dlopen_flags & RTLD_DEEPBIND) != 0;
  scan();
  deep_bind_ = false;
  return true;
}

void GotBinder::bind_new_objects(int dlopen_flags) {
  if (phase_.load(std::memory_order_relaxed) == Phase::kUnbound) return;
  if (!anything_new() && !any_being_loaded_.load(std::memory_order_relaxed)) return;
  if (scan_new(dlopen_flags)) scan_until_settled();
}

void GotBinder::bind_complete_objects(int dlopen_flags) {
  if (phase_.load(std::memory_order_relaxed) == Phase::kUnbound || !anything_new()) return;
  scan_new(dlopen_flags);
}

void GotBinder::scan_until_settled() {
  std::uint32_t seen = 0;
  {
    const base::LockGuard guard(lock_);
    if (!any_being_loaded_) return;
    seen = scan_;
  }
  wait_for_running_dlopen();
  const base::LockGuard guard(lock_);
  if (phase_ != Phase::kBound) return;
  settled_ = std::max(settled_, seen);
  counters_changed();
  scan();
}

void GotBinder::unbind() {
  const base::LockGuard guard(lock_);
  if (phase_ != Phase::kBound) return;
  each_object<&GotBinder::restore>();
  records_.release();
  objects_.release();
  code_.release();
  matches_.release();
  table_.release();
  any_being_loaded_ = false;
  phase_ = Phase::kUnbound;
}

BoundCounts GotBinder::counts() {
  const base::LockGuard guard(lock_);
  BoundCounts counts;
  counts.objects = static_cast<std::uint32_t>(objects_.size());
  counts.slots = static_cast<std::uint32_t>(records_.size());
  for (const Object& object : objects_) {
    counts.left.other += object.left.other;
    counts.left.unsure += object.left.unsure;
    counts.left.refused += object.left.refused;
    counts.left.through += object.left.through;
  }
  return counts;
}

// Four passes, each with the dynamic linker's list held still: an object that comes between two of them is not new to
// the later ones and waits for the next scan; one that goes is not visited.
void GotBinder::scan() {
  ++scan_;
  code_.clear();
  matches_.clear();
  any_being_loaded_ = false;
  each_object<&GotBinder::look_at>();
  forget_gone();
  each_object<&GotBinder::find_slots>();
  table_.store_reals();
  each_object<&GotBinder::bind_object>();
  each_object<&GotBinder::bind_again>();
}

void GotBinder::find_libc(ElfObject& object) {
  object.read();
  if (strncmp(object.soname(), "libc.", 5) == 0) table_.take_default_versions(object);
}

void GotBinder::find_definitions(ElfObject& object) {
  object.read();
  if (is_ours(object)) return;
  table_.take_definitions(object, before_libc_);
  if (strncmp(object.soname(), "libc.", 5) == 0) before_libc_ = false;
}

bool GotBinder::is_ours(const ElfObject& object) {
  if (object.contains(reinterpret_cast<const void*>(&landmark))) return true;
  if (preload_library_is_loaded() && object.contains(reinterpret_cast<const void*>(&dftracer_next_symbol))) return true;
  return std::any_of(table_.begin(), table_.end(),
                     [&](const Row& row) { return object.contains(row.binding->wrapper); });
}

GotBinder::Object* GotBinder::known(const ElfObject& object) {
  const auto same = [&](const Object& entry) {
    return entry.base == object.base() && entry.dynamic == object.dynamic();
  };
  if (cursor_ < objects_.size() && same(objects_[cursor_])) return &objects_[cursor_++];
  Object* found = std::find_if(objects_.begin(), objects_.end(), same);
  if (found == objects_.end()) return nullptr;
  cursor_ = static_cast<std::size_t>(found - objects_.begin()) + 1;
  return found;
}

// After an unload: whether this is the object that we bound, and not one that has come to the same place.
bool GotBinder::still_bound(const ElfObject& object, const Object& entry) {
  if (entry.state == Object::State::kOurs) return is_ours(object);
  const Record* record = first_record(entry.id);
  if (record == records_.end() || record->object != entry.id || !object.contains(record->word)) return false;
  return record->word->load(std::memory_order_relaxed) == table_[record->row].binding->wrapper;
}

GotBinder::Object::State GotBinder::first_look(ElfObject& object) {
  if (is_ours(object)) return Object::State::kOurs;
  object.read();
  if (!first_scan_) table_.take_definitions(object, false);
  table_.note_definitions(object);
  if (is_libc_or_linker(object) || !object.has_slots()) return Object::State::kDone;
  // Its relocations are done when the dynamic linker has taken the write access away. If it has not, or never does for
  // this object, it may be in the middle of it: protecting and writing at the same time as it does would end in a
  // fault.
  const void* protected_part = object.read_only_after_relocation();
  const bool complete = protected_part != nullptr && page_access(protected_part) == PageAccess::kReadOnly;
  return complete ? Object::State::kNew : Object::State::kBeingLoaded;
}

void GotBinder::look_at(ElfObject& object) {
  Object* entry = known(object);
  if (entry != nullptr && some_gone_ && !still_bound(object, *entry)) {
    forget_records(entry->id);
    *entry = {object.base(), object.dynamic(), next_id_++, scan_, scan_, first_look(object), {}};
  } else if (entry == nullptr) {
    const Object added{object.base(), object.dynamic(), next_id_++, scan_, scan_, first_look(object), {}};
    if (!objects_.push(added)) return;
    entry = &objects_[objects_.size() - 1];
  }
  entry->seen_in = scan_;
  if (entry->state == Object::State::kBeingLoaded && entry->first_in <= settled_) {
    entry->state = Object::State::kNew;
    entry->id = next_id_++;  // its records come behind all that there are
  }
  if (entry->state == Object::State::kBeingLoaded) any_being_loaded_ = true;
  // Without room for it, a slot that leads there is left alone.
  (void)code_.push({object.code_begin(), object.code_end(), entry->state == Object::State::kOurs});
}

void GotBinder::forget_gone() {
  const std::size_t before = objects_.size();
  objects_.keep_if([&](const Object& entry) { return entry.seen_in == scan_; });
  if (objects_.size() == before) return;
  records_.keep_if([&](const Record& record) {
    return std::any_of(objects_.begin(), objects_.end(),
                       [&](const Object& entry) { return entry.id == record.object; });
  });
}

void GotBinder::forget_records(std::uint32_t object) {
  records_.keep_if([&](const Record& record) { return record.object != object; });
}

GotBinder::Record* GotBinder::first_record(std::uint32_t object) {
  return std::lower_bound(records_.begin(), records_.end(), object,
                          [](const Record& record, std::uint32_t id) { return record.object < id; });
}

void GotBinder::bind_object(ElfObject& object) {
  current_ = known(object);
  if (current_ == nullptr || current_->state != Object::State::kNew) return;
  current_->state = Object::State::kDone;
  object.read();
  own_scope_ = sees_other_definitions(object);
  each_match(current_->id, [&](const Match& match) { bind_slot(object, match); });
  writer_.finish();
}

// A first call that was inside the dynamic linker while we changed its slot has written the real address over ours.
void GotBinder::bind_again(ElfObject& object) {
  const Object* entry = known(object);
  if (entry == nullptr || entry->state != Object::State::kDone) return;
  for (Record* record = first_record(entry->id); record != records_.end() && record->object == entry->id; ++record) {
    const Row& row = table_[record->row];
    void* value = record->word->load(std::memory_order_relaxed);
    if (value != record->before && value == row.real()) writer_.exchange(record->word, value, row.binding->wrapper);
  }
  writer_.finish();
}

void GotBinder::restore(ElfObject& object) {
  const Object* entry = known(object);
  if (entry == nullptr) return;
  for (Record* record = first_record(entry->id); record != records_.end() && record->object == entry->id; ++record) {
    if (object.contains(record->word))
      writer_.exchange(record->word, table_[record->row].binding->wrapper, record->before);
  }
  writer_.finish();
}

}  // namespace dft::intercept
