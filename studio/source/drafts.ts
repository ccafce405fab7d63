// What is shown in the view for a while: a load that is being drawn, a joint that is being made, the worst tets of a mesh.
import * as THREE from "three";
import { empty } from "./free";

const through = { depthTest: false, transparent: true };
const place = (values: number[]) => new THREE.Float32BufferAttribute(values, 3);

function lines(values: number[], color: number): THREE.LineSegments {
  const made = new THREE.LineSegments(new THREE.BufferGeometry().setAttribute("position", place(values)), new THREE.LineBasicMaterial({ color, ...through }));
  made.frustumCulled = false;
  made.renderOrder = 5;
  return made;
}

export class Drafts {
  readonly group = new THREE.Group();
  private load = new THREE.Group();
  private joint = new THREE.Group();
  private worst = new THREE.Group();

  constructor() {
    this.group.add(this.load, this.joint, this.worst);
  }

  /** Mark tets, the corners of each given, through everything. */
  tets(corners: number[][][]) {
    empty(this.worst);
    const edges = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    const ends = corners.flatMap((tet) => edges.flatMap(([a, b]) => [...tet[a], ...tet[b]]));
    if (ends.length) this.worst.add(lines(ends, 0xdc2626));
  }

  /** A line that shows a load while it is drawn. */
  sketch(from: THREE.Vector3 | null, to: THREE.Vector3 | null) {
    empty(this.load);
    if (from && to) this.load.add(lines([...from.toArray(), ...to.toArray()], 0x9d174d));
  }

  /** The points and the axis of a joint that is being made; size: half the length of the axis [m]. */
  preview(points: number[][], axis: number[] | null, size: number) {
    empty(this.joint);
    if (!points.length) return;
    const dots = new THREE.Points(new THREE.BufferGeometry().setAttribute("position", place(points.flat())),
      new THREE.PointsMaterial({ color: 0xc2410c, size: 10, sizeAttenuation: false, ...through }));
    dots.frustumCulled = false;
    dots.renderOrder = 5;
    this.joint.add(dots);
    const ends = points.slice(1).flatMap((point, k) => [...points[k], ...point]);
    if (axis) {
      const way = new THREE.Vector3(...(axis as [number, number, number])).normalize().multiplyScalar(size);
      const at = new THREE.Vector3(...(points[0] as [number, number, number]));
      ends.push(...at.clone().sub(way).toArray(), ...at.add(way).toArray());
    }
    if (ends.length) this.joint.add(lines(ends, 0xc2410c));
  }
}
