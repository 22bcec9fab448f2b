#include "bindings/device_buffer_bindings.h"

#include "backends/device_buffer/layout.h"

namespace nb = nanobind;
using namespace proton::device_buffer;

namespace proton::bindings {
namespace {

struct DeviceBuffer {};

/// The numbers of layout.h; `inkernel/layout.py` gives them to the rest of Python.
void add_constants(nb::object type) {
  const auto set = [&](const char* name, uint64_t value) { type.attr(name) = value; };
  set("RECORD_BYTES", kRecordBytes);
  set("HEADER_BYTES", kHeaderBytes);
  set("MAGIC", kMagic);
  set("KIND_START", static_cast<uint32_t>(RecordKind::kStart));
  set("KIND_END", static_cast<uint32_t>(RecordKind::kEnd));
  set("KIND_MARK", static_cast<uint32_t>(RecordKind::kMark));
  set("KIND_VALUE", static_cast<uint32_t>(RecordKind::kValue));
  set("KIND_SHIFT", kKindShift);
  set("REGION_SHIFT", kRegionShift);
  set("REGION_LIMIT", kRegionLimit);
  set("PAYLOAD_BITS", kPayloadBits);
  set("OFFSET_MAGIC", offsetof(Header, magic));
  set("OFFSET_CTA", offsetof(Header, cta));
  set("OFFSET_WARP", offsetof(Header, warp));
  set("OFFSET_SM", offsetof(Header, sm));
  set("OFFSET_WRITTEN_BYTES", offsetof(Header, written_bytes));
  set("OFFSET_RING_BYTES", offsetof(Header, ring_bytes));
  set("OFFSET_START_TIME", offsetof(Header, start_time_ns));
  set("OFFSET_START_CLOCK", offsetof(Header, start_clock));
  set("OFFSET_END_TIME", offsetof(Header, end_time_ns));
  set("OFFSET_END_CLOCK", offsetof(Header, end_clock));
  set("OFFSET_MAILBOX_WRITTEN", offsetof(Header, mailbox_written_bytes));
  set("OFFSET_MAILBOX_DRAINED", offsetof(Header, mailbox_drained_bytes));
}

}  // namespace

void add_device_buffer(nb::module_& module) {
  auto type = nb::class_<DeviceBuffer>(module, "DeviceBuffer");
  add_constants(type);
}

}  // namespace proton::bindings
