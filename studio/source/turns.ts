// Rotations as people say them: angles [degrees] about the fixed axes x, then y, then z; scenes say quaternions (w, x, y, z).
import { Euler, MathUtils, Quaternion } from "three";

const round = (value: number, digits: number) => Number(value.toFixed(digits)) + 0;

export function angles([w, x, y, z]: number[]): [number, number, number] {
  const euler = new Euler().setFromQuaternion(new Quaternion(x, y, z, w), "ZYX");
  return [euler.x, euler.y, euler.z].map((angle) => round(MathUtils.radToDeg(angle), 4)) as [number, number, number];
}

export function quaternion([x, y, z]: [number, number, number]): number[] {
  const [a, b, c] = [x, y, z].map(MathUtils.degToRad);
  const turn = new Quaternion().setFromEuler(new Euler(a, b, c, "ZYX"));
  return [turn.w, turn.x, turn.y, turn.z].map((value) => round(value, 12));
}
