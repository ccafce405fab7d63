// A natural mode that swings to and fro between everything at rest and everything where the mode takes it.
import { Quaternion, Vector3 } from "three";

/** How often a mode swings in a second, whatever its frequency. */
const SWINGS = 0.8;

/** Arrays of places, the last one of poses: at rest, and where the mode takes them. */
export interface Swing { began: number; still: Float32Array[]; there: Float32Array[] }

export function swung({ began, still, there }: Swing): { places: Float32Array[]; poses: Float32Array } {
  const share = Math.sin((2 * Math.PI * SWINGS * (performance.now() - began)) / 1000);
  const mixed = still.map((rest, k) => rest.map((value, i) => value + share * (there[k][i] - value)));
  const poses = mixed[mixed.length - 1];
  for (let k = 3; k < poses.length; k += 7) turn(poses.subarray(k, k + 4), still[still.length - 1].subarray(k, k + 4), there[there.length - 1].subarray(k, k + 4), share);
  return { places: mixed.slice(0, -1), poses };
}

/** Turn from one quaternion a share of the way to another, and the other way for negative shares. */
function turn(out: Float32Array, from: Float32Array, to: Float32Array, share: number) {
  const [rest, there] = [from, to].map(([w, x, y, z]) => new Quaternion(x, y, z, w));
  const between = there.multiply(rest.clone().invert());
  if (between.w < 0) between.set(-between.x, -between.y, -between.z, -between.w);
  const half = Math.acos(Math.min(1, between.w));
  const axis = new Vector3(between.x, between.y, between.z).normalize();
  const { x, y, z, w } = new Quaternion().setFromAxisAngle(axis, 2 * half * share).multiply(rest);
  out.set([w, x, y, z]);
}
