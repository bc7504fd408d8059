// SPDX-License-Identifier: MIT
// Which wrapper may stand in a slot: invariant 1 of got_binder.h.
#include <algorithm>

#include "intercept/got_binder.h"

namespace dft::intercept {

// Where the executable takes the address of a function and is not position-independent, that address is an entry of its
// PLT, for everybody. Such a slot leads through the executable's own slot, which is bound; binding both would record
// the call twice, and taking the entry for the real function would make the wrapper call itself.
const void* GotBinder::canonical_plt(const Row& row) const {
  ElfObject program(program_);
  program.read();
  return program.canonical_plt(row.name);
}

const GotBinder::Code* GotBinder::code_at(const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  const Code* found = std::find_if(code_.begin(), code_.end(),
                                   [&](const Code& code) { return value >= code.begin && value < code.end; });
  return found != code_.end() ? found : nullptr;
}

bool GotBinder::is_foreign_code(const void* address) {
  const Code* code = code_at(address);
  return code != nullptr && !code->ours;
}

// What a wrapper may end in beside the definition: a function of another library. Never code of the object that has the
// slot: should it be a way into the dynamic linker that is not recognised, each call would resolve the slot anew.
bool GotBinder::may_stand_behind_us(const ElfObject& object, const void* value) {
  return is_foreign_code(value) && !object.executable(value);
}

void GotBinder::find_slots(ElfObject& object) {
  const Object* entry = known(object);
  if (entry == nullptr || entry->state != Object::State::kNew) return;
  object.read();
  object.each_slot([&](const Slot& slot) {
    Row* group = table_.find(object.symbol_name(slot.symbol));
    if (group == nullptr) return;
    const Match match{slot, table_.index_of(group), entry->id};
    if (matches_.push(match) && first_scan_) vote(object, match);
  });
}

void GotBinder::vote(const ElfObject& object, const Match& match) {
  const Slot& slot = match.slot;
  Row* row = table_.defined_for(&table_[match.row], object.wanted_version(slot.symbol));
  if (row == nullptr || slot.kind == SlotKind::kData) return;
  void* value = slot.word->load(std::memory_order_relaxed);
  if (value == row->definition || object.is_unresolved(slot, value)) {
    ++row->slots_with_definition;
  } else if (may_stand_behind_us(object, value) && value != canonical_plt(*row) &&
             (row->other == nullptr || row->other == value)) {
    row->other = value;
    ++row->slots_with_other;
  }
}

// RTLD_DEEPBIND gives an object a scope of its own. The flags are known only if the dlopen was seen; a slot that holds
// another definition than the global one tells it as well.
bool GotBinder::sees_other_definitions(const ElfObject& object) {
  if (deep_bind_) return true;
  bool other = false;
  each_match(current_->id, [&](const Match& match) {
    const Slot& slot = match.slot;
    const Row* row = table_.defined_for(&table_[match.row], object.wanted_version(slot.symbol));
    if (other || row == nullptr) return;
    const void* value = slot.word->load(std::memory_order_relaxed);
    other = value != row->definition && value != row->real() && !object.is_unresolved(slot, value) &&
            is_foreign_code(value) && value != canonical_plt(*row);
  });
  return other;
}

// A slot that was never called through will get what the dynamic linker finds for it: for the global scope the
// definition of the row. Where the object may see another one, only if there is no other. With given real functions the
// names are exported, and the dynamic linker finds them by itself but for objects with a scope of their own.
Row* GotBinder::row_for_unresolved(Row* group, const char* version) {
  Row* row = table_.defined_for(group, version);
  const bool given = group->binding->real_is_given;
  if (given && !own_scope_) return nullptr;
  if (row != nullptr && row->lasting && !(own_scope_ && row->defined_elsewhere)) {
    Row* leading = row->real() == row->definition ? row : table_.leading_to(group, row->definition, version);
    if (leading == nullptr) leading = spare_for(group, row->definition);
    if (leading != nullptr) return leading;
  }
  ++current_->left.unsure;
  return nullptr;
}

Row* GotBinder::spare_for(Row* group, void* target) {
  for (Row* row = group; row != nullptr; row = table_.next(row)) {
    if (!row->binding->spare || row->active()) continue;
    row->binding->real->store(target, std::memory_order_release);
    return row;
  }
  return nullptr;
}

// The row whose wrapper may stand in this slot (invariant 1), or null.
Row* GotBinder::choose(const ElfObject& object, const Slot& slot, Row* group, void* value) {
  const char* version = object.wanted_version(slot.symbol);
  if (object.is_unresolved(slot, value)) {
    // Linked with -Bsymbolic, and it has a function of this name: that will be taken.
    if (!object.looks_at_itself_first() || object.find_defined(group->name, version) == nullptr)
      return row_for_unresolved(group, version);
    ++current_->left.unsure;
    return nullptr;
  }
  if (Row* row = table_.leading_to(group, value, version)) return row;
  if (value == nullptr) return nullptr;  // a weak reference that nobody defines
  if (value == canonical_plt(*group)) {
    ++current_->left.through;
    return nullptr;
  }
  if (slot.kind == SlotKind::kData) return nullptr;  // the program has stored something else since
  const Code* code = code_at(value);
  if (code != nullptr && code->ours) return nullptr;  // an exported name of ours
  if (!group->binding->real_is_given && may_stand_behind_us(object, value))
    if (Row* row = spare_for(group, value)) return row;
  ++current_->left.other;
  return nullptr;
}

void GotBinder::bind_slot(const ElfObject& object, const Match& match) {
  const Slot& slot = match.slot;
  Row* group = &table_[match.row];
  while (true) {
    void* value = slot.word->load(std::memory_order_relaxed);
    if (table_.is_wrapper(group, value)) return;
    const Row* row = choose(object, slot, group, value);
    // The record first: a child that is forked in between, or an unbind, finds a slot that does not hold our value.
    if (row == nullptr || !records_.push({slot.word, value, table_.index_of(row), current_->id})) return;
    const SlotWriter::Result result = writer_.exchange(slot.word, value, row->binding->wrapper);
    if (result == SlotWriter::Result::kDone) return;
    records_.pop();
    if (result == SlotWriter::Result::kRefused) {
      ++current_->left.refused;
      return;
    }
    // kChanged: a first call of another thread has just resolved it.
  }
}

}  // namespace dft::intercept
