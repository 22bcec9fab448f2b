/** Lines of the terminal in the page: the same words, with the page's signs. */
import { printable } from "../names"

/** `line` with facts that stand three blanks apart divided by dots, and microseconds as the page writes them. */
export function said(line: string): string {
  return printable(line).replaceAll("   ", " · ").replaceAll(/(\d) us\b/g, "$1 µs")
}
