// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: three or four digits and a unit.
const digits = (x) => (x === 0 ? "0" : Math.abs(x) >= 1000 ? x.toFixed(0) : Number(x.toPrecision(4)).toString());

export function seconds(s) {
  const a = Math.abs(s);
  if (a === 0) return "0 s";
  if (a >= 1) return digits(s) + " s";
  if (a >= 1e-3) return digits(s * 1e3) + " ms";
  if (a >= 1e-6) return digits(s * 1e6) + " us";
  return digits(s * 1e9) + " ns";
}
export const ps = (t) => seconds(t * 1e-12);

export function bytes(b) {
  for (const [limit, unit] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])
    if (b >= limit) return digits(b / limit) + " " + unit;
  return b + " B";
}
export function sizeClass(b) {
  for (const [limit, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
    if (b >= limit) return b / limit + " " + unit;
  return b + " B";
}

export const percent = (share) => digits(share >= 0.01 ? Math.round(share * 1000) / 10 : share * 100) + " %";
export const count = (n) => n.toLocaleString("en-US");
export const factor = (x) => digits(x) + "x";
