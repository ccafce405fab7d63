// Objects that are no longer shown give back what they hold on the graphics card.
import type { Material, Mesh, Object3D } from "three";

/** How long materials stay [ms]: the programs that draw them are then there for those that take their place. */
const LATER = 2000;

/** Take an object out of what it is a part of, and free it with its parts. */
export function free(object: Object3D) {
  object.removeFromParent();
  object.traverse((part) => {
    const { geometry, material } = part as Mesh;
    geometry?.dispose();
    if (material) setTimeout(() => (material as Material).dispose(), LATER);
  });
}

/** Free all parts of an object. */
export function empty(object: Object3D) {
  for (const part of [...object.children]) free(part);
}
