// How much room bodies take [m], and whether they are to be seen.
import * as THREE from "three";
import type { Thing } from "./things";

/** The box around all bodies but floors. */
export function boxOf(things: Thing[]): THREE.Box3 {
  const box = new THREE.Box3();
  for (const thing of things) {
    if (thing.floor || !thing.mesh.geometry.getAttribute("position").count) continue;
    thing.mesh.updateMatrixWorld();
    thing.mesh.geometry.computeBoundingBox();
    box.union(thing.mesh.geometry.boundingBox!.clone().applyMatrix4(thing.mesh.matrixWorld));
  }
  return box.isEmpty() ? new THREE.Box3(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1)) : box;
}

/** Whether a body is within the screen; toScreen gives the place of a point [pixels]. */
export function sees(thing: Thing, screen: HTMLElement, toScreen: (point: THREE.Vector3) => [number, number]): boolean {
  if (thing.floor) return true;
  const { min, max } = boxOf([thing]);
  return [min, max].every((corner) => {
    const [x, y] = toScreen(corner);
    return x > 0 && y > 0 && x < screen.clientWidth && y < screen.clientHeight;
  });
}
