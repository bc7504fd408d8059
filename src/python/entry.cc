// SPDX-License-Identifier: MIT
// `with span:` one entry, one frame. The statement asks the span for `__enter__` and then for `__exit__` before it
// calls the first: both are answered with the same fresh Entry, which opens when it is called with nothing and closes
// when it is called with an exception's three values. So each entry knows its own region, whatever is entered in
// between by other threads, tasks or generators. Callers that ask in another way (contextlib.ExitStack) get the newest
// entry of their thread.
#include "python/span.h"

namespace dft::python {

namespace {

struct Entry {
  PyObject_HEAD Span* span;
  Frame frame;
  bool open;
};

struct Descriptor {
  PyObject_HEAD bool enters;
};

// Asked for by `__enter__`, not by `__exit__` yet.
Entry* pending = nullptr;

Entry* as_entry(PyObject* object) { return reinterpret_cast<Entry*>(object); }
PyObject* as_object(Entry* entry) { return reinterpret_cast<PyObject*>(entry); }

Entry* make_entry(PyObject* span) {
  PyObject* made = PyType_GenericAlloc(types.entry, 0);
  if (made == nullptr) return nullptr;
  Py_INCREF(span);
  as_entry(made)->span = as_span(span);
  new (&as_entry(made)->frame) Frame;
  return as_entry(made);
}

void open(Entry* entry) {
  open_frame(entry->frame, *entry->span->state, entry->span->site, How::kScope);
  entry->open = true;
}

void pin(Entry* entry) {
  Py_INCREF(as_object(entry));
  entry->frame.pinned = as_object(entry);
}

void close(Entry* entry, PyObject* exception_type) {
  entry->open = false;
  PyObject* pinned = entry->frame.pinned;
  entry->frame.pinned = nullptr;
  close_frame(entry->frame, *entry->span->state, exception_type == Py_None ? nullptr : exception_type);
  Py_XDECREF(pinned);
}

// A call of `__exit__` that came without its `__enter__`'s entry.
void close_newest(Span* span, PyObject* exception_type) {
  const unsigned long thread = PyThread_get_thread_ident();
  for (Frame* frame = span->state->newest; frame != nullptr; frame = frame->older) {
    if (frame->pinned != nullptr && frame->thread == thread && frame->site == span->site) {
      return close(as_entry(frame->pinned), exception_type);
    }
  }
}

PyObject* enter(Entry* entry) {
  if (entry->open) {  // the same bound `__enter__` is called again
    Ref again(as_object(make_entry(reinterpret_cast<PyObject*>(entry->span))));
    if (!again) return nullptr;
    pin(as_entry(again.get()));
    open(as_entry(again.get()));
  } else {
    if (pending == entry) {
      pending = nullptr;
      pin(entry);
    }
    open(entry);
  }
  Py_INCREF(reinterpret_cast<PyObject*>(entry->span));
  return reinterpret_cast<PyObject*>(entry->span);
}

PyObject* entry_call(PyObject* self, PyObject* arguments, PyObject*) {
  Entry* entry = as_entry(self);
  const Py_ssize_t count = PyTuple_Size(arguments);
  if (count == 0) return enter(entry);
  PyObject* type = PyTuple_GetItem(arguments, 0);
  if (entry->open) {
    close(entry, type);
  } else {
    close_newest(entry->span, type);
  }
  return none();
}

void entry_dealloc(PyObject* self) {
  Entry* entry = as_entry(self);
  if (pending == entry) pending = nullptr;
  if (entry->open) {
    const ErrorAside aside;
    close_frame(entry->frame, *entry->span->state, nullptr);
  }
  Py_DECREF(reinterpret_cast<PyObject*>(entry->span));
  free_object(self);
}

PyObject* descriptor_get(PyObject* self, PyObject* span, PyObject*) {
  const bool enters = reinterpret_cast<Descriptor*>(self)->enters;
  if (span == nullptr || span == Py_None) return Py_INCREF(self), self;
  if (!enters && pending != nullptr && reinterpret_cast<PyObject*>(pending->span) == span) {
    Entry* entry = pending;
    pending = nullptr;
    Py_INCREF(as_object(entry));
    return as_object(entry);
  }
  Entry* entry = make_entry(span);
  if (enters) pending = entry;
  return as_object(entry);
}

// type(span).__enter__(span), type(span).__exit__(span, type, value, traceback)
PyObject* descriptor_call(PyObject* self, PyObject* arguments, PyObject*) {
  PyObject* span = PyTuple_Size(arguments) > 0 ? PyTuple_GetItem(arguments, 0) : nullptr;
  if (span == nullptr || PyObject_IsInstance(span, reinterpret_cast<PyObject*>(types.span)) != 1) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_TypeError, "a span is expected");
    return nullptr;
  }
  if (!reinterpret_cast<Descriptor*>(self)->enters) {
    close_newest(as_span(span), PyTuple_Size(arguments) > 1 ? PyTuple_GetItem(arguments, 1) : Py_None);
    return none();
  }
  Ref entry(as_object(make_entry(span)));
  if (!entry) return nullptr;
  pin(as_entry(entry.get()));
  return enter(as_entry(entry.get()));
}

}  // namespace

bool make_entry_types(PyObject*) {
  PyType_Slot entry_slots[] = {slot(Py_tp_call, entry_call), slot(Py_tp_dealloc, entry_dealloc), {0, nullptr}};
  PyType_Spec entry_spec = {"dftracer.dftracer._Entry", sizeof(Entry), 0, Py_TPFLAGS_DEFAULT, entry_slots};
  PyType_Slot descriptor_slots[] = {
      slot(Py_tp_call, descriptor_call), slot(Py_tp_descr_get, descriptor_get), {0, nullptr}};
  PyType_Spec descriptor_spec = {"dftracer.dftracer._EntryDescriptor", sizeof(Descriptor), 0, Py_TPFLAGS_DEFAULT,
                                 descriptor_slots};
  types.entry = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&entry_spec));
  types.entry_descriptor = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&descriptor_spec));
  return types.entry != nullptr && types.entry_descriptor != nullptr;
}

PyObject* open_entry(Span* span) {
  Entry* entry = make_entry(reinterpret_cast<PyObject*>(span));
  if (entry != nullptr) open(entry);
  return as_object(entry);
}

DFTracerData* region_of_entry(PyObject* entry) { return as_entry(entry)->frame.region; }

bool add_entry_descriptors(PyTypeObject* span) {
  for (const bool enters : {true, false}) {
    const Ref descriptor(PyType_GenericAlloc(types.entry_descriptor, 0));
    if (!descriptor) return false;
    reinterpret_cast<Descriptor*>(descriptor.get())->enters = enters;
    const char* name = enters ? "__enter__" : "__exit__";
    if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(span), name, descriptor.get()) != 0) return false;
  }
  return true;
}

}  // namespace dft::python
