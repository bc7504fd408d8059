// SPDX-License-Identifier: MIT
#include "python/values.h"

#include <cmath>
#include <cstring>

namespace dft::python {

namespace {

constexpr std::uint64_t kNull = 0x7ff8000000000000;  // NaN, which a trace writes as null

void say(Value& out, const char* text, std::size_t size) {
  out.kind = kText;
  out.text = text;
  out.size = size;
}

void say_bytes(Value& out, Ref bytes) {
  char* text = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.get(), &text, &size) != 0) return forget_error();
  say(out, text, static_cast<std::size_t>(size));
  out.owner = std::move(bytes);
}

void set_double(Value& out, double number) {
  out.kind = kDouble;
  std::memcpy(&out.bits, &number, sizeof number);
}

void say_type(PyObject* object, Value& out) {
  const Ref name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  if (name && PyUnicode_Check(name.get()) && text_of(name.get(), out)) return;
  forget_error();
  say(out, "?", 1);
}

void say_object(PyObject* object, Value& out) {
  const Ref text(PyObject_Str(object));
  if (text && text_of(text.get(), out)) return;
  forget_error();
  say_type(object, out);
}

bool set_integer(PyObject* object, Value& out) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  out.kind = kInt;
  out.bits = static_cast<std::uint64_t>(number);
  if (overflow == 0 && !(number == -1 && PyErr_Occurred() != nullptr)) return true;
  forget_error();
  if (overflow > 0) {
    out.bits = PyLong_AsUnsignedLongLong(object);
    out.kind = kUnsigned;
    if (PyErr_Occurred() == nullptr) return true;
    forget_error();
  }
  return false;
}

bool has_attribute(PyObject* object, const char* name) { return PyObject_HasAttrString(object, name) != 0; }

// Arrays and tensors by shape and type of their elements: their text would copy data, off a GPU even.
bool say_array(PyObject* object, PyObject* shape, Value& out) {
  const Ref type(PyObject_GetAttrString(object, "dtype"));
  const Ref text(type ? PyUnicode_FromFormat("%S%S", type.get(), shape) : nullptr);
  return text ? text_of(text.get(), out) : (forget_error(), false);
}

// Numbers of other libraries that are no subclasses of Python's: numpy's scalars among them.
bool set_number(PyObject* object, bool as_float, Value& out) {
  if (!as_float && has_attribute(object, "__index__")) {
    const Ref index(PyNumber_Index(object));
    if (index) return set_integer(index.get(), out);
    forget_error();
  }
  if (!has_attribute(object, "__float__")) return false;
  const Ref number(PyNumber_Float(object));
  if (!number) return forget_error(), false;
  set_double(out, PyFloat_AsDouble(number.get()));
  return true;
}

void set_other(PyObject* object, bool as_float, Value& out) {
  const Ref shape(PyObject_GetAttrString(object, "shape"));
  if (!shape) forget_error();
  const bool tensor = has_attribute(object, "requires_grad");
  const bool array = shape && PyTuple_Check(shape.get()) && (tensor || PyTuple_Size(shape.get()) != 0);
  if (array && say_array(object, shape.get(), out)) return;
  if (tensor) return say_type(object, out);
  if (!set_number(object, as_float, out)) say_object(object, out);
}

}  // namespace

bool text_of(PyObject* unicode, Value& out) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(unicode, &size);
  if (text != nullptr) {
    say(out, text, static_cast<std::size_t>(size));
    out.owner = Ref::borrow(unicode);
    return true;
  }
  forget_error();
  for (const char* errors : {"surrogateescape", "replace"}) {
    Ref bytes(PyUnicode_AsEncodedString(unicode, "utf-8", errors));
    if (bytes) return say_bytes(out, std::move(bytes)), true;
    forget_error();
  }
  return false;
}

Value value_of(PyObject* object, bool as_float) {
  Value out;
  if (PyLong_Check(object)) {
    if (object == Py_True || object == Py_False) {
      out.kind = kBool;
      out.bits = object == Py_True ? 1 : 0;
    } else if (!set_integer(object, out)) {
      say_object(object, out);
    } else if (as_float) {
      set_double(out, out.kind == kInt ? static_cast<double>(static_cast<std::int64_t>(out.bits))
                                       : static_cast<double>(out.bits));
    }
  } else if (PyFloat_Check(object)) {
    set_double(out, PyFloat_AsDouble(object));
  } else if (PyUnicode_Check(object)) {
    if (!text_of(object, out)) say(out, "?", 1);
  } else if (object == Py_None) {
    out.kind = kDouble;
    out.bits = kNull;
  } else {
    set_other(object, as_float, out);
  }
  return out;
}

void put(DFTracerData* region, Key key, const Value& value) {
  if (value.kind == kText) {
    dftracer_region_update_bytes(region, key.text, key.size, value.text, value.size);
  } else {
    dftracer_region_update_bits(region, key.text, key.size, value.kind, value.bits);
  }
}

void Args::set(Key key, const Value& value) {
  Arg arg{{key.text, key.size}, value.kind, value.bits, {}};
  if (value.kind == kText) arg.text.assign(value.text, value.size);
  for (Arg& old : list_) {
    if (old.key == arg.key) {
      old = std::move(arg);
      return;
    }
  }
  list_.push_back(std::move(arg));
}

void Args::put_on(DFTracerData* region) const {
  for (const Arg& arg : list_) {
    if (arg.kind == kText) {
      dftracer_region_update_bytes(region, arg.key.data(), arg.key.size(), arg.text.data(), arg.text.size());
    } else {
      dftracer_region_update_bits(region, arg.key.data(), arg.key.size(), arg.kind, arg.bits);
    }
  }
}

void mark_exception(DFTracerData* region, PyObject* type) {
  constexpr Key kException{"exception", 9};
  Value value;
  const Ref name(PyObject_GetAttrString(type, "__name__"));
  if (!name || !PyUnicode_Check(name.get()) || !text_of(name.get(), value)) {
    forget_error();
    say(value, "?", 1);
  }
  put(region, kException, value);
}

}  // namespace dft::python
