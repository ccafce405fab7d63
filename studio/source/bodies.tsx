// Panels of sheets, rods, rigid bodies and rules of contact.
import { ChoiceField, type Edit, Fixed, FlagField, NumberField, VectorField } from "./fields";
import { namesOf } from "./joint_form";
import { Entries, Keys } from "./keys";
import { MaterialPanel } from "./material";
import type { Path, Table } from "./messages";
import { BODIES, Loaded, type PanelProps, Placement, Touching, Velocity } from "./properties";

const WIND = { drag: 1, lift: 1, density: 1.204 };

export function SheetPanel(props: PanelProps) {
  const { table, path, edit } = props;
  const { mesh } = table;
  const young = typeof table.material === "object" ? table.material.young : undefined;
  return (
    <div>
      <Loaded {...props} />
      <Placement {...props} />
      <MaterialPanel {...props} />
      <fieldset>
        <legend>Sheet</legend>
        <NumberField label="thickness" unit="m" path={[...path, "thickness"]} value={table.thickness} edit={edit} />
        {mesh.grid && <VectorField label="edges" unit="m" path={[...path, "mesh", "grid"]} value={mesh.grid} edit={edit} />}
        {mesh.disk !== undefined && <NumberField label="radius" unit="m" path={[...path, "mesh", "disk"]} value={mesh.disk} edit={edit} />}
        {Array.isArray(mesh.cells) && <VectorField label="cells" path={[...path, "mesh", "cells"]} value={mesh.cells} edit={edit} />}
        {typeof mesh.cells === "number" && <NumberField label="cells" path={[...path, "mesh", "cells"]} value={mesh.cells} edit={edit} />}
        {mesh.grid && <Keys {...props} table={mesh} path={[...path, "mesh"]} of="grid" only={["pattern"]} />}
        {mesh.file && <Fixed label="file" path={[...path, "mesh", "file"]} value={mesh.file} />}
        <Keys {...props} of="cloth" only={["thins", "bend_stiffness", "flat", "contact_distance"]} usual={{ bend_stiffness: "of material and thickness", contact_distance: "half the thickness" }} />
      </fieldset>
      <Entries {...props} kind="fibres" of="cloth.fibres" title="Fibres" add="Add fibres" off="Take out" start={{ direction: [1, 0, 0], young: young ?? 1e6 }} />
      <Entries {...props} kind="wind" of="cloth.wind" title="Wind" add="Add a wind" off="Calm" start={{ velocity: [5, 0, 0] }} usual={WIND} />
      <Touching {...props} />
    </div>
  );
}

export function RodPanel(props: PanelProps) {
  const { table, path, edit } = props;
  const points: number[][] = table.points;
  // The points of a line are numbered along it; those of a network keep the numbers they are given.
  const last = (points.length - 1) * (table.edges ? 1 : table.segments ?? 1);
  return (
    <div>
      <fieldset>
        <legend>Rod</legend>
        <Section {...props} />
        <NumberField label="segments per edge" path={[...path, "segments"]} value={table.segments} usual={1} edit={edit} />
        {points.length <= 12 && points.map((point, k) => <VectorField label={`point ${k}`} unit="m" path={[...path, "points", k]} value={point} edit={edit}
          more={points.length > 2 && !table.edges && <button class="small" aria-label={`remove point ${k}`} onClick={() => edit.put([...path, "points"], points.filter((_, other) => other !== k))}>×</button>} />)}
        {points.length > 12 && <p class="hint">{points.length} points</p>}
        <button class="small" onClick={() => {
          const [before, end] = points.slice(-2);
          edit.put([...path, "points"], [...points, end.map((value, k) => Number((2 * value - before[k]).toPrecision(6)))]);
        }}>Add a point</button>
        <Keys {...props} of="rod" only={["edges", "closed", "straight", "stretched", "normal", "curvature", "velocity"]} usual={{ stretched: 1, normal: [0, 0, 1] }} />
      </fieldset>
      <Entries {...props} kind="clamp" of="rod.clamp" title="Clamps" add="Clamp a point" off="Let go" start={{ point: 0 }} />
      <Entries {...props} kind="force" of="rod.force" title="Forces" add="Add a force" start={{ point: last, vector: [0, 0, -1] }} />
      <Entries {...props} kind="torque" of="rod.torque" title="Torques" add="Add a torque" start={{ point: last, vector: [0, 0, 0.1] }} />
      <MaterialPanel {...props} />
      <Touching {...props} />
    </div>
  );
}

const round = (value: number) => Number(value.toPrecision(6));

/** The cross-section of a rod: a radius, or a kind with its sizes. */
function Section({ table, path, edit, state }: PanelProps) {
  const sections: { [kind: string]: string[] } = (state.catalogue as any).keys?.sections ?? {};
  const [kind, said] = table.section ? Object.entries(table.section)[0] : ["circle", table.radius];
  const sizes: number[] = [said].flat() as number[];
  const write = (next: string, values: number[]) => {
    const value = next === "circle" ? { radius: values[0] } : { section: { [next]: values } };
    const old = table.section ? "section" : "radius";
    const [key] = Object.keys(value);
    return edit.many([...(key === old ? [] : [{ do: "drop", path: [...path, old] }]), { do: "put", path: [...path, key], value: Object.values(value)[0] }]);
  };
  const start = (next: string) => (next === "tube" ? [sizes[0], round(0.8 * sizes[0])] : sections[next].map((_, k) => round(sizes[Math.min(k, sizes.length - 1)])));
  const choose: Edit = { ...edit, put: (_, next) => write(String(next), start(String(next))) };
  return (
    <div>
      <ChoiceField label="cross section" path={[...path, "section"]} value={kind} choices={Object.keys(sections)} edit={choose} />
      {(sections[kind] ?? []).map((name, k) => (
        <NumberField label={name} unit="m" path={kind === "circle" ? [...path, "radius"] : [...path, "section", kind, k]} value={sizes[k]} edit={{ ...edit, put: (_, value) => write(kind, sizes.map((old, at) => (at === k ? Number(value ?? old) : old))) }} />
      ))}
    </div>
  );
}

export function RigidPanel(props: PanelProps) {
  const { table, path, edit } = props;
  const [kind, shape] = Object.entries(table.shape as Table)[0];
  const at: Path = [...path, "shape", kind];
  // a body that moves needs a mass
  const withMass: Edit = { ...edit, put: (place, value) => {
    const heavy = value || table.density !== undefined || table.mass !== undefined;
    return heavy ? edit.put(place, value) : edit.many([
      { do: "put", path: place, value }, { do: "put", path: [...path, "density"], value: 1000 },
    ]);
  } };
  const weigh = (next: string) => edit.many([{ do: "drop", path: [...path, next === "mass" ? "density" : "mass"] }, { do: "put", path: [...path, next], value: next === "mass" ? 1 : 1000 }]);
  const heavy = table.mass === undefined ? "density" : "mass";
  return (
    <div>
      <Placement {...props} />
      <fieldset>
        <legend>Shape: {kind}</legend>
        {kind === "sphere" && <NumberField label="radius" unit="m" path={at} value={shape} edit={edit} />}
        {kind === "box" && <VectorField label="edges" unit="m" path={at} value={shape} edit={edit} />}
        {kind === "plane" && <VectorField label="normal" path={at} value={shape} edit={edit} />}
        {["capsule", "cylinder", "cone"].includes(kind) && ["radius", "length"].map((key) => (
          <NumberField label={key} unit="m" path={[...at, key]} value={shape[key]} edit={edit} />
        ))}
        {["mesh", "hull", "heightfield"].includes(kind) && <Fixed label={kind} path={at} value={shape} />}
      </fieldset>
      <fieldset>
        <legend>Mass</legend>
        <FlagField label="static" path={[...path, "static"]} value={table.static} usual={kind === "plane" || kind === "heightfield"} edit={withMass} />
        {!table.static && table[heavy] !== undefined && (
          <NumberField label={heavy} unit={heavy === "mass" ? "kg" : "kg/m³"} path={[...path, heavy]} value={table[heavy]} edit={edit}
            more={<button class="small" title={`Say the ${heavy === "mass" ? "density" : "mass"} instead`} onClick={() => weigh(heavy === "mass" ? "density" : "mass")}>{heavy === "mass" ? "density" : "mass"}</button>} />
        )}
        {!table.static && <Keys {...props} of="rigid" only={["inertia"]} />}
        <Velocity table={table} path={path} edit={edit} name="angular_velocity" unit="rad/s" />
      </fieldset>
      {!table.static && kind !== "plane" && <Entries {...props} kind="force" of="rigid.force" title="Forces" add="Add a force" start={{ vector: [0, 0, 1] }} usual={{ at: table.position ?? [0, 0, 0] }} />}
      {!table.static && kind !== "plane" && <Entries {...props} kind="torque" of="rigid.torque" title="Torques" add="Add a torque" start={{ vector: [0, 0, 1] }} />}
      <Touching {...props} />
    </div>
  );
}

/** A rule of contact between two bodies, in place of what they say themselves. */
export function RulePanel(props: PanelProps) {
  const { table, path, edit, state, remove } = props;
  const names = namesOf(state.tables, BODIES);
  const swap = (k: number): Edit => ({ ...edit, put: (_, name) => edit.put([...path, "between"], table.between.map((old: string, at: number) => (at === k ? name : old))) });
  // a rule says that they do not collide, or with what coefficients they do
  const turn: Edit = { ...edit, put: (_, yes) => edit.put(path, { between: table.between, ...(yes ? { friction: 0.5 } : { collide: false }) }) };
  return (
    <div>
      <div class="title"><b>Contact of {table.between.join(" and ")}</b><button class="small" title="Delete (Del)" onClick={remove}>Delete</button></div>
      <fieldset>
        <legend>Between</legend>
        {[0, 1].map((k) => <ChoiceField label={k ? "and" : "between"} path={[...path, "between", k]} value={table.between[k]} choices={names.filter((name) => name !== table.between[1 - k])} edit={swap(k)} />)}
      </fieldset>
      <fieldset>
        <legend>Rule</legend>
        <FlagField label="collide" path={[...path, "collide"]} value={table.collide} usual={true} edit={turn} />
        <Keys {...props} of="contact" only={table.collide === false ? [] : ["friction", "restitution"]} usual={{ friction: "as the bodies say", restitution: "as the bodies say" }} />
        <p class="hint">It holds in place of what the two bodies say themselves.</p>
      </fieldset>
    </div>
  );
}
