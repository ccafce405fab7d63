// The three-dimensional view: surfaces and their motion, camera, gizmo, section, modes. z is up, lengths are metres.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { boxOf, sees } from "./bounds";
import { Drafts } from "./drafts";
import { free } from "./free";
import { Gizmo, type Pose } from "./gizmo";
import { Lighting } from "./lighting";
import type { Arrays, Frame, Mode, Nodes, Surfaces } from "./messages";
import { Mouse, type MouseEvents } from "./mouse";
import { Highlight, type What } from "./selecting";
import { type Swing, swung } from "./swing";
import { Symbols } from "./symbols";
import { paint, put, rigidThing, rodThing, softThing, type Thing, tint } from "./things";

export interface Events extends MouseEvents { move(name: string, pose: Pose): void; drawn(): void }

const DIRECTIONS: { [name: string]: [number, number, number] } = {
  oblique: [0.75, -1.9, 0.65], front: [0, -1, 0], right: [1, 0, 0], top: [0, -1e-4, 1],
};

export class View {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.001, 2000);
  readonly canvas: HTMLCanvasElement;
  readonly orbit: OrbitControls;
  readonly symbols = new Symbols();
  readonly mouse: Mouse;
  things: Thing[] = [];
  colors: [number, number, number][] = [];
  private renderer: THREE.WebGLRenderer;
  readonly gizmo: Gizmo;
  private lighting = new Lighting(this.scene, this.camera);
  private highlight = new Highlight();
  private drafts = new Drafts();
  private measure = Object.assign(document.createElement("div"), { className: "measure" });
  private clip = new THREE.Plane(new THREE.Vector3(0, 0, -1), 1e9);
  private nodes: { body: string; places: Float32Array } | null = null;
  private swing: Swing | null = null;
  private hidden = new Set<string>();
  private projected = new THREE.Vector3();
  private revision = -1;
  private framed = -1;
  private asked = false;
  private owed = 0;
  private fitted = false;
  private selected: string | null = null;
  /** A body that has just been added: it is to be seen. */
  added: string | null = null;
  private wire = false;

  constructor(readonly home: HTMLElement, private events: Events) {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = !this.software;
    this.renderer.localClippingEnabled = true;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.canvas = this.renderer.domElement;
    home.appendChild(this.canvas);
    this.scene.background = new THREE.Color(0xe9edf1);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(2, -5, 2);
    this.mouse = new Mouse(this, this.canvas, events); // before the orbit, which must not turn while it selects
    home.append(this.mouse.trace.home, this.measure);
    this.orbit = new OrbitControls(this.camera, this.canvas);
    this.orbit.addEventListener("change", () => (this.dirty = true));
    this.gizmo = new Gizmo(this.camera, this.canvas, this.scene, {
      moved: (pose) => this.selected && events.move(this.selected, pose),
      dragging: (yes) => (this.orbit.enabled = !yes),
      changed: () => (this.dirty = true),
    });
    this.scene.add(this.symbols.group, this.highlight.group, this.drafts.group);
    new ResizeObserver(() => this.resize()).observe(home);
    this.look("oblique");
  }

  /** Whether something is to be drawn, which is done with the next picture of the browser. */
  private get dirty(): boolean {
    return this.asked;
  }

  private set dirty(yes: boolean) {
    if (yes && !this.asked) requestAnimationFrame(() => this.draw());
    this.asked = yes;
  }

  /** Whether the browser draws without a graphics card: shadows then take most of the time. */
  get software(): boolean {
    const gl = this.renderer.getContext();
    const said = gl.getExtension("WEBGL_debug_renderer_info");
    return /swiftshader|llvmpipe|software/i.test(String(gl.getParameter(said?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER)));
  }

  shadows(yes: boolean) {
    this.renderer.shadowMap.enabled = yes;
    for (const thing of this.things) thing.material.needsUpdate = true;
    this.dirty = true;
  }

  /** Whether the scene of a revision is shown, and drawn. */
  current(revision: number): boolean {
    return this.framed === revision && this.still;
  }

  /** Whether all that has come has been drawn. */
  get still(): boolean {
    return !this.dirty;
  }

  placeOf(x: number, y: number, z: number): [number, number] {
    return this.toScreen(new THREE.Vector3(x, y, z));
  }

  /** Draw anew; symbols go back where the scene says that they are if they were dragged. */
  redraw(symbols = false) {
    if (symbols) this.symbols.follow();
    this.dirty = true;
  }

  ray(event: { clientX: number; clientY: number }): THREE.Raycaster {
    const box = this.home.getBoundingClientRect();
    const at = new THREE.Vector2(
      (2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  cast(event: { clientX: number; clientY: number }) {
    const meshes = this.things.filter((thing) => thing.mesh.visible).map((thing) => thing.mesh);
    const hit = this.ray(event).intersectObjects(meshes, false)[0];
    return hit ? { hit, thing: this.things.find((thing) => thing.mesh === hit.object)! } : null;
  }

  /** Where a point is on the screen [pixels]. */
  toScreen = (point: THREE.Vector3): [number, number] => {
    const at = this.projected.copy(point).project(this.camera);
    if (at.z > 1) return [-1e6, -1e6];
    return [(0.5 * at.x + 0.5) * this.home.clientWidth, (0.5 - 0.5 * at.y) * this.home.clientHeight];
  };

  metresPerPixel(at: THREE.Vector3): number {
    return (2 * Math.tan((this.camera.fov * Math.PI) / 360) * at.distanceTo(this.camera.position)) / this.home.clientHeight;
  }

  /** Half the diagonal of what there is [m]. */
  size(): number {
    return Math.max(0.5 * this.box().getSize(new THREE.Vector3()).length(), 1e-3);
  }

  private resize() {
    const { clientWidth: width, clientHeight: height } = this.home;
    if (!width || !height) return;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  private draw() {
    this.dirty = false;
    if (this.swing) {
      const { places, poses } = swung(this.swing);
      this.move(places, poses);
      this.dirty = true;
    }
    this.renderer.render(this.scene, this.camera);
    for (; this.owed; this.owed--) this.events.drawn();
  }

  surfaces(header: Surfaces, arrays: Arrays) {
    for (const thing of this.things) free(thing.mesh);
    this.swing = null;
    if (this.revision !== header.revision) this.nodes = null;
    this.revision = header.revision;
    const pins: { dots: Uint32Array; numbers: Uint32Array }[] = [];
    const clip = [this.clip];
    this.things = header.soft.map((said) => {
      const thing = softThing(said, arrays, this.wire);
      pins.push({ dots: arrays.numbers(said.pinned), numbers: arrays.numbers(said.pinned) });
      return thing;
    });
    this.things.push(...header.rods.map((said) => rodThing(said, arrays, this.wire, clip)));
    this.things.push(...header.rigid.map((said) => rigidThing(said, arrays, this.wire, clip)));
    for (const thing of this.things) {
      this.scene.add(thing.mesh);
      thing.mesh.visible = !this.hidden.has(thing.name);
      this.light(thing);
    }
    this.symbols.reset(header, this.things, pins);
    this.highlight.group.clear();
    this.drafts.tets([]);
    this.dirty = true;
  }

  frame(header: Frame, arrays: Arrays) {
    this.owed++;
    this.dirty = true;
    if (header.revision !== this.revision) return;
    this.swing = null;
    this.framed = header.revision;
    this.move(this.things.filter((thing) => thing.kind !== "rigid").map((thing) => arrays.floats(3 * thing.moved)), this.poses(arrays));
    this.color(header, arrays);
    this.symbols.contacts(header, arrays);
    if (!this.fitted && this.things.length) {
      this.look("oblique");
      this.fitted = true;
    }
    this.reveal();
  }

  private color({ field }: Frame, arrays: Arrays) {
    if (field && !field.fresh) return;
    const high = field?.high ?? 1;
    for (const thing of this.things.filter((each) => each.kind === "soft")) paint(thing, field && arrays.floats(thing.moved), high, this.colors);
    for (const thing of this.things.filter((each) => each.kind === "rod")) paint(thing, field?.rods ? arrays.floats(thing.moved) : undefined, high, this.colors);
    for (const thing of this.things.filter((each) => each.kind === "rigid")) tint(thing, field?.all ? arrays.floats(1)[0] : undefined, high, this.colors);
  }

  private poses(arrays: Arrays): Float32Array {
    return arrays.floats(7 * this.things.filter((thing) => thing.kind === "rigid").length);
  }

  private move(places: Float32Array[], poses: Float32Array) {
    this.things.filter((thing) => thing.kind !== "rigid").forEach((thing, k) => put(thing, places[k]));
    this.things.filter((thing) => thing.kind === "rigid").forEach((thing, k) => {
      const [x, y, z, qw, qx, qy, qz] = poses.subarray(7 * k, 7 * k + 7);
      thing.mesh.position.set(x, y, z);
      thing.mesh.quaternion.set(qx, qy, qz, qw);
      thing.mesh.scale.set(1, 1, 1);
    });
    if (!this.fitted) this.symbols.size = this.size();
    this.symbols.follow();
  }

  /** Swing a natural mode to and fro, until a frame comes. */
  mode(header: Mode, arrays: Arrays) {
    if (header.revision !== this.revision) return;
    const take = () => [...this.things.filter((thing) => thing.kind !== "rigid").map((thing) => arrays.floats(3 * thing.moved)), this.poses(arrays)];
    this.swing = { began: performance.now(), still: take(), there: take() };
    this.dirty = true;
  }

  takeNodes(header: Nodes, arrays: Arrays) {
    if (header.revision === this.revision) this.nodes = { body: header.body, places: arrays.floats(arrays.left) };
  }

  nodesOf(body: string): Float32Array | null {
    return this.nodes?.body === body ? this.nodes.places : null;
  }

  /** Show what is selected of a body. */
  mark(body: string | null, what: What, numbers: number[]) {
    this.highlight.show(this.things.find((thing) => thing.name === body && thing.kind === "soft"), what, numbers, body ? this.nodesOf(body) : null);
    this.dirty = true;
  }

  markTets(corners: number[][][]) {
    this.drafts.tets(corners);
    this.dirty = true;
  }

  sketch(from: THREE.Vector3 | null, to: THREE.Vector3 | null) {
    this.drafts.sketch(from, to);
    this.dirty = true;
  }

  preview(points: number[][], axis: number[] | null) {
    this.drafts.preview(points, axis, 0.3 * this.size());
    this.dirty = true;
  }

  /** Hide what lies beyond a plane, of rigid bodies and rods; soft bodies are cut by the server, in whole elements. */
  section(normal: [number, number, number] | null, offset: number) {
    this.clip.set(new THREE.Vector3(...(normal ?? [0, 0, 1])).negate(), normal ? offset : 1e9);
    this.dirty = true;
  }

  hide(names: Set<string>) {
    this.hidden = names;
    for (const thing of this.things) thing.mesh.visible = !names.has(thing.name);
    this.dirty = true;
  }

  box(): THREE.Box3 {
    return boxOf(this.things);
  }

  /** How wide a body is along x [m]. */
  width(name: string): number {
    const thing = this.things.find((each) => each.name === name);
    return thing && !thing.floor ? boxOf([thing]).getSize(new THREE.Vector3()).x : 0;
  }

  /** Step back if a body that has been added is not to be seen. */
  reveal() {
    const added = this.framed === this.revision && this.things.find((thing) => thing.name === this.added);
    if (!added) return;
    if (!sees(added, this.home, this.toScreen)) this.look();
    this.added = null;
  }

  /** See everything from a direction, or, without one, from where the camera is. */
  look(name?: string) {
    const centre = this.box().getCenter(new THREE.Vector3());
    const radius = this.size();
    const way = name ? new THREE.Vector3(...DIRECTIONS[name]) : this.camera.position.clone().sub(this.orbit.target);
    const half = Math.atan(Math.tan((this.camera.fov * Math.PI) / 360) * Math.min(1, this.camera.aspect));
    this.camera.position.copy(centre).addScaledVector(way.normalize(), (1.1 * radius) / Math.sin(half));
    this.camera.near = radius / 100;
    this.camera.far = radius * 1000;
    this.camera.updateProjectionMatrix();
    this.orbit.target.copy(centre);
    this.orbit.update();
    this.lighting.fit(centre, radius);
    this.measure.textContent = `squares of ${this.lighting.step < 1 ? `${Number((100 * this.lighting.step).toPrecision(3))} cm` : `${this.lighting.step} m`}`;
    this.symbols.size = radius;
    this.symbols.follow();
    this.dirty = true;
  }

  /** See everything from the other side; from above and below with the same side up. */
  opposite() {
    const way = this.camera.position.clone().sub(this.orbit.target);
    this.camera.position.copy(this.orbit.target).sub(Math.abs(way.z) > Math.hypot(way.x, way.y) ? new THREE.Vector3(-way.x, -way.y, way.z) : way.setZ(-way.z));
    this.look();
  }

  /** See everything of a scene that has just been opened, at once or as soon as it is there. */
  refit(revision: number) {
    if (revision === this.framed) this.look("oblique");
    else this.fitted = false;
  }

  /** Where the camera stands and looks [m]. */
  get camera_at() {
    return { eye: this.camera.position.toArray(), target: this.orbit.target.toArray() };
  }

  wireframe(yes: boolean) {
    this.wire = yes;
    for (const thing of this.things) if (!thing.floor) thing.material.wireframe = yes;
    this.dirty = true;
  }

  /** Mark a body; pose: where its gizmo stands, or null for none. */
  select(name: string | null, pose: Pose | null, mode: "translate" | "rotate") {
    this.selected = name;
    for (const thing of this.things) this.light(thing);
    this.gizmo.thing = this.things.find((thing) => thing.name === name);
    this.gizmo.stand(pose, mode);
    this.dirty = true;
  }

  private light(thing: Thing) {
    thing.material.emissive.set(thing.name === this.selected ? 0x3a2a00 : 0);
  }
}
