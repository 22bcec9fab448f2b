#include "bindings/scopes/modules.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "bindings/objects/names.h"
#include "bindings/objects/python_objects.h"
#include "session/scopes/process.h"

namespace proton::bindings {
namespace {

std::atomic<const PyCodeObject*> call_code{nullptr};
std::atomic<uint32_t> generation{1};

/// The way from a root to a module: keys of `_modules`, borrowed from nobody.
struct ModulePath {
  std::vector<std::string> keys;
  std::string name;  // without wrappers; empty: nothing but wrappers lies above
};

/// An outermost module, with what it had below it when it was last looked through.
struct Root {
  std::string class_name;
  uint32_t number;  // 1 for the first of its class that is alive
  std::unordered_map<PyObject*, ModulePath> modules;
};

std::unordered_map<PyObject*, Root> roots;
std::unordered_map<PyObject*, PyObject*> tracked;  // module -> weak reference, counted

constexpr const char* kTrackedKey = "proton.module";

/// A module is gone: what is remembered under its address is void.
PyObject* forget_module(PyObject* capsule, PyObject* reference) {
  auto* module = static_cast<PyObject*>(PyCapsule_GetPointer(capsule, kTrackedKey));
  if (module == nullptr) return nullptr;
  if (const auto found = tracked.find(module);
      found != tracked.end() && found->second == reference) {
    tracked.erase(found);
    roots.erase(module);
    generation.fetch_add(1, std::memory_order_release);
    Py_DECREF(reference);
  }
  Py_RETURN_NONE;
}

PyMethodDef forget_method = {"forget_module", forget_module, METH_O, nullptr};

/// False: it cannot be told when the module goes.
bool track(PyObject* module) {
  if (tracked.contains(module)) return true;
  const Reference capsule(PyCapsule_New(module, kTrackedKey, nullptr));
  const Reference callback(capsule ? PyCFunction_New(&forget_method, capsule.get()) : nullptr);
  PyObject* reference = callback ? PyWeakref_NewRef(module, callback.get()) : nullptr;
  if (reference == nullptr) {
    PyErr_Clear();
    return false;
  }
  tracked.emplace(module, reference);
  return true;
}

std::string class_of(PyObject* module) {
  const std::string_view name = Py_TYPE(module)->tp_name;
  return std::string(name.substr(name.rfind('.') + 1));
}

/// The dictionary of a module's children; null: it has none.
Reference children_of(PyObject* module) {
  static PyObject* const name = PyUnicode_InternFromString("_modules");
  Reference children(PyObject_GenericGetAttr(module, name));  // never the class's own lookup
  if (!children) PyErr_Clear();
  if (children && !PyDict_Check(children.get())) return Reference(nullptr);
  return children;
}

/// Whether a key is a wrapper's name for what it wraps.
bool is_wrapper_key(std::string_view key, std::string_view parent_class) {
  constexpr std::string_view kKeys[] = {"_fsdp_wrapped_module", "_orig_mod",
                                        "_checkpoint_wrapped_module"};
  constexpr std::string_view kClasses[] = {"DistributedDataParallel", "FullyShardedDataParallel",
                                           "DataParallel"};
  if (std::ranges::find(kKeys, key) != std::end(kKeys)) return true;
  return key == "module" && std::ranges::find(kClasses, parent_class) != std::end(kClasses);
}

ModulePath step_down(const ModulePath& above, PyObject* parent, std::string key) {
  ModulePath path = above;
  if (!is_wrapper_key(key, class_of(parent))) {
    path.name = path.name.empty() ? key : concat(path.name, ".", key);
  }
  path.keys.push_back(std::move(key));
  return path;
}

/// Fills in the modules below a root; of one that is there twice the first name stands.
void look_through(PyObject* module, Root& root) {
  root.modules.clear();
  std::vector<std::pair<PyObject*, ModulePath>> pending;  // the next one last
  pending.emplace_back(module, ModulePath());
  while (!pending.empty()) {
    auto [at, path] = std::move(pending.back());
    pending.pop_back();
    if (!root.modules.emplace(at, path).second) continue;
    const Reference children = children_of(at);
    if (!children) continue;
    const size_t first = pending.size();
    PyObject *key, *child;
    Py_ssize_t position = 0;
    while (PyDict_Next(children.get(), &position, &key, &child) != 0) {
      if (child == Py_None || !PyUnicode_Check(key)) continue;
      bool is_exact;
      pending.emplace_back(child, step_down(path, at, to_utf8(key, is_exact)));
    }
    std::reverse(pending.begin() + static_cast<ptrdiff_t>(first), pending.end());
  }
}

/// The child of that name, borrowed from its parent; null: there is none.
PyObject* find_child(PyObject* parent, const std::string& name) {
  const Reference children = children_of(parent);
  PyObject *key, *child;
  Py_ssize_t position = 0;
  while (children && PyDict_Next(children.get(), &position, &key, &child) != 0) {
    bool is_exact;
    if (PyUnicode_Check(key) && to_utf8(key, is_exact) == name) return child;
  }
  return nullptr;
}

/// Whether the way from the root still leads to the module: addresses are used again.
bool leads_to(PyObject* root, const ModulePath& path, PyObject* module) {
  PyObject* at = root;
  for (const std::string& key : path.keys) {
    at = find_child(at, key);
    if (at == nullptr) return false;
  }
  return at == module;
}

/// Null: the root does not have the module.
const ModulePath* find_below(PyObject* root, PyObject* module) {
  Root& known = roots.at(root);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto found = known.modules.find(module);
    if (found != known.modules.end() && leads_to(root, found->second, module)) {
      return &found->second;
    }
    if (attempt == 0) look_through(root, known);  // it may have grown since
  }
  return nullptr;
}

/// The root that has a module which runs outermost; null: it is one itself.
PyObject* owner_of(PyObject* module) {
  for (const auto& [root, known] : roots) {
    if (root == module) continue;
    const auto found = known.modules.find(module);
    if (found != known.modules.end() && leads_to(root, found->second, module)) return root;
  }
  return nullptr;
}

/// Names that were given before may be better now: what is known of modules is asked anew.
void add_root(PyObject* module) {
  if (roots.contains(module)) return;
  Root root{class_of(module), 1, {}};
  const auto is_taken = [&](uint32_t number) {
    return std::ranges::any_of(roots, [&](const auto& other) {
      return other.second.class_name == root.class_name && other.second.number == number;
    });
  };
  while (is_taken(root.number)) ++root.number;
  look_through(module, root);
  roots.emplace(module, std::move(root));
  generation.fetch_add(1, std::memory_order_release);
}

std::string name_of(PyObject* module, PyObject* root) {
  if (PyObject* owner = owner_of(root)) {
    roots.erase(root);  // it ran alone before it was seen as a part
    root = owner;
  } else if (!track(root)) {
    return class_of(module);
  } else {
    add_root(root);
  }
  const ModulePath* path = find_below(root, module);
  if (path != nullptr && !path->name.empty()) return path->name;
  const Root& known = roots.at(root);
  if (module == root && known.number > 1) {
    return concat(known.class_name, " (", known.number, ")");
  }
  return class_of(module);
}

}  // namespace

const PyCodeObject* module_code() noexcept { return call_code.load(std::memory_order_relaxed); }

void set_module_code(PyCodeObject* code) {
  Py_INCREF(code);  // for good: threads compare frames with it at any time
  call_code.store(code, std::memory_order_relaxed);
}

uint32_t module_generation() noexcept { return generation.load(std::memory_order_acquire); }

NameId intern_module(PyObject* module, PyObject* root) {
  const Reference held(Py_NewRef(module)), held_root(Py_NewRef(root));
  track(module);
  return process.names.intern(name_of(module, root));
}

void clear_modules() {
  auto references = std::move(tracked);
  tracked.clear();
  roots.clear();
  generation.fetch_add(1, std::memory_order_release);
  for (const auto& [module, reference] : references) Py_DECREF(reference);
}

}  // namespace proton::bindings
