#include "session/scopes/path_table.h"

#include "check.h"

using namespace proton;

TEST(a_path_is_its_parent_and_a_frame) {
  PathTable paths;
  const PathId a = paths.child(kRootPath, FrameId::scope(7));
  const PathId b = paths.child(a, FrameId::python(7));
  CHECK_EQ(paths.child(kRootPath, FrameId::scope(7)), a);
  CHECK(paths.child(kRootPath, FrameId::state(7)) != a);
  CHECK_EQ(paths.parent(b), a);
  CHECK_EQ(paths.depth(b), 2);
  CHECK_EQ(paths.frame(b).number(), 7);
  CHECK(paths.frame(b).kind() == FrameKind::kPython);
  CHECK(paths.frame(kRootPath).kind() == FrameKind::kRoot);
}
