// Objects that are no longer shown give back what they hold on the graphics card.
import type { Material, Mesh, Object3D } from "three";

/** Take an object out of what it is a part of, and free it with its parts. */
export function free(object: Object3D) {
  object.removeFromParent();
  object.traverse((part) => {
    const { geometry, material } = part as Mesh;
    geometry?.dispose();
    (material as Material | undefined)?.dispose();
  });
}

/** Free all parts of an object. */
export function empty(object: Object3D) {
  for (const part of [...object.children]) free(part);
}
