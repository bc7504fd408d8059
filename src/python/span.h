// SPDX-License-Identifier: MIT
// Purpose: what may be measured (Span: a name, a category, args that go on each of its events, a switch), and what is
//          being measured (Frame: one open region of it). A span may be entered again while it is open, by the same
//          thread, by others, by tasks and generators: each entry has a frame of its own.
// Threads: all of it under the GIL.
// Invariant: a Frame lies on the heap, never on a C stack: greenlets swap those.
#pragma once

#include <vector>

#include "python/values.h"

namespace dft::python {

enum class How : std::uint8_t { kScope, kCall, kStarted };

struct Frame {
  Frame* older = nullptr;  // of the same state, whatever thread
  Frame* newer = nullptr;
  DFTracerData* region = nullptr;
  unsigned long thread = 0;
  std::uint32_t site = 0;
  std::uint32_t process = 0;  // forks since the module was loaded
  How how = How::kScope;
  bool linked = false;
  PyObject* pinned = nullptr;  // the entry that holds this frame, when nothing else keeps it alive
};

struct Relation {
  int relation;
  EntityID id;
};

// What the spans of one user object have in common: a dft_fn and the functions that it decorates.
struct State {
  std::size_t references = 1;
  State* parent = nullptr;  // whose args and switch are its own too
  signed char enabled = 1;  // -1: as the parent
  Args args;
  std::vector<Relation> relations;
  std::uint64_t since_ns = 0;  // CLOCK_MONOTONIC of the construction or the last reset
  Frame* newest = nullptr;
};

struct Span {
  PyObject_HEAD State* state;
  std::uint32_t site;
  PyObject* cat;   // str
  PyObject* name;  // str
};

// Types that the module makes. `span` is the one whose `with` does nothing when the process is off for good.
struct Types {
  PyTypeObject* span;
  PyTypeObject* entry;
  PyTypeObject* entry_descriptor;
  PyTypeObject* traced;
  PyTypeObject* items;
  PyTypeObject* steps;
  PyObject* method;  // types.MethodType
};
extern Types types;

bool make_span_type(PyObject* module);
bool make_entry_types(PyObject* module);
bool make_traced_type(PyObject* module);
bool make_iteration_types(PyObject* module);
// Puts `__enter__` and `__exit__` into the span type; when off for good they are in it already.
bool add_entry_descriptors(PyTypeObject* span);

inline Span* as_span(PyObject* object) { return reinterpret_cast<Span*>(object); }
std::uint32_t site_of(PyObject* name, PyObject* cat);

// Opens: the region begins when tracing is on and the span enabled, and the frame is linked in any case.
void open_frame(Frame& frame, State& state, std::uint32_t site, How how);
// Closes: the event is written, with the type of the exception that ended it, if one did. Takes the frame out of the
// list. What was open when the process forked becomes an event of the child that begins with the child.
void close_frame(Frame& frame, State& state, PyObject* exception_type);
// The same, of what ends by the exception that is set now (kept as it is). GeneratorExit ends a generator as it should.
void close_frame_by_error(Frame& frame, State& state);
void drop_frame(Frame& frame, State& state);
// A frame of a generator is in the list only while the generator runs.
void link(Frame& frame, State& state);
void unlink(Frame& frame, State& state);
// The newest frame of the calling thread, of a kind if `how` is given; null when there is none.
Frame* newest_of_thread(const State& state, const How* how = nullptr);

std::uint64_t monotonic_ns();
std::uint64_t trace_unit_ns();  // of the times that dftracer_get_time() gives
void fork_happened_in_child();

void drop_state(State* state);
inline bool is_enabled(const State& state) {
  const State* at = &state;
  while (at->enabled < 0) at = at->parent;
  return at->enabled != 0;
}

// An entry that is open already, for a call of a coroutine or an asynchronous generator: called with an exception's
// three values it closes. A _Steps over a generator whose event begins now; `region` is the event, null when none is
// written.
PyObject* begin_steps(PyObject* generator, Span* span, DFTracerData*& region);
PyObject* open_entry(Span* span);
DFTracerData* region_of_entry(PyObject* entry);

}  // namespace dft::python
