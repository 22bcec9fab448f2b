import { expect, test } from "vitest"
import { text } from "../../units"
import { changeOf, signedText, sureText } from "./cells"

test("a change of nothing has no sign, from either side", () => {
  expect([-0.0004, -0, 0, 0.0004].map((share) => text(changeOf(share)))).toEqual(Array.from({ length: 4 }, () => "0.0\u00a0%"))
  expect([-0.0004, 0.0004].map((share) => sureText(changeOf(share), share, "0.61"))).toEqual(["0.0 ± 0.61 %", "0.0 ± 0.61 %"])
  expect([-0.0004, 0.0004, 0.002].map((share) => signedText(changeOf(share), share))).toEqual(["0.0\u00a0%", "0.0\u00a0%", "+0.2\u00a0%"])
  expect([-0.0006, 0.0006].map((share) => sureText(changeOf(share), share, "0.61"))).toEqual(["-0.1 ± 0.61 %", "+0.1 ± 0.61 %"])
})
