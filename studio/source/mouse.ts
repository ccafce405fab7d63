// What the mouse does in the view beside turning it: picks, pulls, drags arrows of loads, selects nodes and faces.
import * as THREE from "three";
import { around, BRUSH, combined, facesOf, type How, Trace, type Tool, under, type What, within } from "./selecting";
import type { Load } from "./messages";
import { type Arrow, type Picked, STRENGTH } from "./symbols";
import type { Thing } from "./things";
import type { View } from "./view";

/** What an arrow out of a side of a body may become; a body force acts on all nodes. */
export type Draws = "traction" | "pressure" | "force" | "body force";

/** A selection that is being made: of which body, of what, what is selected so far, and what an arrow becomes. */
export interface Choosing { tool: Tool | null; body: string | null; what: What; numbers: number[]; draws: Draws }

/** A load that has been drawn: how strong [N or Pa], of a pressure along -normal, and on which faces or nodes. */
export interface Drawn { draws: Draws; vector: number[]; pressure: number; faces: number[]; node: number }

export interface MouseEvents {
  pick(name: string | null): void;
  symbol(picked: Picked): void;
  /** A body is pulled at a point to a target, to another target, or no more. */
  pull(name: string, point: number[], target: number[]): void;
  drag(target: number[]): void;
  release(): void;
  /** Nodes or faces have been selected by number, or a half-space has been. */
  chosen(numbers: number[]): void;
  halfspace(point: number[], normal: number[]): void;
  /** The arrow of a load has been dragged; a new one has been drawn on a side of a body. */
  loaded(body: string, load: Load, vector: number[], pressure: number): void;
  drawn_arrow(body: string, drawn: Drawn): void;
}

type Place = [number, number];
const MOVED = 4;

const howOf = (event: PointerEvent): How => (event.shiftKey ? "add" : event.altKey ? "take" : "replace");
/** How strong an arrow as long as the scene is, where no other of its kind says so [N or Pa]. */
const STRONG = { traction: 1000, pressure: 1000, force: 10 };
const strength = (value: number) => `${Number(value.toPrecision(3))}`;

export class Mouse {
  choosing: Choosing = { tool: null, body: null, what: "nodes", numbers: [], draws: "traction" };
  pulling = false;
  /** Where a joint was last told to hold a body. */
  private picked: THREE.Vector3 | null = null;
  /** Takes clicks on bodies in place of the selection, as long as it is there. */
  picker: ((name: string, point: number[] | null, floor: boolean) => void) | null = null;
  readonly trace = new Trace();
  private down: Place | null = null;
  private path: Place[] = [];
  private string: { line: THREE.Line; plane: THREE.Plane } | null = null;
  private arrow: { arrow: Arrow; plane: THREE.Plane; vector: THREE.Vector3; pressure: number; moved: boolean } | null = null;
  private drawing: { thing: Thing; faces: number[]; node: number; normal: THREE.Vector3; base: THREE.Vector3; plane: THREE.Plane; tip: THREE.Vector3 } | null = null;

  constructor(private view: View, canvas: HTMLElement, private events: MouseEvents) {
    canvas.addEventListener("pointerdown", (event) => this.press(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerleave", () => this.trace.clear());
    addEventListener("pointerup", (event) => this.lift(event));
  }

  private at(event: { clientX: number; clientY: number }): Place {
    const box = this.view.home.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /** The plane across the line of sight through a point. */
  private facing(point: THREE.Vector3): THREE.Plane {
    return new THREE.Plane().setFromNormalAndCoplanarPoint(this.view.camera.getWorldDirection(new THREE.Vector3()), point);
  }

  private press(event: PointerEvent) {
    if (event.button !== 0) return;
    const place = this.at(event);
    this.down = place;
    const arrow = this.view.symbols.grab(...place, this.view.toScreen);
    if (arrow && !this.choosing.tool) {
      this.arrow = { arrow, plane: this.facing(arrow.base), vector: new THREE.Vector3(...(arrow.load.vector as [number, number, number])), pressure: 0, moved: false };
      this.hold();
    } else if (this.choosing.tool) this.begin(event, place);
    else if (this.pulling || event.shiftKey) this.grab(event);
  }

  private hold() {
    this.view.orbit.enabled = false;
  }

  private begin(event: PointerEvent, place: Place) {
    const { tool } = this.choosing;
    this.hold();
    this.path = [place];
    if (tool === "brush") this.brush(event, howOf(event) === "replace" ? "replace" : howOf(event));
    if (tool !== "arrow") return;
    const found = this.view.cast(event);
    const thing = found?.thing;
    const face = thing?.kind === "soft" && thing.name === this.choosing.body ? under(found!.hit, "faces", thing) : null;
    if (face === null || !thing) return;
    const faces = facesOf(thing);
    const side = this.choosing.what === "faces" && this.choosing.numbers.includes(face) ? this.choosing.numbers : faces.side(face);
    const [base, node] = [found!.hit.point, under(found!.hit, "nodes", thing)!];
    this.drawing = { thing, faces: side, node, normal: faces.normals.get(face)!, base, plane: this.facing(base), tip: base.clone() };
  }

  private move(event: PointerEvent) {
    const place = this.at(event);
    const { tool } = this.choosing;
    if (this.string) this.haul(event);
    else if (this.arrow) this.bend(event, place);
    else if (this.drawing) this.stretch(event, place);
    else if (tool === "brush" && !this.path.length) this.trace.circle(place);
    else if (this.path.length) {
      if (tool === "box") this.trace.draw(this.box(this.path[0], place));
      if (tool === "lasso") {
        this.path.push(place);
        this.trace.draw(this.path);
      }
      if (tool === "brush") this.brush(event, howOf(event) === "take" ? "take" : "add");
    }
  }

  private box([ax, ay]: Place, [bx, by]: Place): Place[] {
    return [[ax, ay], [bx, ay], [bx, by], [ax, by]];
  }

  private target(): Thing | undefined {
    return this.view.things.find((thing) => thing.name === this.choosing.body && thing.kind === "soft");
  }

  private choose(picked: number[], how: How) {
    this.choosing.numbers = combined(this.choosing.numbers, picked, how);
    this.events.chosen(this.choosing.numbers);
  }

  private brush(event: PointerEvent, how: How) {
    this.trace.circle(this.at(event));
    const found = this.view.cast(event);
    if (how === "replace") this.choose([], "replace");
    if (!found || found.thing !== this.target()) return;
    const radius = BRUSH * this.view.metresPerPixel(found.hit.point);
    this.choose(around(found.hit.point, radius, this.choosing.what, found.thing), how === "take" ? "take" : "add");
  }

  private lift(event: PointerEvent) {
    const [down, place] = [this.down, this.at(event)];
    if (this.string) this.letGo();
    else if (this.arrow) this.leave();
    else if (this.drawing) this.finish();
    else if (this.path.length) this.end(event, place);
    else if (down && event.target === this.view.canvas && Math.hypot(place[0] - down[0], place[1] - down[1]) <= MOVED) this.click(event, place);
    this.down = null;
    this.path = [];
    this.view.orbit.enabled = true;
  }

  private click(event: PointerEvent, place: Place) {
    if (this.view.gizmo.busy) return;
    if (this.picker) return this.pickFor(this.picker, event);
    const symbol = this.view.symbols.pick(...place, this.view.toScreen);
    if (symbol) return this.events.symbol(symbol);
    const found = this.view.cast(event);
    this.events.pick(found ? found.thing.name : null);
  }

  /** A click beside all bodies, or on a floor far away, is the world, as far away as what was picked before. */
  private pickFor(picker: NonNullable<Mouse["picker"]>, event: PointerEvent) {
    const found = this.view.cast(event);
    const near = found && (!found.thing.floor || found.hit.point.distanceTo(this.view.orbit.target) < 3 * this.view.size());
    const point = near ? found.hit.point : this.view.ray(event).ray.intersectPlane(this.facing(this.picked ?? this.view.orbit.target), new THREE.Vector3());
    if (near && !found.thing.floor) this.picked = found.hit.point;
    picker(near ? found.thing.name : "world", point ? point.toArray() : null, Boolean(near && found.thing.floor));
  }

  /** The end of a gesture that selects. */
  private end(event: PointerEvent, place: Place) {
    const { tool, what } = this.choosing;
    const thing = this.target();
    const [start] = this.path;
    this.trace.clear();
    if (!thing) return;
    if (tool === "box" || tool === "lasso") {
      const polygon = tool === "box" ? this.box(start, place) : this.path;
      if (polygon.length < 3) return;
      const nodes = this.view.nodesOf(thing.name) ?? new Float32Array();
      this.choose(within(polygon, what, thing, nodes, this.view.camera.position, this.view.toScreen), howOf(event));
    }
    if (tool !== "click" && tool !== "plane") return;
    const found = this.view.cast(event);
    if (!found || found.thing !== thing) return howOf(event) === "replace" ? this.choose([], "replace") : undefined;
    if (tool === "click") {
      const picked = under(found.hit, what, thing);
      if (picked !== null) this.choose([picked], howOf(event));
      return;
    }
    const normal = found.hit.face!.normal.clone();
    const inward = 1e-4 * this.view.size();
    this.events.halfspace(found.hit.point.clone().addScaledVector(normal, -inward).toArray(), normal.toArray());
  }

  private bend(event: PointerEvent, place: Place) {
    const { arrow, plane } = this.arrow!;
    const tip = this.view.ray(event).ray.intersectPlane(plane, new THREE.Vector3());
    if (!tip) return;
    let vector = tip.sub(arrow.base).divideScalar(this.view.symbols.scale(arrow.load.kind));
    if (arrow.load.inward) { // its tail is dragged, along the normal
      const inward = new THREE.Vector3(...(arrow.load.inward as [number, number, number]));
      this.arrow!.pressure = -vector.dot(inward);
      vector = inward.multiplyScalar(this.arrow!.pressure);
    }
    Object.assign(this.arrow!, { vector, moved: true });
    this.view.symbols.point(arrow, vector);
    this.trace.text(place, this.said(arrow.load.kind, vector, this.arrow!.pressure));
    this.view.redraw();
  }

  private said(kind: string, vector: THREE.Vector3, pressure: number): string {
    const unit = STRENGTH[kind as Load["kind"]]?.[1] ?? "N"; // of a body force
    return `${kind === "pressure" ? strength(pressure) : vector.toArray().map(strength).join(", ")} ${unit}`;
  }

  private leave() {
    const { arrow: { thing, load }, vector, pressure, moved } = this.arrow!;
    this.arrow = null;
    this.trace.clear();
    if (moved) this.events.loaded(thing.name, load, vector.toArray(), pressure);
    else this.events.symbol({ kind: load.kind, body: thing.name, number: load.number, of: load.of });
  }

  /** A new load is drawn out of a side of a body; of a pressure only what is along the normal counts. */
  private stretch(event: PointerEvent, place: Place) {
    const drawing = this.drawing!;
    this.view.ray(event).ray.intersectPlane(drawing.plane, drawing.tip);
    if (this.choosing.draws === "pressure") {
      const out = drawing.tip.clone().sub(drawing.base).dot(drawing.normal);
      drawing.tip.copy(drawing.base).addScaledVector(drawing.normal, out);
    }
    this.view.sketch(drawing.base, drawing.tip);
    const { vector, pressure } = this.newLoad();
    this.trace.text(place, this.said(this.choosing.draws, vector, pressure));
  }

  private newLoad(): { vector: THREE.Vector3; pressure: number } {
    const kind = this.choosing.draws === "body force" ? "force" : this.choosing.draws;
    this.view.symbols.suggest(kind, STRONG[kind]);
    const { tip, base, normal } = this.drawing!;
    const vector = tip.clone().sub(base).divideScalar(this.view.symbols.scale(kind));
    return { vector, pressure: vector.dot(normal) };
  }

  private finish() {
    const [drawing, { vector, pressure }] = [this.drawing!, this.newLoad()];
    this.drawing = null;
    this.trace.clear();
    this.view.sketch(null, null);
    const drawn = { draws: this.choosing.draws, vector: vector.toArray(), pressure, faces: drawing.faces, node: drawing.node };
    if (vector.length()) this.events.drawn_arrow(drawing.thing.name, drawn);
  }

  /** Begin to pull, with the shift key or in the mode for it: in the plane across the line of sight. */
  private grab(event: PointerEvent) {
    const found = this.view.cast(event);
    if (!found || found.thing.floor) return;
    this.hold();
    const { point } = found.hit;
    const line = new THREE.Line(
      new THREE.BufferGeometry().setFromPoints([point, point]), new THREE.LineBasicMaterial({ color: 0x8b1e3f, depthTest: false }));
    line.frustumCulled = false;
    this.view.scene.add(line);
    this.string = { line, plane: this.facing(point) };
    this.events.pull(found.thing.name, point.toArray(), point.toArray());
  }

  private haul(event: PointerEvent) {
    const target = this.view.ray(event).ray.intersectPlane(this.string!.plane, new THREE.Vector3());
    if (!target) return;
    const place = this.string!.line.geometry.getAttribute("position") as THREE.BufferAttribute;
    place.setXYZ(1, target.x, target.y, target.z);
    place.needsUpdate = true;
    this.view.redraw();
    this.events.drag(target.toArray());
  }

  private letGo() {
    this.view.scene.remove(this.string!.line);
    this.string = null;
    this.view.redraw();
    this.events.release();
  }
}
