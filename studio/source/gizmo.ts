// Moves and turns the selected body with the mouse: it follows at once, and the scene is told at the end.
import * as THREE from "three";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
import type { Thing } from "./things";

export interface Pose { position: number[]; rotation: number[] }

/** The points of a rod after its first one has been put into a pose, the others with it [m]. */
export function carried(points: number[][], { position, rotation: [w, x, y, z] }: Pose): number[][] {
  const turn = new THREE.Quaternion(x, y, z, w);
  const [first, to] = [new THREE.Vector3().fromArray(points[0]), new THREE.Vector3().fromArray(position)];
  return points.map((point) => new THREE.Vector3().fromArray(point).sub(first).applyQuaternion(turn).add(to).toArray().map((value) => Number(value.toFixed(6)) + 0));
}

interface Events { moved(pose: Pose): void; dragging(yes: boolean): void; changed(): void }

export class Gizmo {
  private controls: TransformControls;
  private proxy = new THREE.Object3D();
  private grabbed = new THREE.Matrix4();
  /** The thing that follows, and where it was when it was grabbed. */
  thing: Thing | undefined;
  private before = new THREE.Matrix4();

  constructor(camera: THREE.Camera, canvas: HTMLElement, scene: THREE.Scene, private events: Events) {
    this.controls = new TransformControls(camera, canvas);
    this.controls.addEventListener("change", () => this.carry());
    this.controls.addEventListener("dragging-changed", (event) => this.drag(Boolean(event.value)));
    const helper = this.controls.getHelper();
    helper.traverse((part) => this.blunt(part as THREE.Mesh));
    scene.add(this.proxy, helper);
  }

  /** Arrows have a head at one end: those at the other, which nothing leads to, are made empty. */
  private blunt(part: THREE.Mesh) {
    const axis = ({ X: "x", Y: "y", Z: "z" } as const)[part.name as "X"];
    if (!axis || part.geometry?.type !== "CylinderGeometry") return;
    part.geometry.computeBoundingBox();
    if (part.geometry.boundingBox!.max[axis] <= 0) part.geometry = new THREE.BufferGeometry();
  }

  /** Whether the mouse is on it. */
  get busy(): boolean {
    return Boolean(this.controls.axis);
  }

  /** Stand where a pose is, or nowhere. */
  stand(pose: Pose | null, mode: "translate" | "rotate") {
    this.controls.setMode(mode);
    if (pose && !this.controls.dragging) {
      const [w, x, y, z] = pose.rotation;
      this.proxy.position.set(pose.position[0], pose.position[1], pose.position[2]);
      this.proxy.quaternion.set(x, y, z, w);
      this.controls.attach(this.proxy);
    } else if (!pose) this.controls.detach();
  }

  /** Move and turn in steps [m], [degrees]; 0: freely. */
  snap(metres: number, degrees: number) {
    this.controls.setTranslationSnap(metres || null);
    this.controls.setRotationSnap(degrees ? (degrees * Math.PI) / 180 : null);
  }

  private drag(start: boolean) {
    this.events.dragging(start);
    if (start) {
      this.proxy.updateMatrix();
      this.grabbed.copy(this.proxy.matrix).invert();
      if (this.thing) this.before.copy(this.thing.mesh.matrix);
      return;
    }
    const { x, y, z, w } = this.proxy.quaternion;
    const round = (value: number) => Number(value.toFixed(6));
    this.events.moved({ position: this.proxy.position.toArray().map(round), rotation: [w, x, y, z] });
  }

  private carry() {
    this.events.changed();
    if (!this.thing || !this.controls.dragging) return;
    this.proxy.updateMatrix();
    const matrix = this.proxy.matrix.clone().multiply(this.grabbed).multiply(this.before);
    matrix.decompose(this.thing.mesh.position, this.thing.mesh.quaternion, this.thing.mesh.scale);
  }
}
