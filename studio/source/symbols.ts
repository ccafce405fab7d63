// Pins, joints, loads and contacts as symbols in the view, which can be picked; arrows of loads can be dragged.
import * as THREE from "three";
import { empty, free } from "./free";
import type { Anchor, Arrays, Frame, Load, Surfaces } from "./messages";
import type { Thing } from "./things";

/** What a symbol stands for. */
export type Picked =
  | { kind: "pin" | "clamp" | Load["kind"]; body: string; number: number; of?: number }
  | { kind: "joint"; number: number }
  | { kind: "contact"; text: string };

interface Dots { thing: Thing; nodes: Uint32Array; numbers: Uint32Array; pins: number; points: THREE.Points }
interface Held { thing: Thing | null; anchors: Anchor[]; group: THREE.Group; axes: Anchor[] }
/** A joint that is a line through the places that it holds. */
interface Cord { ends: { thing: Thing | null; anchor: Anchor }[]; line: THREE.Line }
export interface Arrow { thing: Thing; load: Load; arrow: THREE.ArrowHelper; base: THREE.Vector3 }

const PIN = 0x8b1e3f;
const JOINT = 0x1d3557;
const AXIS = 0x2563eb;
const LOAD = { force: 0xc2410c, torque: 0x15803d, traction: 0x9d174d, pressure: 0x6d28d9, wind: 0x0284c7 };
/** The key of a load that says how strong it is, and its unit. */
export const STRENGTH = {
  force: ["vector", "N"], torque: ["vector", "N m"], traction: ["vector", "Pa"], pressure: ["pressure", "Pa"], wind: ["velocity", "m/s"],
} as const;
const NEAR = 11;

const attribute = (values: ArrayLike<number>) => new THREE.Float32BufferAttribute(values as number[], 3);
const dotsOf = (count: number, color: number, size: number, through: boolean) => {
  const points = new THREE.Points(
    new THREE.BufferGeometry().setAttribute("position", attribute(new Float32Array(3 * count))),
    new THREE.PointsMaterial({ color, size, sizeAttenuation: false, depthTest: !through, transparent: through }));
  points.frustumCulled = false;
  points.renderOrder = through ? 2 : 0;
  return points;
};

export class Symbols {
  readonly group = new THREE.Group();
  private pins: Dots[] = [];
  private clamps: { thing: Thing; clamps: { of: number; ring: [number, number] }[]; points: THREE.Points }[] = [];
  private held: Held[] = [];
  private cords: Cord[] = [];
  arrows: Arrow[] = [];
  private touches: { at: THREE.Vector3; text: string }[] = [];
  private touching = new THREE.Group();
  /** Lengths of arrows [m per N or Pa]; they change only where arrows would be very short or very long. */
  private scales: { [kind: string]: number } = {};
  size = 1;

  constructor() {
    this.group.add(this.touching);
  }

  /** Everything anew, after the things of the scene have been made. */
  reset(header: Surfaces, things: Thing[], pins: { dots: Uint32Array; numbers: Uint32Array }[]) {
    for (const child of [...this.group.children]) if (child !== this.touching) free(child);
    this.pins = [];
    this.clamps = [];
    this.held = [];
    this.cords = [];
    this.arrows = [];
    this.clearTouches();
    const soft = things.filter((thing) => thing.kind === "soft");
    const rigid = things.filter((thing) => thing.kind === "rigid");
    soft.forEach((thing, k) => {
      const { dots, numbers } = pins[k];
      if (dots.length) this.pins.push({ thing, nodes: dots, numbers, pins: header.soft[k].pins, points: this.add(dotsOf(dots.length, PIN, 6, false)) });
      this.hold(thing, header.soft[k].anchors);
      this.load(thing, header.soft[k].loads);
    });
    rigid.forEach((thing, k) => {
      this.hold(thing, header.rigid[k].anchors);
      this.load(thing, header.rigid[k].loads);
    });
    things.filter((thing) => thing.kind === "rod").forEach((thing, k) => {
      const { anchors, loads, clamps } = header.rods[k];
      if (clamps.length) this.clamps.push({ thing, clamps, points: this.add(dotsOf(clamps.length, PIN, 8, true)) });
      this.hold(thing, anchors);
      this.load(thing, loads);
    });
    this.hold(null, header.anchors);
    for (const joint of header.lines) this.cord(joint);
  }

  private cord(joint: number) {
    const ends = this.held.flatMap(({ thing, anchors }) => anchors.filter((anchor) => anchor.joint === joint).map((anchor) => ({ thing, anchor })));
    ends.sort((first, second) => first.anchor.place - second.anchor.place);
    const line = this.add(new THREE.Line(new THREE.BufferGeometry().setAttribute("position", attribute(new Float32Array(3 * ends.length))),
      new THREE.LineBasicMaterial({ color: JOINT })));
    line.frustumCulled = false;
    this.cords.push({ ends, line });
  }

  private add<T extends THREE.Object3D>(object: T): T {
    this.group.add(object);
    return object;
  }

  private hold(thing: Thing | null, anchors: Anchor[]) {
    if (!anchors.length) return;
    const group = this.add(new THREE.Group());
    const axes = anchors.filter((anchor) => anchor.axis);
    group.add(dotsOf(anchors.length, JOINT, 9, true), this.segments(axes.length, AXIS));
    if (thing?.kind === "rigid" && !thing.floor) group.add(this.segments(anchors.length, JOINT));
    this.held.push({ thing, anchors, group, axes });
  }

  private segments(count: number, color: number): THREE.LineSegments {
    const lines = new THREE.LineSegments(
      new THREE.BufferGeometry().setAttribute("position", attribute(new Float32Array(6 * count))),
      new THREE.LineBasicMaterial({ color, depthTest: false, transparent: true }));
    lines.frustumCulled = false;
    return lines;
  }

  private load(thing: Thing, loads: Load[]) {
    for (const load of loads) {
      const arrow = this.add(new THREE.ArrowHelper(new THREE.Vector3(0, 0, 1), new THREE.Vector3(), 1, LOAD[load.kind]));
      for (const part of [arrow.line, arrow.cone]) {
        (part.material as THREE.Material).depthTest = false;
        (part.material as THREE.Material).transparent = true;
        part.renderOrder = 3;
        part.frustumCulled = false;
      }
      this.arrows.push({ thing, load, arrow, base: new THREE.Vector3() });
    }
  }

  private placeOf(thing: Thing | null, symbol: { point?: number; at?: number[]; ring?: [number, number] }): THREE.Vector3 {
    if (symbol.ring) {
      const [first, count] = symbol.ring;
      const sum = new THREE.Vector3();
      for (let k = first; k < first + count; k++) sum.add(new THREE.Vector3().fromArray(thing!.places, 3 * k));
      return sum.divideScalar(count);
    }
    if (symbol.point !== undefined) return new THREE.Vector3().fromArray(thing!.places, 3 * symbol.point);
    const place = new THREE.Vector3(...(symbol.at as [number, number, number]));
    return thing ? place.applyQuaternion(thing.mesh.quaternion).add(thing.mesh.position) : place;
  }

  /** Put all symbols where the bodies are now. */
  follow() {
    for (const { thing, nodes, points } of this.pins) {
      const place = points.geometry.getAttribute("position") as THREE.BufferAttribute;
      nodes.forEach((node, k) => place.setXYZ(k, thing.places[3 * node], thing.places[3 * node + 1], thing.places[3 * node + 2]));
      place.needsUpdate = true;
    }
    for (const { thing, clamps, points } of this.clamps) {
      const place = points.geometry.getAttribute("position") as THREE.BufferAttribute;
      clamps.forEach((clamp, k) => place.setXYZ(k, ...this.placeOf(thing, clamp).toArray()));
      place.needsUpdate = true;
    }
    for (const { thing, anchors, group, axes } of this.held) {
      const [dots, turning, lines] = group.children as (THREE.Points | THREE.LineSegments)[];
      this.turn(thing, axes, turning);
      const place = dots.geometry.getAttribute("position") as THREE.BufferAttribute;
      anchors.forEach((anchor, k) => {
        const at = this.placeOf(thing, anchor);
        place.setXYZ(k, at.x, at.y, at.z);
        if (!lines) return;
        const ends = lines.geometry.getAttribute("position") as THREE.BufferAttribute;
        const { x, y, z } = thing!.mesh.position;
        ends.setXYZ(2 * k, x, y, z);
        ends.setXYZ(2 * k + 1, at.x, at.y, at.z);
        ends.needsUpdate = true;
      });
      place.needsUpdate = true;
    }
    for (const { ends, line } of this.cords) {
      const place = line.geometry.getAttribute("position") as THREE.BufferAttribute;
      ends.forEach(({ thing, anchor }, k) => place.setXYZ(k, ...this.placeOf(thing, anchor).toArray()));
      place.needsUpdate = true;
    }
    for (const kind of Object.keys(LOAD)) this.rescale(kind);
    for (const each of this.arrows) {
      each.base.copy(this.placeOf(each.thing, each.load));
      this.point(each, new THREE.Vector3(...(each.load.vector as [number, number, number])));
    }
  }

  /** Axes of joints as lines through where they hold. */
  private turn(thing: Thing | null, axes: Anchor[], lines: THREE.Object3D) {
    const ends = (lines as THREE.LineSegments).geometry.getAttribute("position") as THREE.BufferAttribute;
    axes.forEach((anchor, k) => {
      const way = new THREE.Vector3(...anchor.axis!).multiplyScalar(0.35 * this.size);
      if (thing) way.applyQuaternion(thing.mesh.quaternion);
      const at = this.placeOf(thing, anchor);
      ends.setXYZ(2 * k, ...at.clone().sub(way).toArray());
      ends.setXYZ(2 * k + 1, ...at.add(way).toArray());
    });
    ends.needsUpdate = true;
  }

  scale(kind: string): number {
    return this.scales[kind] || 1;
  }

  /** Have an arrow as long as the scene stand for some strength, where nothing else has set it. */
  suggest(kind: string, strength: number) {
    if (!this.scales[kind]) this.scales[kind] = this.size / (strength || 1);
  }

  private rescale(kind: string) {
    const lengths = this.arrows.filter((each) => each.load.kind === kind).map((each) => new THREE.Vector3(...(each.load.vector as [number, number, number])).length());
    const longest = Math.max(0, ...lengths);
    if (!longest) return;
    const length = longest * (this.scales[kind] ?? 0);
    if (length < 0.05 * this.size || length > 1.2 * this.size) this.scales[kind] = (0.4 * this.size) / longest;
  }

  /** Show an arrow as that of a vector; a pressure points at its face. */
  point({ arrow, base, load }: Arrow, vector: THREE.Vector3) {
    const length = Math.max(vector.length() * this.scale(load.kind), 0.02 * this.size);
    const way = vector.lengthSq() ? vector.clone().normalize() : new THREE.Vector3(0, 0, 1);
    arrow.position.copy(load.kind === "pressure" ? base.clone().addScaledVector(way, -length) : base);
    arrow.setDirection(way);
    arrow.setLength(length, Math.min(0.35 * length, 0.07 * this.size), 0.03 * this.size);
  }

  /** The end of an arrow that is dragged: its tip, of a pressure its tail. */
  handle({ arrow, base, load }: Arrow): THREE.Vector3 {
    if (load.kind === "pressure") return arrow.position.clone();
    return base.clone().add(new THREE.Vector3(...(load.vector as [number, number, number])).multiplyScalar(this.scale(load.kind)));
  }

  private clearTouches() {
    empty(this.touching);
    this.touches = [];
  }

  /** Points and forces of contacts of a frame. */
  contacts(header: Frame, arrays: Arrays) {
    this.clearTouches();
    if (!header.touching?.length) return;
    const values = arrays.floats(6 * header.touching.length);
    const lines: number[] = [];
    const strengths = header.touching.map((_, k) => Math.hypot(values[6 * k + 3], values[6 * k + 4], values[6 * k + 5]));
    const scale = (0.25 * this.size) / (Math.max(...strengths) || 1);
    header.touching.forEach(([first, second], k) => {
      const [x, y, z, fx, fy, fz] = values.subarray(6 * k, 6 * k + 6);
      this.touches.push({ at: new THREE.Vector3(x, y, z), text: `${first} touches ${second} with ${strengths[k].toPrecision(3)} N` });
      lines.push(x, y, z, x + scale * fx, y + scale * fy, z + scale * fz);
    });
    const color = 0x0f766e;
    const forces = new THREE.LineSegments(
      new THREE.BufferGeometry().setAttribute("position", attribute(lines)), new THREE.LineBasicMaterial({ color, depthTest: false, transparent: true }));
    const dots = dotsOf(this.touches.length, color, 7, true);
    const place = dots.geometry.getAttribute("position") as THREE.BufferAttribute;
    this.touches.forEach(({ at }, k) => place.setXYZ(k, at.x, at.y, at.z));
    forces.frustumCulled = false;
    this.touching.add(forces, dots);
  }

  /** The symbol near a place on the screen; toScreen gives the place of a point [pixels]. */
  pick(x: number, y: number, toScreen: (point: THREE.Vector3) => [number, number]): Picked | null {
    let [best, found]: [number, Picked | null] = [NEAR, null];
    const offer = (point: THREE.Vector3, picked: Picked, handicap = 0) => {
      const [px, py] = toScreen(point);
      const far = Math.hypot(px - x, py - y) + handicap;
      if (far < best) [best, found] = [far, picked];
    };
    for (const each of this.arrows) {
      const picked: Picked = { kind: each.load.kind, body: each.thing.name, number: each.load.number, of: each.load.of };
      for (const share of [0.5, 0.75, 1]) offer(each.base.clone().lerp(this.handle(each), share), picked);
    }
    for (const { thing, anchors } of this.held) for (const anchor of anchors) offer(this.placeOf(thing, anchor), { kind: "joint", number: anchor.joint }, 1);
    for (const { at, text } of this.touches) offer(at, { kind: "contact", text }, 2);
    for (const { thing, nodes, numbers, pins } of this.pins) {
      const picked = (number: number): Picked => (number < pins ? { kind: "pin", body: thing.name, number } : { kind: "clamp", body: thing.name, number: number - pins });
      nodes.forEach((node, k) => offer(new THREE.Vector3().fromArray(thing.places, 3 * node), picked(numbers[k]), 4));
    }
    for (const { thing, clamps } of this.clamps) for (const clamp of clamps) offer(this.placeOf(thing, clamp), { kind: "clamp", body: thing.name, number: 0, of: clamp.of }, 4);
    return found;
  }

  /** The arrow whose end is near a place on the screen. */
  grab(x: number, y: number, toScreen: (point: THREE.Vector3) => [number, number]): Arrow | null {
    const far = (each: Arrow) => {
      const [px, py] = toScreen(this.handle(each));
      return Math.hypot(px - x, py - y);
    };
    const nearest = [...this.arrows].sort((a, b) => far(a) - far(b))[0];
    return nearest && far(nearest) < NEAR ? nearest : null;
  }
}
