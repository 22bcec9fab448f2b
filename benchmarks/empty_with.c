/* The cheapest context manager there is: what `with` itself costs, for scope_cost.py. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct {
  PyObject_HEAD PyObject* name;
} Empty;

static Empty* free_objects[64];
static int free_count;
static PyTypeObject empty_type;

static PyObject* empty_new(PyObject* type, PyObject* const* args, size_t flags, PyObject* names) {
  (void)type, (void)flags, (void)names;
  Empty* self;
  if (free_count > 0) {
    self = free_objects[--free_count];
    PyObject_Init((PyObject*)self, &empty_type);
  } else {
    self = PyObject_New(Empty, &empty_type);
    if (self == NULL) return NULL;
  }
  self->name = Py_NewRef(args[0]);
  return (PyObject*)self;
}

static void empty_dealloc(PyObject* self) {
  Py_DECREF(((Empty*)self)->name);
  if (free_count < 64) {
    free_objects[free_count++] = (Empty*)self;
  } else {
    PyObject_Free(self);
  }
}

static PyObject* empty_enter(PyObject* self, PyObject* unused) {
  (void)unused;
  return Py_NewRef(self);
}

static PyObject* empty_exit(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)self, (void)args, (void)count;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__enter__", empty_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))empty_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject empty_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "empty_with.Empty",
    .tp_basicsize = sizeof(Empty),
    .tp_dealloc = empty_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = methods,
    .tp_vectorcall = empty_new,
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "empty_with", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_empty_with(void) {
  if (PyType_Ready(&empty_type) < 0) return NULL;
  PyObject* result = PyModule_Create(&module);
  if (result != NULL) PyModule_AddObjectRef(result, "Empty", (PyObject*)&empty_type);
  return result;
}
