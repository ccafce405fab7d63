// Selections of nodes and faces with the mouse: click, box, lasso, brush, plane. All are made where bodies are at the start.
import * as THREE from "three";
import { NO_FACE, type Thing } from "./things";

export type Tool = "click" | "box" | "lasso" | "brush" | "plane" | "arrow";
export type What = "nodes" | "faces";
/** How a gesture changes what was selected: in its place (plain), more (Shift), less (Alt). */
export type How = "replace" | "add" | "take";

/** Radius of the brush [pixels]. */
export const BRUSH = 22;
const SELECTED = 0xf59e0b;
/** Faces that turn by less than this belong to one side of a body. */
const FLAT = Math.cos((12 * Math.PI) / 180);

type ToScreen = (point: THREE.Vector3) => [number, number];

/** The faces of a soft body: centre, outward normal, area and corners (places in its moved nodes) of each. */
class Faces {
  numbers: number[] = [];
  centres = new Map<number, THREE.Vector3>();
  normals = new Map<number, THREE.Vector3>();
  areas = new Map<number, number>();
  corners = new Map<number, number[]>();

  constructor(thing: Thing) {
    const index = thing.mesh.geometry.index!.array;
    const [a, b, c] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
    thing.faces.forEach((face, k) => {
      if (face === NO_FACE) return;
      const nodes = [index[3 * k], index[3 * k + 1], index[3 * k + 2]];
      [a, b, c].forEach((each, i) => each.fromArray(thing.places, 3 * nodes[i]));
      const across = b.clone().sub(a).cross(c.clone().sub(a)).multiplyScalar(0.5);
      const centre = a.clone().add(b).add(c).divideScalar(3);
      if (!this.areas.has(face)) {
        this.numbers.push(face);
        this.centres.set(face, new THREE.Vector3());
        this.normals.set(face, new THREE.Vector3());
        this.areas.set(face, 0);
        this.corners.set(face, []);
      }
      this.centres.get(face)!.addScaledVector(centre, across.length());
      this.normals.get(face)!.add(across);
      this.areas.set(face, this.areas.get(face)! + across.length());
      this.corners.get(face)!.push(...nodes);
    });
    for (const face of this.numbers) {
      this.centres.get(face)!.divideScalar(this.areas.get(face)! || 1);
      this.normals.get(face)!.normalize();
    }
  }

  /** The flat side of the body that a face is a part of: its neighbours of neighbours that hardly turn away from it. */
  side(face: number): number[] {
    const around = new Map<number, number[]>();
    for (const each of this.numbers) for (const node of this.corners.get(each)!) around.set(node, [...(around.get(node) ?? []), each]);
    const normal = this.normals.get(face)!;
    const found = new Set([face]);
    const open = [face];
    while (open.length) {
      for (const node of this.corners.get(open.pop()!)!) {
        for (const next of around.get(node)!) {
          if (found.has(next) || this.normals.get(next)!.dot(normal) < FLAT) continue;
          found.add(next);
          open.push(next);
        }
      }
    }
    return [...found].sort((first, second) => first - second);
  }
}

const known = new WeakMap<Thing, { changes: number; faces: Faces }>();

/** The faces of a soft body as it is now. */
export function facesOf(thing: Thing): Faces {
  const last = known.get(thing);
  if (last?.changes === thing.changes) return last.faces;
  const faces = new Faces(thing);
  known.set(thing, { changes: thing.changes, faces });
  return faces;
}

/** Whether a point lies in a polygon [pixels]. */
function inside([x, y]: [number, number], polygon: [number, number][]): boolean {
  let odd = false;
  for (let k = 0, last = polygon.length - 1; k < polygon.length; last = k++) {
    const [[ax, ay], [bx, by]] = [polygon[k], polygon[last]];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  }
  return odd;
}

/** Nodes or faces in a polygon on the screen: all nodes, inside a body too; faces that look this way. */
export function within(polygon: [number, number][], what: What, thing: Thing, nodes: Float32Array, eye: THREE.Vector3, toScreen: ToScreen): number[] {
  const found: number[] = [];
  const point = new THREE.Vector3();
  if (what === "nodes") {
    for (let k = 0; 3 * k < nodes.length; k++) if (inside(toScreen(point.fromArray(nodes, 3 * k)), polygon)) found.push(k);
    return found;
  }
  const faces = facesOf(thing);
  for (const face of faces.numbers) {
    const centre = faces.centres.get(face)!;
    if (faces.normals.get(face)!.dot(point.copy(eye).sub(centre)) > 0 && inside(toScreen(centre), polygon)) found.push(face);
  }
  return found;
}

/** Nodes or faces of the surface around a point, no further than a radius [m]. */
export function around(at: THREE.Vector3, radius: number, what: What, thing: Thing): number[] {
  const point = new THREE.Vector3();
  if (what === "nodes") {
    const found: number[] = [];
    thing.numbers.forEach((node, k) => point.fromArray(thing.places, 3 * k).distanceTo(at) <= radius && found.push(node));
    return found;
  }
  const faces = facesOf(thing);
  return faces.numbers.filter((face) => faces.centres.get(face)!.distanceTo(at) <= radius);
}

/** The node nearest to a place on a triangle, or the face that the triangle is a part of; null inside a cut body. */
export function under(hit: THREE.Intersection, what: What, thing: Thing): number | null {
  if (what === "faces") return thing.faces[hit.faceIndex!] === NO_FACE ? null : thing.faces[hit.faceIndex!];
  const corners = [hit.face!.a, hit.face!.b, hit.face!.c];
  const far = (corner: number) => new THREE.Vector3().fromArray(thing.places, 3 * corner).distanceToSquared(hit.point);
  return thing.numbers[corners.sort((first, second) => far(first) - far(second))[0]];
}

/** What a gesture leaves selected. */
export function combined(before: number[], picked: number[], how: How): number[] {
  const gone = new Set(picked);
  if (how === "take") return before.filter((each) => !gone.has(each));
  return how === "add" ? [...new Set([...before, ...picked])].sort((a, b) => a - b) : picked;
}

/** What is selected, as it is shown: dots on nodes, patches on faces. */
export class Highlight {
  readonly group = new THREE.Group();

  show(thing: Thing | undefined, what: What, numbers: number[], nodes: Float32Array | null) {
    this.group.clear(); // patches share the points of their bodies, which stay
    if (!thing || !numbers.length) return;
    if (what === "nodes") {
      const places = new Float32Array(nodes ? 3 * numbers.length : 0);
      if (nodes) numbers.forEach((node, k) => places.set(nodes.subarray(3 * node, 3 * node + 3), 3 * k));
      this.group.add(this.dots(places));
    } else this.group.add(this.patch(thing, new Set(numbers)));
  }

  private dots(places: Float32Array): THREE.Points {
    const points = new THREE.Points(
      new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(places, 3)),
      new THREE.PointsMaterial({ color: SELECTED, size: 9, sizeAttenuation: false, depthTest: false, transparent: true }));
    points.frustumCulled = false;
    points.renderOrder = 4;
    return points;
  }

  private patch(thing: Thing, chosen: Set<number>): THREE.Mesh {
    const index = thing.mesh.geometry.index!.array;
    const corners: number[] = [];
    thing.faces.forEach((face, k) => chosen.has(face) && corners.push(index[3 * k], index[3 * k + 1], index[3 * k + 2]));
    const geometry = new THREE.BufferGeometry().setAttribute("position", thing.mesh.geometry.getAttribute("position")).setIndex(corners);
    const mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({
      color: SELECTED, side: THREE.DoubleSide, transparent: true, opacity: 0.75, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
    }));
    mesh.frustumCulled = false;
    mesh.renderOrder = 1;
    return mesh;
  }
}

/** The line that the mouse draws: a box, a lasso, the circle of the brush, and words beside the mouse. */
export class Trace {
  readonly home = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  private line = this.part("polygon", { fill: "#f59e0b22", stroke: "#b45309", "stroke-dasharray": "5 3" });
  private ring = this.part("circle", { fill: "none", stroke: "#b45309", r: String(BRUSH) });
  private words = this.part("text", { fill: "#22282e", stroke: "#fff", "stroke-width": "4", "paint-order": "stroke" });

  constructor() {
    this.home.setAttribute("class", "trace");
    this.clear();
  }

  private part(name: string, looks: { [key: string]: string }): SVGElement {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(looks)) made.setAttribute(key, value);
    this.home.appendChild(made);
    return made;
  }

  private only(shown: SVGElement | null) {
    for (const each of [this.line, this.ring, this.words]) each.setAttribute("visibility", each === shown ? "visible" : "hidden");
  }

  draw(points: [number, number][]) {
    this.line.setAttribute("points", points.map((point) => point.join(",")).join(" "));
    this.only(this.line);
  }

  circle([x, y]: [number, number]) {
    this.ring.setAttribute("cx", String(x));
    this.ring.setAttribute("cy", String(y));
    this.only(this.ring);
  }

  text([x, y]: [number, number], said: string) {
    this.words.setAttribute("x", String(x + 14));
    this.words.setAttribute("y", String(y - 10));
    this.words.textContent = said;
    this.only(this.words);
  }

  clear() {
    this.only(null);
  }
}
