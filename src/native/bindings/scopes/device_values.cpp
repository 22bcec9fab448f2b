#include "bindings/scopes/device_values.h"

#include "backends/cupti/hub.h"
#include "backends/cupti/thread_cells.h"
#include "base/error.h"
#include "base/text.h"
#include "session/scopes/process.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {
namespace {

using cupti::Hub;

PyDeviceValue read_value(uint64_t address, uint32_t kind, uint32_t count, int64_t stride_bytes,
                         bool is_scalar, int device, uint64_t stream) {
  if (kind >= cupti::kElementKinds) {
    throw Error(ErrorKind::kUsage, concat("unknown kind of elements ", kind,
                                          "; give one from 0 to ", cupti::kElementKinds - 1));
  }
  cupti::ValueSource source;
  source.address = address;
  source.stride_bytes = stride_bytes;
  source.count = count;
  source.kind = static_cast<cupti::ElementKind>(kind);
  source.is_scalar = is_scalar;
  source.device = device;
  source.stream = reinterpret_cast<void*>(stream);
  PyDeviceValue value{0, !cupti::is_float(source.kind), count, is_scalar, false};
  nb::gil_scoped_release released;  // a full stream makes launches wait
  value.id = Hub::get().read_value(source, value.is_captured);
  return value;
}

}  // namespace

bool is_device_value(PyObject* object, PyDeviceValue& value) {
  return nb::try_cast<PyDeviceValue>(nb::handle(object), value);
}

void add_device_values(nb::module_& module) {
  process.values = {
      [](ValueId id, const ValuePlace& place, std::span<const ValueTarget> targets) {
        Hub::get().commit_value(id, place, targets);
      },
      [](ValueId id) { Hub::get().drop_value(id); },
      cupti::last_launch,
  };
  nb::class_<PyDeviceValue>(module, "DeviceValue")
      .def_static("read", read_value, "address"_a, "kind"_a, "count"_a, "stride_bytes"_a,
                  "is_scalar"_a, "device"_a, "stream"_a)
      .def_static("is_possible", [] { return Hub::get().reads_values(); });
}

}  // namespace proton::bindings
