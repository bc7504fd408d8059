// SPDX-License-Identifier: MIT
// Iteration: _Items measures what a loop waits for its items and what it does with them; _Steps measures the life of a
// generator, and how long its own code ran in it.
#include "python/span.h"

namespace dft::python {

namespace {

PyObject* throw_name;
PyObject* send_name;
PyObject* close_name;

// ---- _Items(iterable, span, fetch name or None, block name or None, key of the number)

struct Items {
  PyObject_HEAD PyObject* source;
  Span* span;
  PyObject* key;
  std::uint32_t fetch_site;
  std::uint32_t block_site;
  std::int64_t number;
  Frame* fetch;
  Frame* block;
};

Items* as_items(PyObject* object) { return reinterpret_cast<Items*>(object); }

Key key_of(const Items& items) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(items.key, &size);
  if (text == nullptr) return PyErr_Clear(), Key{"step", 4};
  return {text, static_cast<std::size_t>(size)};
}

void end_block(Items& items, PyObject* exception_type) {
  if (items.block != nullptr && items.block->linked) close_frame(*items.block, *items.span->state, exception_type);
}

PyObject* items_next(PyObject* self) {
  Items& items = *as_items(self);
  State& state = *items.span->state;
  end_block(items, nullptr);
  if (items.source == nullptr) return nullptr;
  if (items.fetch != nullptr) open_frame(*items.fetch, state, items.fetch_site, How::kCall);
  PyObject* item = PyIter_Next(items.source);
  if (item == nullptr) {
    if (items.fetch == nullptr) return nullptr;
    if (PyErr_Occurred() == nullptr) {
      drop_frame(*items.fetch, state);  // there was nothing more to get
    } else {
      close_frame_by_error(*items.fetch, state);
    }
    return nullptr;
  }
  const std::int64_t number = ++items.number;
  if (items.fetch != nullptr) {
    put_int(items.fetch->region, key_of(items), number);
    close_frame(*items.fetch, state, nullptr);
  }
  if (items.block != nullptr) {
    open_frame(*items.block, state, items.block_site, How::kCall);
    put_int(items.block->region, key_of(items), number);
  }
  return item;
}

PyObject* items_close(PyObject* self, PyObject*) {
  end_block(*as_items(self), nullptr);
  Py_CLEAR(as_items(self)->source);
  return none();
}

// A site for `name`, or none when events of that kind are not wanted.
bool make_frame(PyObject* name, Span* span, std::uint32_t& site, Frame*& frame) {
  if (name == Py_None) return true;
  const Ref text(PyObject_Str(name));
  if (!text) return false;
  site = site_of(text.get(), span->cat);
  frame = new Frame;
  return true;
}

PyObject* items_new(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *source = nullptr, *span = nullptr, *fetch = nullptr, *block = nullptr, *key = nullptr;
  if (PyArg_ParseTuple(arguments, "OO!OOO:_Items", &source, types.span, &span, &fetch, &block, &key) == 0) {
    return nullptr;
  }
  Ref made(PyType_GenericAlloc(type, 0));
  if (!made) return nullptr;
  Items& items = *as_items(made.get());
  items.span = as_span(Ref::borrow(span).release());
  items.source = PyObject_GetIter(source);
  items.key = PyObject_Str(key);
  if (items.source == nullptr || items.key == nullptr) return nullptr;
  if (!make_frame(fetch, items.span, items.fetch_site, items.fetch)) return nullptr;
  if (!make_frame(block, items.span, items.block_site, items.block)) return nullptr;
  return made.release();
}

int items_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_items(self)->source);
  return visit_type(self, visit, arg);
}

int items_clear(PyObject* self) {
  Py_CLEAR(as_items(self)->source);
  return 0;
}

void items_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Items& items = *as_items(self);
  {
    const ErrorAside aside;
    end_block(items, nullptr);
  }
  Py_XDECREF(items.source);
  Py_XDECREF(items.key);
  delete items.fetch;
  delete items.block;
  Py_XDECREF(reinterpret_cast<PyObject*>(items.span));
  free_object(self);
}

PyMethodDef items_methods[] = {
    {"close", items_close, METH_NOARGS, "close()\n--\n\nEnds the event of the item at hand and lets go of the source."},
    {nullptr, nullptr, 0, nullptr}};

// ---- _Steps(generator, span)

struct Steps {
  PyObject_HEAD PyObject* generator;
  Span* span;
  Frame* frame;
  std::uint64_t active_ns;
  std::int64_t resumes;
};

Steps* as_steps(PyObject* object) { return reinterpret_cast<Steps*>(object); }

void put_activity(const Steps& steps) {
  put_int(steps.frame->region, {"active_ns", 9}, static_cast<std::int64_t>(steps.active_ns));
  put_int(steps.frame->region, {"resumes", 7}, steps.resumes);
}

// Runs the generator once by `call`, and ends the event when that was its last step.
template <class Call>
PyObject* step(Steps& steps, const Call& call) {
  if (steps.frame == nullptr) return call();
  const std::uint64_t begin = monotonic_ns();
  link(*steps.frame, *steps.span->state);
  ++steps.resumes;
  PyObject* item = call();
  steps.active_ns += monotonic_ns() - begin;
  if (steps.frame == nullptr) return item;  // the generator asked itself for its next item, which ended it
  State& state = *steps.span->state;
  if (item != nullptr) {
    unlink(*steps.frame, state);
    return item;
  }
  put_activity(steps);
  if (PyErr_Occurred() == nullptr || PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
    close_frame(*steps.frame, state, nullptr);
  } else {
    close_frame_by_error(*steps.frame, state);
  }
  delete steps.frame;
  steps.frame = nullptr;
  return nullptr;
}

PyObject* steps_next(PyObject* self) {
  Steps& steps = *as_steps(self);
  return step(steps, [&] { return PyObject_CallMethodObjArgs(steps.generator, send_name, Py_None, nullptr); });
}

PyObject* steps_send(PyObject* self, PyObject* value) {
  Steps& steps = *as_steps(self);
  return step(steps, [&] { return PyObject_CallMethodObjArgs(steps.generator, send_name, value, nullptr); });
}

PyObject* steps_throw(PyObject* self, PyObject* arguments) {
  Steps& steps = *as_steps(self);
  const Ref raise(PyObject_GetAttr(steps.generator, throw_name));
  if (!raise) return nullptr;
  return step(steps, [&] { return PyObject_Call(raise.get(), arguments, nullptr); });
}

PyObject* steps_close(PyObject* self, PyObject*) {
  Steps& steps = *as_steps(self);
  Ref done;
  step(steps, [&]() -> PyObject* {
    done = Ref(PyObject_CallMethodObjArgs(steps.generator, close_name, nullptr));
    return nullptr;  // the last step in any case
  });
  return done.release();
}

int steps_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_steps(self)->generator);
  return visit_type(self, visit, arg);
}

int steps_clear(PyObject* self) {
  Py_CLEAR(as_steps(self)->generator);
  return 0;
}

void steps_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Steps& steps = *as_steps(self);
  const ErrorAside aside;
  Py_CLEAR(steps.generator);  // what it does in its end belongs to its life
  if (steps.frame != nullptr) {
    put_activity(steps);
    close_frame(*steps.frame, *steps.span->state, nullptr);
    delete steps.frame;
  }
  Py_XDECREF(reinterpret_cast<PyObject*>(steps.span));
  free_object(self);
}

PyMethodDef steps_methods[] = {{"send", steps_send, METH_O, nullptr},
                               {"throw", steps_throw, METH_VARARGS, nullptr},
                               {"close", steps_close, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

PyTypeObject* make_type(PyObject* module, const char* name, std::size_t size, PyType_Slot* slots) {
  PyType_Spec spec = {name, static_cast<int>(size), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
  auto* made = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return made != nullptr && PyModule_AddType(module, made) == 0 ? made : nullptr;
}

}  // namespace

PyObject* begin_steps(PyObject* generator, Span* span, DFTracerData*& region) {
  PyObject* made = PyType_GenericAlloc(types.steps, 0);
  if (made == nullptr) return nullptr;
  Steps& steps = *as_steps(made);
  steps.generator = Ref::borrow(generator).release();
  steps.span = as_span(Ref::borrow(reinterpret_cast<PyObject*>(span)).release());
  if (!is_on() || !is_enabled(*span->state)) return made;
  steps.frame = new Frame;
  open_frame(*steps.frame, *span->state, span->site, How::kCall);
  unlink(*steps.frame, *span->state);
  region = steps.frame->region;
  return made;
}

bool make_iteration_types(PyObject* module) {
  throw_name = PyUnicode_InternFromString("throw");
  send_name = PyUnicode_InternFromString("send");
  close_name = PyUnicode_InternFromString("close");
  PyType_Slot items_slots[] = {slot(Py_tp_new, items_new),
                               slot(Py_tp_dealloc, items_dealloc),
                               slot(Py_tp_traverse, items_traverse),
                               slot(Py_tp_clear, items_clear),
                               slot(Py_tp_iter, PyObject_SelfIter),
                               slot(Py_tp_iternext, items_next),
                               slot(Py_tp_methods, static_cast<PyMethodDef*>(items_methods)),
                               {0, nullptr}};
  PyType_Slot steps_slots[] = {slot(Py_tp_dealloc, steps_dealloc),
                               slot(Py_tp_traverse, steps_traverse),
                               slot(Py_tp_clear, steps_clear),
                               slot(Py_tp_iter, PyObject_SelfIter),
                               slot(Py_tp_iternext, steps_next),
                               slot(Py_tp_methods, static_cast<PyMethodDef*>(steps_methods)),
                               {0, nullptr}};
  types.items = make_type(module, "dftracer.dftracer._Items", sizeof(Items), items_slots);
  types.steps = make_type(module, "dftracer.dftracer._Steps", sizeof(Steps), steps_slots);
  return send_name != nullptr && types.items != nullptr && types.steps != nullptr;
}

}  // namespace dft::python
