/// Errors that the core raises on purpose; bindings turn them into the classes of proton.errors.
#pragma once

#include <stdexcept>
#include <string>

namespace proton {

/// Who can act, as in proton.errors: one value a Python class.
enum class ErrorKind {
  kUsage,
  kSessionNotFound,
  kPhaseNotFound,
  kScopeMismatch,
  kMetricType,
  kDataKind,
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace proton
