// SPDX-License-Identifier: MIT
// Traced: a function that is measured. It calls the function and is in all else what the function is: attributes,
// binding to objects, pickling by name.
#include <dlfcn.h>

#include "python/span.h"

namespace dft::python {

namespace {

constexpr int kCommonCount = 4;
constexpr Key kCommon[kCommonCount] = {{"epoch", 5}, {"step", 4}, {"image_idx", 9}, {"image_size", 10}};
constexpr int kImageSize = 3;
constexpr long kTakesKeywords = 8;  // CO_VARKEYWORDS

// Where a call gives the args that are recorded, found once from the signature.
struct Signature {
  bool self = false;      // the first parameter is `self`: its attributes are looked at, too
  bool keywords = false;  // an arg of one of the names may be given by name
  bool any = false;
  Py_ssize_t position[kCommonCount] = {-1, -1, -1, -1};
  PyObject* preset[kCommonCount] = {};  // defaults
};

struct Traced {
  PyObject_HEAD PyObject* function;
  Span* span;
  Signature signature;
  bool args;    // those of calls are recorded
  bool hidden;  // what the program sees is a function that uses this object
};

Traced* as_traced(PyObject* object) { return reinterpret_cast<Traced*>(object); }

PyObject* common_names[kCommonCount];
PyObject* doc_name;
PyObject* module_name;

// ---- the signature

Ref attribute_or_none(PyObject* object, const char* name) {
  Ref found(PyObject_GetAttrString(object, name));
  if (!found) {
    PyErr_Clear();
    return Ref::borrow(Py_None);
  }
  return found;
}

long number_of(PyObject* object, const char* name) {
  const Ref found = attribute_or_none(object, name);
  return PyLong_Check(found.get()) ? PyLong_AsLong(found.get()) : 0;
}

int common_index(PyObject* name) {
  for (int i = 0; i < kCommonCount; ++i) {
    if (PyUnicode_Compare(name, common_names[i]) == 0) return i;
  }
  return -1;
}

void read_parameters(Signature& out, PyObject* function, PyObject* code, PyObject* names) {
  const long by_position = number_of(code, "co_argcount");
  const long only_by_name = number_of(code, "co_kwonlyargcount");
  const Ref presets = attribute_or_none(function, "__defaults__");
  const Ref named_presets = attribute_or_none(function, "__kwdefaults__");
  const Py_ssize_t preset_count = PyTuple_Check(presets.get()) ? PyTuple_Size(presets.get()) : 0;
  for (long at = 0; at < by_position + only_by_name && at < PyTuple_Size(names); ++at) {
    PyObject* name = PyTuple_GetItem(names, at);
    const int index = common_index(name);
    if (index < 0) continue;
    out.any = out.keywords = true;
    PyObject* preset = nullptr;
    if (at < by_position) {
      out.position[index] = at;
      const Py_ssize_t from_end = at - (by_position - preset_count);
      if (from_end >= 0) preset = PyTuple_GetItem(presets.get(), from_end);
    } else if (PyDict_Check(named_presets.get())) {
      preset = PyDict_GetItem(named_presets.get(), name);
    }
    out.preset[index] = Ref::borrow(preset).release();
  }
}

void read_signature(Signature& out, PyObject* function, bool look_at_self) {
  const Ref code = attribute_or_none(function, "__code__");
  const Ref names = attribute_or_none(code.get(), "co_varnames");
  if (!PyTuple_Check(names.get())) return;
  out.keywords = (number_of(code.get(), "co_flags") & kTakesKeywords) != 0;
  out.any = out.keywords;
  if (look_at_self && number_of(code.get(), "co_argcount") > 0) {
    out.self = PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names.get(), 0), "self") == 0;
    out.any = out.any || out.self;
  }
  read_parameters(out, function, code.get(), names.get());
}

// ---- args of a call

// An attribute without running a class's own __getattr__, null and no exception when there is none. Every interpreter
// has the quick way; it is not promised, so it is looked up.
using QuietLookup = PyObject* (*)(PyObject*, PyObject*, PyObject*, int);
QuietLookup quiet_lookup = nullptr;

Ref attribute_if_any(PyObject* object, PyObject* name) {
  Ref found(quiet_lookup != nullptr ? quiet_lookup(object, name, nullptr, 1) : PyObject_GenericGetAttr(object, name));
  if (!found && PyErr_Occurred() != nullptr) forget_error();
  return found;
}

void put_common(DFTracerData* region, int index, PyObject* value) {
  if (value != nullptr && value != Py_None) put(region, kCommon[index], value_of(value, index == kImageSize));
}

void put_args_of_call(DFTracerData* region, const Signature& signature, PyObject* arguments, PyObject* keywords) {
  const Py_ssize_t count = PyTuple_Size(arguments);
  if (signature.self && count > 0) {
    PyObject* self = PyTuple_GetItem(arguments, 0);
    for (int i = 0; i < kCommonCount; ++i) put_common(region, i, attribute_if_any(self, common_names[i]).get());
  }
  for (int i = 0; i < kCommonCount; ++i) {
    const Py_ssize_t at = signature.position[i];
    if (at >= 0 && at < count) {
      put_common(region, i, PyTuple_GetItem(arguments, at));
      continue;
    }
    PyObject* named =
        keywords != nullptr && signature.keywords ? PyDict_GetItemWithError(keywords, common_names[i]) : nullptr;
    put_common(region, i, named != nullptr ? named : signature.preset[i]);
  }
}

// Frames of calls, kept for the next ones.
Frame* spare_frames = nullptr;

Frame* take_frame() {
  if (spare_frames == nullptr) return new Frame;
  Frame* frame = spare_frames;
  spare_frames = frame->older;
  return frame;
}

void give_frame(Frame* frame) {
  frame->older = spare_frames;
  spare_frames = frame;
}

PyObject* traced_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  Traced* traced = as_traced(self);
  State& state = *traced->span->state;
  if (!is_on() || !is_enabled(state)) return PyObject_Call(traced->function, arguments, keywords);
  const Ref alive = Ref::borrow(self);
  Frame* frame = take_frame();
  open_frame(*frame, state, traced->span->site, How::kCall);
  if (traced->signature.any) put_args_of_call(frame->region, traced->signature, arguments, keywords);
  PyObject* result = PyObject_Call(traced->function, arguments, keywords);
  if (result != nullptr) {
    close_frame(*frame, state, nullptr);
  } else {
    const ErrorAside error;
    close_frame(*frame, state, error.type());
  }
  give_frame(frame);
  return result;
}

// _open(args, kwargs): the event of a call that this object does not make itself.
PyObject* traced_open(PyObject* self, PyObject* arguments) {
  PyObject *args = nullptr, *kwargs = nullptr;
  if (PyArg_ParseTuple(arguments, "O!O!:_open", &PyTuple_Type, &args, &PyDict_Type, &kwargs) == 0) return nullptr;
  const Traced* traced = as_traced(self);
  PyObject* entry = open_entry(traced->span);
  if (entry != nullptr && traced->signature.any && region_of_entry(entry) != nullptr) {
    put_args_of_call(region_of_entry(entry), traced->signature, args, kwargs);
  }
  return entry;
}

// _steps(args, kwargs): the generator of a call, measured from now on.
PyObject* traced_steps(PyObject* self, PyObject* arguments) {
  PyObject *args = nullptr, *kwargs = nullptr;
  if (PyArg_ParseTuple(arguments, "O!O!:_steps", &PyTuple_Type, &args, &PyDict_Type, &kwargs) == 0) return nullptr;
  const Traced* traced = as_traced(self);
  const Ref generator(PyObject_Call(traced->function, args, kwargs));
  if (!generator) return nullptr;
  DFTracerData* region = nullptr;
  PyObject* steps = begin_steps(generator.get(), traced->span, region);
  if (region != nullptr && traced->signature.any) put_args_of_call(region, traced->signature, args, kwargs);
  return steps;
}

// ---- being what the function is

PyObject* traced_bind(PyObject* self, PyObject* object, PyObject*) {
  if (object == nullptr || object == Py_None) return Ref::borrow(self).release();
  return PyObject_CallFunctionObjArgs(types.method, self, object, nullptr);
}

PyObject* traced_attribute(PyObject* self, PyObject* name) {
  PyObject* function = as_traced(self)->function;
  if (PyUnicode_Compare(name, doc_name) == 0 || PyUnicode_Compare(name, module_name) == 0) {
    return PyObject_GetAttr(function, name);
  }
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return found;
  PyErr_Clear();
  return PyObject_GetAttr(function, name);
}

int traced_set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(as_traced(self)->function, name, value);
}

PyObject* traced_repr(PyObject* self) { return PyObject_Repr(as_traced(self)->function); }

// Whether cloudpickle is at work (joblib, dask, ray): it takes functions of the main program apart, since its workers
// do not have them.
bool for_cloudpickle() {
  auto* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  const Ref globals(frame != nullptr ? PyObject_GetAttrString(frame, "f_globals") : nullptr);
  PyObject* name = globals ? PyDict_GetItemString(globals.get(), "__name__") : nullptr;
  const Ref wanted(name != nullptr ? PyUnicode_FromString("cloudpickle") : nullptr);
  const bool found = wanted && PyUnicode_Check(name) && PyUnicode_Contains(name, wanted.get()) == 1;
  PyErr_Clear();
  return found;
}

// By name, as functions are; in parts for cloudpickle, and where this object stands behind a function of the same name.
PyObject* traced_reduce(PyObject* self, PyObject*) {
  const Traced* traced = as_traced(self);
  if (!traced->hidden && !for_cloudpickle()) return PyObject_GetAttrString(traced->function, "__qualname__");
  const Ref module(PyImport_ImportModule("dftracer.python.wrapping"));
  const Ref rebuild(module ? PyObject_GetAttrString(module.get(), traced->hidden ? "rebuild_call" : "rebuild")
                           : nullptr);
  if (!rebuild) return nullptr;
  return Py_BuildValue("(O(OOOii))", rebuild.get(), traced->function, traced->span->cat, traced->span->name,
                       traced->args ? 1 : 0, traced->signature.self ? 1 : 0);
}

PyObject* traced_wrapped(PyObject* self, void*) { return Ref::borrow(as_traced(self)->function).release(); }

// ---- life

PyObject* traced_new(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject* function = nullptr;
  PyObject* span = nullptr;
  int args = 0;
  int look_at_self = 0;
  int hidden = 0;
  if (PyArg_ParseTuple(arguments, "OO!|ppp:_Traced", &function, types.span, &span, &args, &look_at_self, &hidden) ==
      0) {
    return nullptr;
  }
  PyObject* made = PyType_GenericAlloc(type, 0);
  if (made == nullptr) return nullptr;
  Traced* traced = as_traced(made);
  traced->function = Ref::borrow(function).release();
  traced->span = as_span(Ref::borrow(span).release());
  new (&traced->signature) Signature;
  traced->args = args != 0;
  traced->hidden = hidden != 0;
  if (args != 0) read_signature(traced->signature, function, look_at_self != 0);
  return made;
}

int traced_traverse(PyObject* self, visitproc visit, void* arg) {
  Traced* traced = as_traced(self);
  Py_VISIT(traced->function);
  for (PyObject* each : traced->signature.preset) Py_VISIT(each);
  return visit_type(self, visit, arg);
}

int traced_clear(PyObject* self) {
  Traced* traced = as_traced(self);
  Py_CLEAR(traced->function);
  for (PyObject*& each : traced->signature.preset) Py_CLEAR(each);
  return 0;
}

void traced_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  traced_clear(self);
  Py_XDECREF(reinterpret_cast<PyObject*>(as_traced(self)->span));
  free_object(self);
}

PyMethodDef methods[] = {{"__reduce__", traced_reduce, METH_NOARGS, nullptr},
                         {"_open", traced_open, METH_VARARGS, nullptr},
                         {"_steps", traced_steps, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {{"__wrapped__", traced_wrapped, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

bool make_names() {
  for (int i = 0; i < kCommonCount; ++i) {
    common_names[i] = PyUnicode_InternFromString(kCommon[i].text);
    if (common_names[i] == nullptr) return false;
  }
  doc_name = PyUnicode_InternFromString("__doc__");
  module_name = PyUnicode_InternFromString("__module__");
  return doc_name != nullptr && module_name != nullptr;
}

}  // namespace

bool make_traced_type(PyObject* module) {
  quiet_lookup = reinterpret_cast<QuietLookup>(dlsym(RTLD_DEFAULT, "_PyObject_GenericGetAttrWithDict"));
  const Ref python_types(PyImport_ImportModule("types"));
  types.method = python_types ? PyObject_GetAttrString(python_types.get(), "MethodType") : nullptr;
  if (types.method == nullptr || !make_names()) return false;
  PyType_Slot slots[] = {slot(Py_tp_new, traced_new),
                         slot(Py_tp_dealloc, traced_dealloc),
                         slot(Py_tp_traverse, traced_traverse),
                         slot(Py_tp_clear, traced_clear),
                         slot(Py_tp_call, traced_call),
                         slot(Py_tp_descr_get, traced_bind),
                         slot(Py_tp_getattro, traced_attribute),
                         slot(Py_tp_setattro, traced_set_attribute),
                         slot(Py_tp_repr, traced_repr),
                         slot(Py_tp_methods, static_cast<PyMethodDef*>(methods)),
                         slot(Py_tp_getset, static_cast<PyGetSetDef*>(attributes)),
                         {0, nullptr}};
  PyType_Spec spec = {"dftracer.dftracer._Traced", sizeof(Traced), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};
  types.traced = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return types.traced != nullptr && PyModule_AddType(module, types.traced) == 0;
}

}  // namespace dft::python
