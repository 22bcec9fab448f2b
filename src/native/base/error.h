/// Errors that the core raises on purpose; bindings turn them into the classes of proton.errors.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace proton {

/// Who can act, as in proton.errors: one value a Python class.
enum class ErrorKind {
  kUsage,
  kSessionNotFound,
  kPhaseNotFound,
  kScopeMismatch,
  kMetricType,
  kDataKind,
  kBackendUnavailable,
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Something on the machine refuses to work: what, and what to do about it.
class BackendError : public Error {
 public:
  BackendError(std::string backend, const std::string& reason, std::string remedy, int code = 0)
      : Error(ErrorKind::kBackendUnavailable, reason),
        backend_(std::move(backend)),
        remedy_(std::move(remedy)),
        code_(code) {}
  const std::string& backend() const { return backend_; }
  const std::string& remedy() const { return remedy_; }
  int code() const { return code_; }  // the driver's number for it; 0: none

 private:
  std::string backend_;
  std::string remedy_;
  int code_;
};

}  // namespace proton
