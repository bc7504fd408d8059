// SPDX-License-Identifier: MIT
// Purpose: Python's C API, restricted to what one build may use from 3.9 on (Py_LIMITED_API, docs/adr/0013), and the
//          few names that its headers of 3.9 hide although every interpreter from 3.9 on has them.
// Rules:   the module's state is the process's: it is imported into one interpreter and never unloaded.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "dftracer/dftracer.h"

#if Py_LIMITED_API + 0 < 0x030a0000
extern "C" PyAPI_FUNC(const char*) PyUnicode_AsUTF8AndSize(PyObject* text, Py_ssize_t* size);
#endif
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

namespace dft::python {

// Owns one reference.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(other.release()) {}
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  Ref& operator=(Ref&& other) noexcept {
    PyObject* old = object_;
    object_ = other.release();
    Py_XDECREF(old);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  static Ref borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  PyObject* release() {
    PyObject* object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  PyObject* object_ = nullptr;
};

// An exception that is on its way is put aside while other objects are asked, and comes back.
class ErrorAside {
 public:
  ErrorAside() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorAside() { PyErr_Restore(type_, value_, traceback_); }
  ErrorAside(const ErrorAside&) = delete;
  ErrorAside& operator=(const ErrorAside&) = delete;
  PyObject* type() const { return type_; }

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

// Forgets an exception that must not reach the user's code; an interrupt that came just then is raised again soon.
inline void forget_error() {
  const bool interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
  PyErr_Clear();
  if (interrupted) PyErr_SetInterrupt();
}

inline bool is_on() { return __atomic_load_n(&dftracer_on, __ATOMIC_RELAXED) != 0; }

// A slot of a type that is asked for by number; the type of a function in it is the caller's knowledge.
template <class Function>
PyType_Slot slot(int id, Function function) {
  return {id, reinterpret_cast<void*>(function)};
}
template <class Function>
PyCFunction method(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

inline PyObject* none() { return Py_INCREF(Py_None), Py_None; }

// Memory of a heap type's object, its reference to the type included.
void free_object(PyObject* object);
// The same for objects that the garbage collector knows.
inline int visit_type(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  return 0;
}

}  // namespace dft::python
