// SPDX-License-Identifier: MIT
// The module dftracer.dftracer: the functions of earlier releases, and the types behind dftracer.python.
#include <pthread.h>

#include <cstdio>

#include "python/span.h"

namespace dft::python {

namespace {

thread_local int level = 0;

// Text of an argument that may be None. False, with an exception, when it is neither.
bool optional_text(PyObject* object, const char*& out, Ref& owner) {
  out = nullptr;
  if (object == nullptr || object == Py_None) return true;
  PyObject* path = nullptr;
  if (PyUnicode_FSConverter(object, &path) == 0) return false;
  owner = Ref(path);
  out = PyBytes_AsString(path);
  return out != nullptr;
}

PyObject* initialize(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"log_file", "data_dirs", "process_id", nullptr};
  PyObject *log_file = nullptr, *data_dirs = nullptr;
  int process_id = -1;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "|OOi:initialize", const_cast<char**>(names), &log_file,
                                  &data_dirs, &process_id) == 0) {
    return nullptr;
  }
  const char *file = nullptr, *dirs = nullptr;
  Ref file_owner, dirs_owner;
  if (!optional_text(log_file, file, file_owner) || !optional_text(data_dirs, dirs, dirs_owner)) return nullptr;
  Py_BEGIN_ALLOW_THREADS;
  dftracer_initialize_main(file, dirs, process_id >= 0 ? &process_id : nullptr);
  Py_END_ALLOW_THREADS;
  return none();
}

PyObject* finalize(PyObject*, PyObject*) {
  Py_BEGIN_ALLOW_THREADS;
  dftracer_finalize();
  Py_END_ALLOW_THREADS;
  return none();
}

PyObject* note_worker(PyObject*, PyObject*) {
  dftracer_note_worker();
  return none();
}

// Torch may be at work in other threads, and the GPU's last records may take a while.
PyObject* gpu_profiler_begins(PyObject*, PyObject* name) {
  const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
  if (text == nullptr) return nullptr;
  int is_free = 0;
  Py_BEGIN_ALLOW_THREADS;
  is_free = dftracer_gpu_profiler_begins(text);
  Py_END_ALLOW_THREADS;
  return PyBool_FromLong(is_free);
}

PyObject* gpu_profiler_ends(PyObject*, PyObject*) {
  Py_BEGIN_ALLOW_THREADS;
  dftracer_gpu_profiler_ends();
  Py_END_ALLOW_THREADS;
  return none();
}

PyObject* nvtx_library(PyObject*, PyObject*) {
  char path[4096 + 64];
  const std::size_t size = dftracer_nvtx_library(path, sizeof path);
  return PyUnicode_DecodeFSDefaultAndSize(path, size < sizeof path ? static_cast<Py_ssize_t>(size) : 0);
}

PyObject* get_time(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(dftracer_get_time()); }

PyObject* get_config(PyObject*, PyObject* key) {
  Value name;
  if (!PyUnicode_Check(key) || !text_of(key, name)) return PyUnicode_FromString("");
  char text[4096 + 64];
  const std::string variable(name.text, name.size);
  const std::size_t size = dftracer_get_config(variable.c_str(), text, sizeof text);
  return PyUnicode_DecodeFSDefaultAndSize(text, static_cast<Py_ssize_t>(size < sizeof text ? size : sizeof text - 1));
}

PyObject* enter_event(PyObject*, PyObject*) { return PyLong_FromLong(++level); }
PyObject* exit_event(PyObject*, PyObject*) {
  if (level > 0) --level;
  return none();
}
PyObject* is_on_now(PyObject*, PyObject*) { return PyBool_FromLong(is_on() ? 1 : 0); }

// {name: (tag type, value)}
void put_tagged(DFTracerData* region, PyObject* dict, bool as_float) {
  if (dict == nullptr || !PyDict_Check(dict)) return;
  const Ref items(PyDict_Items(dict));
  for (Py_ssize_t i = 0; items && i < PyList_Size(items.get()); ++i) {
    PyObject* pair = PyList_GetItem(items.get(), i);
    PyObject* value = PyTuple_GetItem(pair, 1);
    if (PyTuple_Check(value) && PyTuple_Size(value) == 2) value = PyTuple_GetItem(value, 1);
    const Value key = value_of(PyTuple_GetItem(pair, 0));
    if (key.kind == kText) put(region, {key.text, key.size}, value_of(value, as_float));
  }
}

// {relation: [id, ...]}
void put_relations(DFTracerData* region, PyObject* dict) {
  if (dict == nullptr || !PyDict_Check(dict)) return;
  const Ref items(PyDict_Items(dict));
  for (Py_ssize_t i = 0; items && i < PyList_Size(items.get()); ++i) {
    PyObject* pair = PyList_GetItem(items.get(), i);
    const long relation = PyLong_AsLong(PyTuple_GetItem(pair, 0));
    const Ref ids(PySequence_List(PyTuple_GetItem(pair, 1)));
    for (Py_ssize_t at = 0; ids && at < PyList_Size(ids.get()); ++at) {
      const unsigned long long id = PyLong_AsUnsignedLongLong(PyList_GetItem(ids.get(), at));
      if (PyErr_Occurred() == nullptr) dftracer_update_relation(region, static_cast<int>(relation), id);
    }
    if (PyErr_Occurred() != nullptr) forget_error();
  }
}

PyObject* log_event(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"name",        "cat",        "start_time", "duration", "int_args",
                                "string_args", "float_args", "relations",  nullptr};
  PyObject *name, *cat, *start, *duration, *ints = nullptr, *strings = nullptr, *floats = nullptr, *relations = nullptr;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "UUOO|OOOO:log_event", const_cast<char**>(names), &name, &cat,
                                  &start, &duration, &ints, &strings, &floats, &relations) == 0) {
    return nullptr;
  }
  const auto time = [](PyObject* object) -> TimeResolution {
    const Value value = value_of(object);
    double real;
    memcpy(&real, &value.bits, sizeof real);
    if (value.kind == kDouble) return real > 0 ? static_cast<TimeResolution>(real) : 0;
    return value.kind == kInt && static_cast<std::int64_t>(value.bits) < 0 ? 0 : value.bits;
  };
  if (!is_on()) return none();
  dftracer_site at{nullptr, nullptr, 0, site_of(name, cat)};
  DFTracerData* region = dftracer_region_start(&at);
  put_tagged(region, ints, false);
  put_tagged(region, floats, true);
  put_tagged(region, strings, false);
  put_relations(region, relations);
  dftracer_region_end_at(region, time(start), time(duration));
  return none();
}

PyObject* log_metadata_event(PyObject*, PyObject* arguments) {
  const char *key, *value;
  if (PyArg_ParseTuple(arguments, "ss:log_metadata_event", &key, &value) == 0) return nullptr;
  if (is_on()) dftracer_metadata(DFTRACER_TYPE_PYTHON, key, value);
  return none();
}

PyObject* set_app_metadata_int(PyObject*, PyObject* arguments) {
  const char* key;
  PyObject* number;
  if (PyArg_ParseTuple(arguments, "sO:set_app_metadata_int", &key, &number) == 0) return nullptr;
  const Value value = value_of(number);
  if (value.kind == kInt || value.kind == kBool) {
    dftracer_set_app_metadata_int64(key, static_cast<std::int64_t>(value.bits));
  } else {
    const Ref text(PyObject_Str(number));
    if (!text) return nullptr;
    dftracer_set_app_metadata_string(key, PyUnicode_AsUTF8AndSize(text.get(), nullptr));
  }
  return none();
}

PyObject* set_app_metadata_string(PyObject*, PyObject* arguments) {
  const char *key, *value;
  if (PyArg_ParseTuple(arguments, "ss:set_app_metadata_string", &key, &value) == 0) return nullptr;
  dftracer_set_app_metadata_string(key, value);
  return none();
}

PyObject* mark_used(PyObject*, PyObject* arguments) {
  const char* name;
  if (PyArg_ParseTuple(arguments, "s:mark_used", &name) == 0) return nullptr;
  dftracer_mark_used(name);
  return none();
}

// ---- entities

PyObject* declare_entity(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"type", "key", "store", "uri", nullptr};
  const char *type, *key, *uri = "";
  int store = DFT_STORE_MEMORY;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "ss|is:declare_entity", const_cast<char**>(names), &type, &key,
                                  &store, &uri) == 0) {
    return nullptr;
  }
  return PyLong_FromUnsignedLongLong(dftracer_declare_entity(type, key, store, uri));
}

PyObject* declare_entity_type(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"type", "role", "description", nullptr};
  const char *type, *description = "";
  int role = DFT_ROLE_UNKNOWN;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "s|is:declare_entity_type", const_cast<char**>(names), &type,
                                  &role, &description) == 0) {
    return nullptr;
  }
  dftracer_declare_entity_type(type, role, description);
  return none();
}

PyObject* relate_entities(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"relation", "subject", "object", nullptr};
  int relation;
  unsigned long long subject, object;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "iKK:relate_entities", const_cast<char**>(names), &relation,
                                  &subject, &object) == 0) {
    return nullptr;
  }
  dftracer_relate_entities(relation, subject, object);
  return none();
}

PyObject* entity_hash(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"type", "key", nullptr};
  const char *type, *key;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "ss:entity_hash", const_cast<char**>(names), &type, &key) == 0) {
    return nullptr;
  }
  return PyLong_FromUnsignedLongLong(dftracer_entity_id(type, key));
}

PyObject* entity_hex(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"id", nullptr};
  unsigned long long id;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "K:entity_hex", const_cast<char**>(names), &id) == 0) {
    return nullptr;
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", id);
  return PyUnicode_FromString(digits);
}

PyMethodDef functions[] = {{"initialize", method(initialize), METH_VARARGS | METH_KEYWORDS, nullptr},
                           {"finalize", finalize, METH_NOARGS, nullptr},
                           {"get_time", get_time, METH_NOARGS, nullptr},
                           {"get_config", get_config, METH_O, nullptr},
                           {"enter_event", enter_event, METH_NOARGS, nullptr},
                           {"exit_event", exit_event, METH_NOARGS, nullptr},
                           {"_note_worker", note_worker, METH_NOARGS, nullptr},
                           {"_gpu_profiler_begins", gpu_profiler_begins, METH_O, nullptr},
                           {"_gpu_profiler_ends", gpu_profiler_ends, METH_NOARGS, nullptr},
                           {"_nvtx_library", nvtx_library, METH_NOARGS, nullptr},
                           {"is_on", is_on_now, METH_NOARGS, nullptr},
                           {"log_event", method(log_event), METH_VARARGS | METH_KEYWORDS, nullptr},
                           {"log_metadata_event", log_metadata_event, METH_VARARGS, nullptr},
                           {"set_app_metadata_int", set_app_metadata_int, METH_VARARGS, nullptr},
                           {"set_app_metadata_string", set_app_metadata_string, METH_VARARGS, nullptr},
                           {"mark_used", mark_used, METH_VARARGS, nullptr},
                           {"declare_entity", method(declare_entity), METH_VARARGS | METH_KEYWORDS, nullptr},
                           {"declare_entity_type", method(declare_entity_type), METH_VARARGS | METH_KEYWORDS, nullptr},
                           {"relate_entities", method(relate_entities), METH_VARARGS | METH_KEYWORDS, nullptr},
                           {"entity_hash", method(entity_hash), METH_VARARGS | METH_KEYWORDS, nullptr},
                           {"entity_hex", method(entity_hex), METH_VARARGS | METH_KEYWORDS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

// The enumerations of the entities, as IntEnum: {name: ((member, number), ...)}.
struct Member {
  const char* name;
  int number;
};
constexpr Member kStores[] = {{"MEMORY", 0},      {"GPU_MEMORY", 1},   {"LOCAL_DISK", 2},
                              {"PARALLEL_FS", 3}, {"BURST_BUFFER", 4}, {"OBJECT_STORE", 5},
                              {"DATABASE", 6},    {"NETWORK", 7},      {"OTHER", 8}};
constexpr Member kRoles[] = {{"UNKNOWN", 0},      {"INPUT", 1},     {"OUTPUT", 2},
                             {"INTERMEDIATE", 3}, {"PARAMETER", 4}, {"REFERENCE", 5}};
constexpr Member kRelations[] = {{"USED", 0},          {"GENERATED", 1},     {"INVALIDATED", 2},
                                 {"UPDATED", 3},       {"DERIVED_FROM", 16}, {"REVISION_OF", 17},
                                 {"CONTAINS", 18},     {"PART_OF", 19},      {"SPECIALIZATION_OF", 20},
                                 {"ALTERNATE_OF", 21}, {"DEPENDS_ON", 22}};

template <std::size_t N>
bool add_enumeration(PyObject* module, PyObject* int_enum, const char* name, const Member (&members)[N]) {
  const Ref dict(PyDict_New());
  for (const Member& each : members) {
    const Ref number(PyLong_FromLong(each.number));
    if (!number || PyDict_SetItemString(dict.get(), each.name, number.get()) != 0) return false;
  }
  const Ref made(PyObject_CallFunction(int_enum, "sO", name, dict.get()));
  if (!made) return false;
  const Ref home(PyUnicode_FromString("dftracer.dftracer"));
  if (!home || PyObject_SetAttrString(made.get(), "__module__", home.get()) != 0) return false;
  return PyObject_SetAttrString(module, name, made.get()) == 0;
}

bool add_enumerations(PyObject* module) {
  const Ref enums(PyImport_ImportModule("enum"));
  const Ref int_enum(enums ? PyObject_GetAttrString(enums.get(), "IntEnum") : nullptr);
  return int_enum && add_enumeration(module, int_enum.get(), "EntityStore", kStores) &&
         add_enumeration(module, int_enum.get(), "EntityRole", kRoles) &&
         add_enumeration(module, int_enum.get(), "EntityRelation", kRelations);
}

bool fill(PyObject* module) {
  return make_entry_types(module) && make_span_type(module) && make_traced_type(module) &&
         make_iteration_types(module) && add_enumerations(module) &&
         PyModule_AddStringConstant(module, "__version__", DFT_VERSION) == 0;
}

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "dftracer.dftracer",
                          "DFTracer's native half: see dftracer.python.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

}  // namespace dft::python

PyMODINIT_FUNC PyInit_dftracer(void) {
  PyObject* module = PyModule_Create(&dft::python::definition);
  if (module == nullptr) return nullptr;
  pthread_atfork(nullptr, nullptr, dft::python::fork_happened_in_child);
  if (dft::python::fill(module)) return module;
  Py_DECREF(module);
  return nullptr;
}
