/// The names of torch's modules, as `named_modules()` of the outermost one gives them. Modules are
/// met as the first argument of a frame that calls one; their children are read from their
/// dictionaries, so that none of the program's code runs. GIL held, except where it says otherwise.
#pragma once

#include <Python.h>

#include <atomic>
#include <string>

#include "model/ids.h"

namespace proton::bindings {

/// The code of `torch.nn.Module`'s call; null: there is none. Any thread.
const PyCodeObject* module_code() noexcept;
/// From now on frames of `code` are calls of modules; keeps it alive.
void set_module_code(PyCodeObject* code);

/// Grows when what was said of a module may be void: it is gone, and another can have its address,
/// or a larger one has come that it is part of. Any thread.
uint32_t module_generation() noexcept;

/// The name of a module that runs below `root`, the outermost one: `transformer.h.3.attn`, without
/// the names of wrappers; of a root its class, with a number where several of a class are alive.
/// A module that the root does not have is called after its class.
NameId intern_module(PyObject* module, PyObject* root);

/// The tables of names were cleared.
void clear_modules();

}  // namespace proton::bindings
