/* SPDX-License-Identifier: MIT */
/* A context manager that does nothing, in C: what `with` itself costs. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject* enter(PyObject* self, PyObject* none) {
  (void)none;
  Py_INCREF(self);
  return self;
}

static PyObject* leave(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self, (void)arguments, (void)count;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"__enter__", enter, METH_NOARGS, NULL},
                                {"__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL, NULL},
                                {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, NULL}};
static PyType_Spec spec = {"empty_context.Empty", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "empty_context", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_empty_context(void) {
  PyObject* made = PyModule_Create(&module);
  PyObject* type = PyType_FromSpec(&spec);
  if (made == NULL || type == NULL || PyModule_AddObject(made, "Empty", type) != 0) return NULL;
  return made;
}
