// The three-dimensional view: surfaces and their motion, camera, picking, gizmo. z is up, lengths are metres.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
import type { Arrays, Frame, Surfaces } from "./messages";

interface Thing {
  name: string;
  kind: "soft" | "rod" | "rigid";
  mesh: THREE.Mesh;
  material: THREE.MeshStandardMaterial;
  color: THREE.Color;
  drawn: boolean;
  points: number;
  pins?: THREE.Points;
  pinned: Uint32Array;
}

export interface Pose { position: number[]; rotation: number[] }

export interface Events {
  pick(name: string | null): void;
  move(name: string, pose: Pose): void;
  drawn(): void;
  /** A body is pulled at a point to a target, to another target, or no more. */
  pull(name: string, point: number[], target: number[]): void;
  drag(target: number[]): void;
  release(): void;
}

const DIRECTIONS: { [name: string]: [number, number, number] } = {
  oblique: [0.75, -1.9, 0.65], front: [0, -1, 0], right: [1, 0, 0], top: [0, -1e-4, 1],
};

/** Squares on the ground, each side a line of its own: long lines that pass the eye are lost in some drivers. */
function net(step: number): THREE.LineSegments {
  const half = 30;
  const points: number[] = [];
  for (let i = -half; i <= half; i++) {
    for (let j = -half; j < half; j++) points.push(i, j, 0, i, j + 1, 0, j, i, 0, j + 1, i, 0);
  }
  const place = new THREE.Float32BufferAttribute(points.map((value) => step * value), 3);
  const lines = new THREE.LineSegments(
    new THREE.BufferGeometry().setAttribute("position", place), new THREE.LineBasicMaterial({ color: 0x9aa4ad }));
  lines.frustumCulled = false;
  return lines;
}

export class View {
  private renderer: THREE.WebGLRenderer;
  private scene = new THREE.Scene();
  private camera = new THREE.PerspectiveCamera(40, 1, 0.001, 2000);
  private orbit: OrbitControls;
  private gizmo: TransformControls;
  private proxy = new THREE.Object3D();
  private grabbed = new THREE.Matrix4();
  private sun = new THREE.DirectionalLight(0xffffff, 2.2);
  private grid: THREE.Object3D = new THREE.Group();
  private framed = -1;
  private string: { line: THREE.Line; plane: THREE.Plane } | null = null;
  pulling = false;
  private things: Thing[] = [];
  private floors: THREE.Mesh[] = [];
  private held: THREE.Object3D = new THREE.Group();
  private revision = -1;
  private dirty = true;
  private owed = 0;
  private fitted = false;
  private selected: string | null = null;
  private wire = false;
  colors: [number, number, number][] = [];

  constructor(private home: HTMLElement, private events: Events) {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    home.appendChild(this.renderer.domElement);
    this.scene.background = new THREE.Color(0xe9edf1);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8a8f96, 1.5), this.sun, this.sun.target);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0005;
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(2, -5, 2);
    const canvas = this.renderer.domElement;
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.addEventListener("change", () => (this.dirty = true));
    this.gizmo = new TransformControls(this.camera, canvas);
    this.gizmo.addEventListener("change", () => this.preview());
    this.gizmo.addEventListener("dragging-changed", (event) => this.drag(Boolean(event.value)));
    this.scene.add(this.proxy, this.gizmo.getHelper());
    new ResizeObserver(() => this.resize()).observe(home);
    this.listenForPicks(canvas);
    const loop = () => {
      requestAnimationFrame(loop);
      this.draw();
    };
    requestAnimationFrame(loop);
  }

  private listenForPicks(canvas: HTMLElement) {
    let down: [number, number] | null = null;
    canvas.addEventListener("pointerdown", (event) => (down = event.button === 0 ? [event.clientX, event.clientY] : null));
    canvas.addEventListener("pointerdown", (event) => this.grab(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.haul(event));
    addEventListener("pointerup", () => this.letGo());
    canvas.addEventListener("pointerup", (event) => {
      if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4 || this.gizmo.axis) return;
      const hit = this.cast(event);
      this.events.pick(hit ? hit.thing.name : null);
    });
  }

  /** Begin to pull, with the shift key or in the mode for it: in the plane across the line of sight. */
  private grab(event: PointerEvent) {
    if (event.button !== 0 || !(this.pulling || event.shiftKey)) return;
    const found = this.cast(event);
    if (!found || this.floors.includes(found.thing.mesh)) return;
    this.orbit.enabled = false;
    const { point } = found.hit;
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), point);
    const line = new THREE.Line(
      new THREE.BufferGeometry().setFromPoints([point, point]), new THREE.LineBasicMaterial({ color: 0x8b1e3f, depthTest: false }));
    line.frustumCulled = false;
    this.scene.add(line);
    this.string = { line, plane };
    this.events.pull(found.thing.name, point.toArray(), point.toArray());
  }

  private haul(event: PointerEvent) {
    if (!this.string) return;
    const target = this.ray(event).ray.intersectPlane(this.string.plane, new THREE.Vector3());
    if (!target) return;
    const place = this.string.line.geometry.getAttribute("position") as THREE.BufferAttribute;
    place.setXYZ(1, target.x, target.y, target.z);
    place.needsUpdate = true;
    this.dirty = true;
    this.events.drag(target.toArray());
  }

  private letGo() {
    if (!this.string) return;
    this.scene.remove(this.string.line);
    this.string = null;
    this.orbit.enabled = true;
    this.dirty = true;
    this.events.release();
  }

  private ray(event: { clientX: number; clientY: number }): THREE.Raycaster {
    const box = this.home.getBoundingClientRect();
    const at = new THREE.Vector2(
      (2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  private cast(event: { clientX: number; clientY: number }) {
    const hit = this.ray(event).intersectObjects(this.things.map((thing) => thing.mesh), false)[0];
    return hit ? { hit, thing: this.things.find((thing) => thing.mesh === hit.object)! } : null;
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
    if (!this.dirty) return;
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
    for (; this.owed; this.owed--) this.events.drawn();
  }

  surfaces(header: Surfaces, arrays: Arrays) {
    for (const thing of this.things) {
      this.scene.remove(thing.mesh);
      if (thing.pins) this.scene.remove(thing.pins);
      thing.mesh.geometry.dispose();
      thing.material.dispose();
    }
    for (const floor of this.floors) this.scene.remove(floor);
    this.things = [];
    this.floors = [];
    this.revision = header.revision;
    for (const soft of header.soft) {
      const geometry = new THREE.BufferGeometry();
      geometry.setIndex(new THREE.BufferAttribute(arrays.numbers(3 * soft.triangles), 1));
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * soft.points), 3));
      geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * soft.points).fill(1), 3));
      const pinned = arrays.numbers(soft.pinned);
      this.add({ ...soft, kind: "soft", flat: !soft.drawn, pinned }, geometry);
    }
    for (const rod of header.rods) {
      const geometry = new THREE.BufferGeometry();
      geometry.setIndex(new THREE.BufferAttribute(arrays.numbers(3 * rod.triangles), 1));
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * rod.points), 3));
      this.add({ ...rod, kind: "rod", flat: false, drawn: true, pinned: new Uint32Array() }, geometry);
    }
    for (const rigid of header.rigid) {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(arrays.floats(3 * rigid.points), 3));
      geometry.setIndex(new THREE.BufferAttribute(arrays.numbers(3 * rigid.triangles), 1));
      if (rigid.plane) this.addFloor(geometry, rigid.plane);
      else geometry.computeVertexNormals();
      this.add({ ...rigid, kind: "rigid", drawn: true, pinned: new Uint32Array() }, geometry);
      const { mesh } = this.things[this.things.length - 1];
      if (rigid.plane) this.floors.push(mesh);
      else mesh.add(this.anchors(rigid.anchors, true));
    }
    this.scene.remove(this.held);
    this.held = this.anchors(header.anchors, false);
    this.scene.add(this.held);
    this.dirty = true;
  }

  /** Where joints hold, as dots; of a rigid body with lines from its origin, and seen through it. */
  private anchors(points: number[][], lines: boolean): THREE.Object3D {
    const group = new THREE.Group();
    const place = (values: number[]) => new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(values, 3));
    const dots = new THREE.Points(place(points.flat()), new THREE.PointsMaterial({ color: 0x1d3557, size: 8, sizeAttenuation: false, depthTest: false }));
    group.add(dots);
    if (lines) group.add(new THREE.LineSegments(place(points.flatMap((point) => [0, 0, 0, ...point])), new THREE.LineBasicMaterial({ color: 0x1d3557, depthTest: false })));
    for (const child of group.children) child.frustumCulled = false;
    return group;
  }

  private addFloor(geometry: THREE.BufferGeometry, normal: number[]) {
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...normal));
    const square = new THREE.PlaneGeometry(400, 400).applyQuaternion(turn);
    geometry.copy(square);
  }

  private add(said: { name: string; kind: Thing["kind"]; color: string; flat: boolean; drawn: boolean; points: number;
    pinned: Uint32Array; plane?: number[] | null }, geometry: THREE.BufferGeometry) {
    const color = new THREE.Color(said.plane ? "#dfe3e7" : said.color);
    const material = new THREE.MeshStandardMaterial({
      color, side: said.kind === "soft" ? THREE.DoubleSide : THREE.FrontSide, roughness: 0.75, flatShading: said.flat, wireframe: this.wire && !said.plane,
      polygonOffset: true, polygonOffsetFactor: said.plane ? 4 : 1, polygonOffsetUnits: said.plane ? 4 : 1,
    });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.castShadow = !said.plane;
    mesh.receiveShadow = true;
    const thing: Thing = { ...said, mesh, material, color };
    if (said.pinned.length) {
      const points = new THREE.BufferGeometry();
      points.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * said.pinned.length), 3));
      thing.pins = new THREE.Points(points, new THREE.PointsMaterial({ color: 0x8b1e3f, size: 6, sizeAttenuation: false }));
      thing.pins.frustumCulled = false;
      this.scene.add(thing.pins);
    }
    if (said.kind === "soft" && !said.drawn) {
      const lines = new THREE.MeshBasicMaterial({ color: 0x10181c, wireframe: true, transparent: true, opacity: 0.18 });
      const edges = new THREE.Mesh(geometry, lines);
      edges.frustumCulled = false;
      mesh.add(edges);
    }
    this.things.push(thing);
    this.scene.add(mesh);
    this.light(thing);
  }

  frame(header: Frame, arrays: Arrays) {
    this.owed++;
    this.dirty = true;
    if (header.revision !== this.revision) return;
    this.framed = header.revision;
    const soft = this.things.filter((thing) => thing.kind === "soft");
    for (const thing of this.things) if (thing.kind !== "rigid") this.put(thing, arrays.floats(3 * thing.points));
    for (const thing of this.things.filter((each) => each.kind === "rigid")) {
      const [x, y, z, qw, qx, qy, qz] = arrays.floats(7);
      thing.mesh.position.set(x, y, z);
      thing.mesh.quaternion.set(qx, qy, qz, qw);
      thing.mesh.scale.set(1, 1, 1);
    }
    for (const thing of soft) this.paint(thing, header.field && arrays.floats(thing.points), header.field?.high ?? 1);
    if (!this.fitted && this.things.length) {
      this.look("oblique");
      this.fitted = true;
    }
  }

  private put(thing: Thing, points: Float32Array) {
    const { geometry } = thing.mesh;
    (geometry.getAttribute("position") as THREE.BufferAttribute).copyArray(points).needsUpdate = true;
    thing.mesh.position.set(0, 0, 0);
    thing.mesh.quaternion.set(0, 0, 0, 1);
    geometry.boundingSphere = null;
    geometry.boundingBox = null;
    if (thing.drawn) geometry.computeVertexNormals();
    if (!thing.pins) return;
    const place = thing.pins.geometry.getAttribute("position") as THREE.BufferAttribute;
    thing.pinned.forEach((point, k) => place.setXYZ(k, points[3 * point], points[3 * point + 1], points[3 * point + 2]));
    place.needsUpdate = true;
  }

  private paint(thing: Thing, values: Float32Array | undefined, high: number) {
    if (thing.material.vertexColors !== Boolean(values)) {
      thing.material.vertexColors = Boolean(values);
      thing.material.needsUpdate = true;
    }
    thing.material.color.copy(values ? new THREE.Color(1, 1, 1) : thing.color);
    if (!values) return;
    const attribute = thing.mesh.geometry.getAttribute("color") as THREE.BufferAttribute;
    const last = this.colors.length - 1;
    const color = new THREE.Color();
    const table = this.colors.map(([r, g, b]) => color.setRGB(r / 255, g / 255, b / 255, THREE.SRGBColorSpace).toArray());
    for (let k = 0; k < values.length; k++) {
      const entry = table[Math.max(0, Math.min(last, Math.round((last * values[k]) / high)))];
      attribute.setXYZ(k, entry[0], entry[1], entry[2]);
    }
    attribute.needsUpdate = true;
  }

  private box(): THREE.Box3 {
    const box = new THREE.Box3();
    for (const thing of this.things) {
      if (this.floors.includes(thing.mesh)) continue;
      thing.mesh.updateMatrixWorld();
      thing.mesh.geometry.computeBoundingBox();
      box.union(thing.mesh.geometry.boundingBox!.clone().applyMatrix4(thing.mesh.matrixWorld));
    }
    return box.isEmpty() ? new THREE.Box3(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1)) : box;
  }

  /** See everything from a direction, or, without one, from where the camera is. */
  look(name?: string) {
    const box = this.box();
    const centre = box.getCenter(new THREE.Vector3());
    const radius = Math.max(0.5 * box.getSize(new THREE.Vector3()).length(), 1e-3);
    const way = name ? new THREE.Vector3(...DIRECTIONS[name]) : this.camera.position.clone().sub(this.orbit.target);
    const half = Math.atan(Math.tan((this.camera.fov * Math.PI) / 360) * Math.min(1, this.camera.aspect));
    this.camera.position.copy(centre).addScaledVector(way.normalize(), (1.1 * radius) / Math.sin(half));
    this.camera.near = radius / 100;
    this.camera.far = radius * 1000;
    this.camera.updateProjectionMatrix();
    this.orbit.target.copy(centre);
    this.orbit.update();
    this.lightUp(centre, radius);
    this.dirty = true;
  }

  private lightUp(centre: THREE.Vector3, radius: number) {
    this.sun.position.copy(centre).add(new THREE.Vector3(-0.9, -1.4, 2.6).multiplyScalar(radius));
    this.sun.target.position.copy(centre);
    const shadow = this.sun.shadow.camera;
    [shadow.left, shadow.right, shadow.bottom, shadow.top] = [-2.5 * radius, 2.5 * radius, -2.5 * radius, 2.5 * radius];
    [shadow.near, shadow.far] = [0.01 * radius, 10 * radius];
    shadow.updateProjectionMatrix();
    const step = 10 ** Math.round(Math.log10(radius / 2));
    this.scene.remove(this.grid);
    this.grid = net(step);
    this.grid.position.z = 2e-3 * radius;
    this.scene.add(this.grid);
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
    for (const thing of this.things) if (!this.floors.includes(thing.mesh)) thing.material.wireframe = yes;
    this.dirty = true;
  }

  /** Mark a body; pose: where its gizmo stands, or null for none. */
  select(name: string | null, pose: Pose | null, mode: "translate" | "rotate") {
    this.selected = name;
    for (const thing of this.things) this.light(thing);
    this.gizmo.setMode(mode);
    if (pose && !this.gizmo.dragging) {
      const [w, x, y, z] = pose.rotation;
      this.proxy.position.set(pose.position[0], pose.position[1], pose.position[2]);
      this.proxy.quaternion.set(x, y, z, w);
      this.gizmo.attach(this.proxy);
    } else if (!pose) this.gizmo.detach();
    this.dirty = true;
  }

  private light(thing: Thing) {
    thing.material.emissive.set(thing.name === this.selected ? 0x3a2a00 : 0);
  }

  private drag(start: boolean) {
    this.orbit.enabled = !start;
    if (start) {
      this.proxy.updateMatrix();
      this.grabbed.copy(this.proxy.matrix).invert();
      for (const thing of this.things) thing.mesh.userData.before = thing.mesh.matrix.clone();
      return;
    }
    const { x, y, z, w } = this.proxy.quaternion;
    const round = (value: number) => Number(value.toFixed(6));
    const pose = { position: this.proxy.position.toArray().map(round), rotation: [w, x, y, z] };
    if (this.selected) this.events.move(this.selected, pose);
  }

  private preview() {
    this.dirty = true;
    const thing = this.things.find((each) => each.name === this.selected);
    if (!thing || !this.gizmo.dragging || !thing.mesh.userData.before) return;
    this.proxy.updateMatrix();
    const matrix = this.proxy.matrix.clone().multiply(this.grabbed).multiply(thing.mesh.userData.before);
    matrix.decompose(thing.mesh.position, thing.mesh.quaternion, thing.mesh.scale);
  }
}
