// Light, shadows and the grid on the ground.
import * as THREE from "three";
import { free } from "./free";

/** Squares on the ground, each side a line of its own: long lines that pass the eye are lost in some drivers. */
function net(step: number): THREE.LineSegments {
  const half = 20;
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

export class Lighting {
  private sun = new THREE.DirectionalLight(0xffffff, 2.2);
  /** Goes with the eye, so that no side that is seen is dark. */
  private lamp = new THREE.DirectionalLight(0xffffff, 0.9);
  private grid: THREE.Object3D = new THREE.Group();

  /** The side of a square of the grid [m]. */
  step = 1;

  constructor(private scene: THREE.Scene, camera: THREE.Camera) {
    scene.add(new THREE.HemisphereLight(0xffffff, 0x9aa0a8, 1.5), this.sun, this.sun.target);
    this.lamp.position.set(0.3, 0.4, 0); // beside the eye
    camera.add(this.lamp, this.lamp.target);
    this.lamp.target.position.set(0, 0, -1);
    scene.add(camera);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0005;
  }

  /** Light what lies around a centre, no further than a radius [m]. */
  fit(centre: THREE.Vector3, radius: number) {
    this.sun.position.copy(centre).add(new THREE.Vector3(-0.9, -1.4, 2.6).multiplyScalar(radius));
    this.sun.target.position.copy(centre);
    this.sun.shadow.normalBias = 0.008 * radius; // no stripes on sides that the light grazes
    const shadow = this.sun.shadow.camera;
    [shadow.left, shadow.right, shadow.bottom, shadow.top] = [-2.5 * radius, 2.5 * radius, -2.5 * radius, 2.5 * radius];
    [shadow.near, shadow.far] = [0.01 * radius, 10 * radius];
    shadow.updateProjectionMatrix();
    const step = this.step = 10 ** Math.round(Math.log10(radius / 2));
    free(this.grid);
    this.grid = net(step);
    this.grid.position.z = 2e-3 * radius;
    this.scene.add(this.grid);
  }
}
