// The bodies of the scene as three.js draws them, and how they move from frame to frame.
import * as THREE from "three";
import type { Arrays, RigidSurface, RodSurface, SoftSurface } from "./messages";

export interface Thing {
  name: string;
  kind: "soft" | "rod" | "rigid";
  mesh: THREE.Mesh;
  material: THREE.MeshStandardMaterial;
  color: THREE.Color;
  /** Rounded by normals of its own, which are computed here. */
  smooth: boolean;
  floor: boolean;
  /** How many points a frame says of it. */
  moved: number;
  /** The places of the moved nodes, of soft bodies and rods; how often they have changed. */
  places: Float32Array;
  changes: number;
  /** Boundary face of each triangle, node number of each moved node; of soft bodies. */
  faces: Uint32Array;
  numbers: Uint32Array;
  /** Points of a drawing: which moved nodes they follow, with what weights, so many each. */
  held: Uint32Array;
  weights: Float32Array;
  width: number;
}

export const NO_FACE = 0xffffffff;
const EMPTY = new Uint32Array();

function make(said: { name: string; kind: Thing["kind"]; color: string; flat: boolean; floor: boolean; moved: number },
  geometry: THREE.BufferGeometry, wire: boolean, clip: THREE.Plane[]): Thing {
  const color = new THREE.Color(said.floor ? "#dfe3e7" : said.color);
  const offset = said.floor ? 4 : 1;
  const material = new THREE.MeshStandardMaterial({
    color, side: said.kind === "soft" ? THREE.DoubleSide : THREE.FrontSide, roughness: 0.75, flatShading: said.flat,
    wireframe: wire && !said.floor, polygonOffset: true, polygonOffsetFactor: offset, polygonOffsetUnits: offset,
    clippingPlanes: said.kind === "soft" || said.floor ? [] : clip,
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.castShadow = !said.floor;
  mesh.receiveShadow = true;
  return {
    ...said, mesh, material, color, smooth: !said.flat, places: new Float32Array(3 * said.moved), changes: 0, faces: EMPTY, numbers: EMPTY,
    held: EMPTY, weights: new Float32Array(), width: 0,
  };
}

function surface(points: Float32Array, triangles: Uint32Array): THREE.BufferGeometry {
  return new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(points, 3))
    .setIndex(new THREE.BufferAttribute(triangles, 1));
}

export function softThing(said: SoftSurface, arrays: Arrays, wire: boolean): Thing {
  const triangles = arrays.numbers(3 * said.triangles);
  const [faces, numbers] = [arrays.numbers(said.triangles), arrays.numbers(said.moved)];
  const geometry = surface(new Float32Array(3 * said.points), triangles);
  geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * said.points).fill(1), 3));
  const thing = make({ ...said, kind: "soft", flat: !said.drawn, floor: false }, geometry, wire, []);
  thing.faces = faces;
  thing.numbers = numbers;
  if (said.drawn) {
    thing.held = arrays.numbers(said.points * said.held);
    thing.weights = arrays.floats(said.points * said.held);
    thing.width = said.held;
    return thing;
  }
  const lines = new THREE.MeshBasicMaterial({ color: 0x10181c, wireframe: true, transparent: true, opacity: 0.18 });
  const edges = new THREE.Mesh(geometry, lines);
  edges.frustumCulled = false;
  thing.mesh.add(edges);
  return thing;
}

export function rodThing(said: RodSurface, arrays: Arrays, wire: boolean, clip: THREE.Plane[]): Thing {
  const geometry = surface(new Float32Array(3 * said.points), arrays.numbers(3 * said.triangles));
  geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * said.points).fill(1), 3));
  return make({ ...said, kind: "rod", flat: false, floor: false, moved: said.points }, geometry, wire, clip);
}

export function rigidThing(said: RigidSurface, arrays: Arrays, wire: boolean, clip: THREE.Plane[]): Thing {
  const points = arrays.floats(3 * said.points);
  let geometry = surface(points, arrays.numbers(3 * said.triangles));
  if (said.plane) {
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...said.plane));
    geometry = new THREE.PlaneGeometry(400, 400).applyQuaternion(turn);
  } else geometry.computeVertexNormals();
  return make({ ...said, kind: "rigid", floor: Boolean(said.plane), moved: 0 }, geometry, wire, clip);
}

/** Take new places of the moved nodes, and put the points of the surface where they belong. */
export function put(thing: Thing, places: Float32Array) {
  const { geometry } = thing.mesh;
  thing.places.set(places);
  thing.changes++;
  const position = geometry.getAttribute("position") as THREE.BufferAttribute;
  if (thing.width) follow(thing, position.array as Float32Array, places);
  else (position.array as Float32Array).set(places);
  position.needsUpdate = true;
  thing.mesh.position.set(0, 0, 0);
  thing.mesh.quaternion.set(0, 0, 0, 1);
  geometry.boundingSphere = null;
  geometry.boundingBox = null;
  if (thing.smooth) shade(geometry);
}

function follow(thing: Thing, points: Float32Array, places: Float32Array) {
  const { held, weights, width } = thing;
  for (let p = 0, k = 0; p < points.length; p += 3) {
    let [x, y, z] = [0, 0, 0];
    for (let end = k + width; k < end; k++) {
      const [from, weight] = [3 * held[k], weights[k]];
      x += weight * places[from];
      y += weight * places[from + 1];
      z += weight * places[from + 2];
    }
    points[p] = x;
    points[p + 1] = y;
    points[p + 2] = z;
  }
}

/** Normals at points, from the triangles around them by area. */
function shade(geometry: THREE.BufferGeometry) {
  const points = geometry.getAttribute("position").array as Float32Array;
  if (!geometry.getAttribute("normal")) geometry.setAttribute("normal", new THREE.BufferAttribute(new Float32Array(points.length), 3));
  const attribute = geometry.getAttribute("normal") as THREE.BufferAttribute;
  const normals = attribute.array as Float32Array;
  const corners = geometry.index!.array;
  normals.fill(0);
  for (let k = 0; k < corners.length; k += 3) {
    const a = 3 * corners[k], b = 3 * corners[k + 1], c = 3 * corners[k + 2];
    const ux = points[b] - points[a], uy = points[b + 1] - points[a + 1], uz = points[b + 2] - points[a + 2];
    const vx = points[c] - points[a], vy = points[c + 1] - points[a + 1], vz = points[c + 2] - points[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    normals[a] += nx; normals[a + 1] += ny; normals[a + 2] += nz;
    normals[b] += nx; normals[b + 1] += ny; normals[b + 2] += nz;
    normals[c] += nx; normals[c + 1] += ny; normals[c + 2] += nz;
  }
  for (let k = 0; k < normals.length; k += 3) {
    const length = Math.sqrt(normals[k] ** 2 + normals[k + 1] ** 2 + normals[k + 2] ** 2) || 1;
    normals[k] /= length;
    normals[k + 1] /= length;
    normals[k + 2] /= length;
  }
  attribute.needsUpdate = true;
}

/** Colour a soft body or rod by values at its moved nodes; without them it has its own colour. */
export function paint(thing: Thing, values: Float32Array | undefined, high: number, colors: [number, number, number][]) {
  if (thing.material.vertexColors !== Boolean(values)) {
    thing.material.vertexColors = Boolean(values);
    thing.material.needsUpdate = true;
  }
  thing.material.color.copy(values ? new THREE.Color(1, 1, 1) : thing.color);
  if (!values) return;
  const attribute = thing.mesh.geometry.getAttribute("color") as THREE.BufferAttribute;
  const target = attribute.array as Float32Array;
  const last = colors.length - 1;
  const color = new THREE.Color();
  const table = new Float32Array(colors.flatMap(([r, g, b]) => color.setRGB(r / 255, g / 255, b / 255, THREE.SRGBColorSpace).toArray()));
  const scale = last / high;
  for (let p = 0, k = 0; p < target.length; p += 3) {
    let value = thing.width ? 0 : values[p / 3];
    if (thing.width) for (let end = k + thing.width; k < end; k++) value += thing.weights[k] * values[thing.held[k]];
    const entry = 3 * Math.max(0, Math.min(last, Math.round(scale * value)));
    target[p] = table[entry];
    target[p + 1] = table[entry + 1];
    target[p + 2] = table[entry + 2];
  }
  attribute.needsUpdate = true;
}

/** Colour a rigid body by one value; without it, it has its own colour. */
export function tint(thing: Thing, value: number | undefined, high: number, colors: [number, number, number][]) {
  if (value === undefined || thing.floor || !colors.length) thing.material.color.copy(thing.color);
  else {
    const [r, g, b] = colors[Math.max(0, Math.min(colors.length - 1, Math.round(((colors.length - 1) * value) / high)))];
    thing.material.color.setRGB(r / 255, g / 255, b / 255, THREE.SRGBColorSpace);
  }
}
