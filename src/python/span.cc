// SPDX-License-Identifier: MIT
// The type Span, the base of dft_fn and of the nodes of `ai`.
#include "python/span.h"

namespace dft::python {

Types types;

namespace {

constexpr Key kCommon[4] = {{"epoch", 5}, {"step", 4}, {"image_idx", 9}, {"image_size", 10}};
constexpr int kImageSize = 3;
constexpr int kFirstEntityRelation = 16;

std::int64_t unmatched_starts = 0;
std::int64_t unmatched_stops = 0;

PyObject* self_of(Span* span) {
  Py_INCREF(reinterpret_cast<PyObject*>(span));
  return reinterpret_cast<PyObject*>(span);
}

// ---- args

// `open`: the region that is open, null if none is. A region, not its frame: to ask a value for its text runs code of
// the program, which may end the region; the recorder then knows that it is no longer open.
void update_common(State& state, DFTracerData* open, PyObject* const* values) {
  for (int i = 0; i < 4; ++i) {
    if (values[i] == nullptr || values[i] == Py_None) continue;
    const Value value = value_of(values[i], i == kImageSize);
    state.args.set(kCommon[i], value);
    if (open != nullptr) put(open, kCommon[i], value);
  }
}

// The value of an arg; that of a TagValue is the second of the pair that its value() gives.
Value arg_of(PyObject* object) {
  if (PyLong_Check(object) || PyUnicode_Check(object) || PyFloat_Check(object)) return value_of(object);
  if (PyObject_HasAttrString(object, "tag_type") == 0) return value_of(object);
  const Ref pair(PyObject_CallMethod(object, "value", nullptr));
  if (!pair || !PyTuple_Check(pair.get()) || PyTuple_Size(pair.get()) != 2) {
    forget_error();
    return value_of(object);
  }
  return value_of(PyTuple_GetItem(pair.get(), 1));
}

// What a dict says, each entry by itself; with no frame they stay for the events to come.
template <class Put>
void each_arg(PyObject* dict, const Put& put_one) {
  if (dict == nullptr || !PyDict_Check(dict)) return;
  const Ref items(PyDict_Items(dict));  // a copy: str() of a value may change the dict
  const Py_ssize_t count = items ? PyList_Size(items.get()) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* pair = PyList_GetItem(items.get(), i);
    Value key = value_of(PyTuple_GetItem(pair, 0));
    if (key.kind != kText) {
      const Ref text(PyObject_Str(PyTuple_GetItem(pair, 0)));
      if (!text || !text_of(text.get(), key)) {
        forget_error();
        continue;
      }
      key.owner = Ref::borrow(text.get());
    }
    put_one(Key{key.text, key.size}, arg_of(PyTuple_GetItem(pair, 1)));
  }
}

void update_args(State& state, const Frame* frame, PyObject* dict) {
  DFTracerData* const open = frame != nullptr ? frame->region : nullptr;
  const bool keep = frame == nullptr;
  each_arg(dict, [&](Key key, const Value& value) { keep ? state.args.set(key, value) : put(open, key, value); });
}

PyObject* span_update(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"epoch", "step", "image_idx", "image_size", "args", nullptr};
  PyObject* values[5] = {};
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "|OOOOO:update", const_cast<char**>(names), &values[0],
                                  &values[1], &values[2], &values[3], &values[4]) == 0) {
    return nullptr;
  }
  State& state = *as_span(self)->state;
  if (is_on()) {
    const Frame* frame = newest_of_thread(state);
    update_common(state, frame != nullptr ? frame->region : nullptr, values);
    update_args(state, newest_of_thread(state), values[4]);
  }
  return self_of(as_span(self));
}

PyObject* span_clear_args(PyObject* self, PyObject*) {
  as_span(self)->state->args.clear();
  return none();
}

// ---- life

Span* new_span(PyTypeObject* type, PyObject* cat, PyObject* name, State* state) {
  PyObject* made = PyType_GenericAlloc(type, 0);
  if (made == nullptr) return drop_state(state), nullptr;
  Span* span = as_span(made);
  span->state = state;
  span->cat = Ref::borrow(cat).release();
  span->name = Ref::borrow(name).release();
  span->site = is_on() ? site_of(name, cat) : 0;
  return span;
}

// The name of the function that calls, of "<module>" outside of one.
Ref name_of_caller() {
  auto* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  const Ref code(frame != nullptr ? PyObject_GetAttrString(frame, "f_code") : nullptr);
  Ref name(code ? PyObject_GetAttrString(code.get(), "co_name") : nullptr);
  if (name) return name;
  PyErr_Clear();
  return Ref(PyUnicode_FromString("<module>"));
}

PyObject* span_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PyObject* values[7] = {};
  const Py_ssize_t count = PyTuple_Size(arguments);
  if (keywords == nullptr && count >= 1 && count <= 7) {
    for (Py_ssize_t i = 0; i < count; ++i) values[i] = PyTuple_GetItem(arguments, i);
  } else {
    static const char* names[] = {"cat", "name", "epoch", "step", "image_idx", "image_size", "enable", nullptr};
    if (PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OOOOOO:dft_fn", const_cast<char**>(names), &values[0],
                                    &values[1], &values[2], &values[3], &values[4], &values[5], &values[6]) == 0) {
      return nullptr;
    }
  }
  const int enabled = values[6] != nullptr ? PyObject_IsTrue(values[6]) : 1;
  if (enabled < 0) return nullptr;
  const Ref cat(PyObject_Str(values[0]));
  Ref name = values[1] != nullptr && values[1] != Py_None ? Ref(PyObject_Str(values[1]))
             : is_on()                                    ? name_of_caller()
                                                          : Ref(PyUnicode_FromString(""));
  if (!cat || !name) return nullptr;
  auto* state = new State;
  state->enabled = enabled != 0 ? 1 : 0;
  if (is_on()) {
    state->since_ns = monotonic_ns();
    update_common(*state, nullptr, values + 2);
  }
  return reinterpret_cast<PyObject*>(new_span(type, cat.get(), name.get(), state));
}

// A span of another name that shares the args, the switch and the frames: of what a dft_fn decorates.
PyObject* span_named(PyObject* self, PyObject* name) {
  const Ref text(PyObject_Str(name));
  if (!text) return nullptr;
  Span* span = as_span(self);
  ++span->state->references;
  return reinterpret_cast<PyObject*>(new_span(types.span, span->cat, text.get(), span->state));
}

// From here on the args and the switch of `other` are this span's too.
PyObject* span_follow(PyObject* self, PyObject* other) {
  State* state = as_span(self)->state;
  if (PyObject_IsInstance(other, reinterpret_cast<PyObject*>(types.span)) != 1 || state->parent != nullptr ||
      as_span(other)->state == state) {
    PyErr_SetString(PyExc_TypeError, "another span is expected");
    return nullptr;
  }
  state->parent = as_span(other)->state;
  ++state->parent->references;
  state->enabled = -1;
  return none();
}

void span_dealloc(PyObject* self) {
  Span* span = as_span(self);
  State* state = span->state;
  // What was started and never stopped stays open: the trace's end says so.
  while (state != nullptr && state->references == 1 && state->newest != nullptr) {
    Frame* frame = state->newest;
    unlink(*frame, *state);
    if (frame->how == How::kStarted) delete frame;
  }
  if (state != nullptr) drop_state(state);
  Py_XDECREF(span->cat);
  Py_XDECREF(span->name);
  free_object(self);
}

PyObject* span_enter_off(PyObject* self, PyObject*) { return self_of(as_span(self)); }
PyObject* span_exit_off(PyObject*, PyObject* const*, Py_ssize_t) { return none(); }

// An event of the span that lasts from `since` until now.
void write_since(Span* span) {
  State& state = *span->state;
  if (!is_on() || !is_enabled(state)) return;
  Frame frame;
  open_frame(frame, state, span->site, How::kScope);
  unlink(frame, state);
  const TimeResolution now = dftracer_get_time();
  const TimeResolution duration = (monotonic_ns() - state.since_ns) / trace_unit_ns();
  dftracer_region_end_at(frame.region, now - duration, duration);
}

PyObject* span_flush(PyObject* self, PyObject*) {
  Span* span = as_span(self);
  Frame* frame = newest_of_thread(*span->state);
  if (frame != nullptr && frame->how == How::kScope) {
    close_frame(*frame, *span->state, nullptr);
    link(*frame, *span->state);  // until its own end, which then writes nothing
  } else {
    write_since(span);
  }
  return none();
}

PyObject* span_reset(PyObject* self, PyObject*) {
  State& state = *as_span(self)->state;
  state.relations.clear();
  state.since_ns = monotonic_ns();
  if (Frame* frame = newest_of_thread(state)) {
    drop_frame(*frame, state);
    open_frame(*frame, state, frame->site, frame->how);
  }
  return none();
}

PyObject* span_start(PyObject* self, PyObject*) {
  Span* span = as_span(self);
  const How started = How::kStarted;
  Frame* frame = newest_of_thread(*span->state, &started);
  if (frame != nullptr) {
    put_int(frame->region, {"unmatched", 9}, 1);
    close_frame(*frame, *span->state, nullptr);
    dftracer_set_app_metadata_int64("python_unmatched_starts", ++unmatched_starts);
  } else {
    frame = new Frame;
  }
  open_frame(*frame, *span->state, span->site, How::kStarted);
  return none();
}

PyObject* span_stop(PyObject* self, PyObject*) {
  State& state = *as_span(self)->state;
  const How started = How::kStarted;
  Frame* frame = newest_of_thread(state, &started);
  for (Frame* each = state.newest; frame == nullptr && each != nullptr; each = each->older) {
    if (each->how == How::kStarted) frame = each;  // of another thread: a callback ends what another one began
  }
  if (frame != nullptr) {
    close_frame(*frame, state, nullptr);
    delete frame;
  } else if (is_enabled(state) && is_on()) {
    dftracer_set_app_metadata_int64("python_unmatched_stops", ++unmatched_stops);
  }
  return none();
}

// ---- relations

PyObject* span_relate(PyObject* self, PyObject* arguments) {
  int relation = 0;
  unsigned long long id = 0;
  if (PyArg_ParseTuple(arguments, "iK:relate", &relation, &id) == 0) return nullptr;
  State& state = *as_span(self)->state;
  if (is_on() && id != 0 && relation >= 0 && relation < kFirstEntityRelation) {
    if (const Frame* frame = newest_of_thread(state)) {
      dftracer_update_relation(frame->region, relation, id);
    } else {
      state.relations.push_back({relation, id});
    }
  }
  return self_of(as_span(self));
}

// ---- instants

PyObject* span_instant(PyObject* self, PyObject* arguments) {
  PyObject* name = nullptr;
  PyObject* args = nullptr;
  if (PyArg_ParseTuple(arguments, "O|O:instant", &name, &args) == 0) return nullptr;
  Span* span = as_span(self);
  if (is_on() && is_enabled(*span->state)) {
    const Ref text(PyObject_Str(name));
    if (!text) return nullptr;
    Frame frame;
    open_frame(frame, *span->state, site_of(text.get(), span->cat), How::kScope);
    unlink(frame, *span->state);
    each_arg(args, [&](Key key, const Value& value) { put(frame.region, key, value); });
    dftracer_region_end_instant(frame.region);
  }
  return none();
}

PyObject* get_enabled(PyObject* self, void*) { return PyBool_FromLong(is_enabled(*as_span(self)->state) ? 1 : 0); }

int set_enabled(PyObject* self, PyObject* value, void*) {
  const int wanted = value != nullptr ? PyObject_IsTrue(value) : 0;
  if (wanted < 0) return -1;
  as_span(self)->state->enabled = wanted != 0 ? 1 : 0;
  return 0;
}

PyObject* get_cat(PyObject* self, void*) { return Ref::borrow(as_span(self)->cat).release(); }
PyObject* get_name(PyObject* self, void*) { return Ref::borrow(as_span(self)->name).release(); }

PyMethodDef methods[] = {
    {"update", method(span_update), METH_VARARGS | METH_KEYWORDS,
     "update(epoch=None, step=None, image_idx=None, image_size=None, args=None)\n--\n\nAdds args, and returns the "
     "span. The four common ones stay for all its later events; what is in `args` belongs to the\ninnermost event of "
     "this thread that is open, or stays likewise when none is. Values of any type are taken."},
    {"_clear_args", span_clear_args, METH_NOARGS, nullptr},
    {"_follow", span_follow, METH_O, nullptr},
    {"_named", span_named, METH_O, nullptr},
    {"flush", span_flush, METH_NOARGS,
     "flush()\n--\n\nWrites the event now: of the entry that is open, else of the time since construction or reset()."},
    {"reset", span_reset, METH_NOARGS, "reset()\n--\n\nStarts the time again and forgets relations."},
    {"_start", span_start, METH_NOARGS, nullptr},
    {"_stop", span_stop, METH_NOARGS, nullptr},
    {"_relate", span_relate, METH_VARARGS, nullptr},
    {"instant", span_instant, METH_VARARGS,
     "instant(name, args=None)\n--\n\nWrites an event of this moment, without a duration."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef methods_when_off[] = {{"__enter__", span_enter_off, METH_NOARGS, nullptr},
                                  {"__exit__", method(span_exit_off), METH_FASTCALL, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};

// In a process that is off for good a `with` costs two calls that do nothing.
bool add_methods_when_off(PyTypeObject* type) {
  for (PyMethodDef* each = methods_when_off; each->ml_name != nullptr; ++each) {
    const Ref descriptor(PyDescr_NewMethod(type, each));
    if (!descriptor) return false;
    if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), each->ml_name, descriptor.get()) != 0) return false;
  }
  return true;
}

PyGetSetDef attributes[] = {{"enabled", get_enabled, set_enabled, "Whether events of this span are written.", nullptr},
                            {"cat", get_cat, nullptr, "The category of its events.", nullptr},
                            {"name", get_name, nullptr, "The name of its events.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

std::uint32_t site_of(PyObject* name, PyObject* cat) {
  Value name_text;
  Value cat_text;
  if (!text_of(name, name_text) || !text_of(cat, cat_text)) return 0;
  return dftracer_site_id(name_text.text, name_text.size, cat_text.text, cat_text.size, DFTRACER_TYPE_PYTHON);
}

void free_object(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

bool make_span_type(PyObject* module) {
  PyType_Slot slots[] = {slot(Py_tp_new, span_new),
                         slot(Py_tp_dealloc, span_dealloc),
                         slot(Py_tp_methods, static_cast<PyMethodDef*>(methods)),
                         slot(Py_tp_getset, static_cast<PyGetSetDef*>(attributes)),
                         {0, nullptr}};
  PyType_Spec spec = {"dftracer.dftracer.Span", sizeof(Span), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  types.span = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (types.span == nullptr || PyModule_AddType(module, types.span) != 0) return false;
  return is_on() ? add_entry_descriptors(types.span) : add_methods_when_off(types.span);
}

}  // namespace dft::python
