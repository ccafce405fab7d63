// The scene as the page knows it: what is chosen of it, and where things are in its tables.
import { namesOf } from "./joint_form";
import type { State, Table } from "./messages";
import { BODIES, type Chosen } from "./properties";

export const NOTHING: State = {
  kind: "state", revision: 0, tables: {}, name: null, saved: true, undo: 0, redo: 0, phase: "starting", color: "none",
  opened: 0, scenes: [], examples: [], catalogue: {}, speed: 1, limit: null, contacts: false, cutting: null, lost: null,
};
export const SCENE: Chosen = { kind: "scene", index: 0 };

/** The chosen thing by its name: kinds and indices of bodies. */
export function find(tables: Table, name: string): Chosen | null {
  for (const kind of BODIES as Chosen["kind"][]) {
    const index = (tables[kind] ?? []).findIndex((body: Table) => body.name === name);
    if (index >= 0) return { kind, index };
  }
  return null;
}

/** The number of a load or clamp in its list; those of a rod are numbered among those `of` a point. */
export function numberOf(body: Table, { kind, number, of }: { kind: string; number: number; of?: number }): number {
  const list: Table[] = body[kind] ?? [];
  return of === undefined ? number : list.map((_, k) => k).filter((k) => list[k].point === of)[number] ?? 0;
}

/** Whether two states of one scene, which are not the same, have the same things in the same order. */
export function sameThings(before: State, after: State): boolean {
  const things = ({ tables }: State) => JSON.stringify([...BODIES, "joint", "contact"].map((kind) => (tables[kind] ?? []).map((entry: Table) => entry.name ?? entry.between)));
  return before.revision !== after.revision && before.opened === after.opened && things(before) === things(after);
}

/** What was chosen, after the scene has changed: where its list is shorter or longer, others may have moved up or down. */
export function follow(chosen: Chosen, before: State, after: State): Chosen {
  if (chosen.kind === "scene" || chosen.kind === "run") return chosen;
  if (before.opened !== after.opened) return SCENE;
  const [old, next]: Table[][] = [before.tables[chosen.kind] ?? [], after.tables[chosen.kind] ?? []];
  if (old.length === next.length || chosen.index >= old.length) return chosen;
  const name = (entry: Table) => JSON.stringify(entry.name ?? entry.between);
  const index = next.findIndex((entry) => name(entry) === name(old[chosen.index]));
  return index < 0 ? SCENE : { kind: chosen.kind, index };
}

/** A rule between the first two bodies that have none, which is then changed. */
export function firstPair(tables: Table, pair: (first: string, second: string) => void) {
  const names = namesOf(tables, BODIES);
  const ruled = (a: string, b: string) => (tables.contact ?? []).some(({ between }: Table) => between.includes(a) && between.includes(b));
  for (const [k, first] of names.entries()) for (const second of names.slice(k + 1)) if (!ruled(first, second)) return pair(first, second);
}

/** A body that is added, beside others where one is at its place already. */
export function aside(tables: Table, table: Table): Table {
  if (!table.position) return table;
  const taken = BODIES.flatMap((kind) => tables[kind] ?? []).map((body: Table) => String(body.position));
  const [x, ...rest]: number[] = table.position;
  let k = 0;
  while (taken.includes(String([Number((x + 0.5 * k).toFixed(6)), ...rest]))) k++;
  return { ...table, position: [Number((x + 0.5 * k).toFixed(6)), ...rest] };
}
