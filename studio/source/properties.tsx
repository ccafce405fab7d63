// The panel on the right: what the selected thing says, key by key as in a scene file.
import { useLayoutEffect, useState } from "preact/hooks";
import { RigidPanel, RodPanel, RulePanel, SheetPanel } from "./bodies";
import { MovingField } from "./curves";
import { ChoiceField, type Edit, Fixed, Input, NumberField, TextField, VectorField } from "./fields";
import { namesOf } from "./joint_form";
import { JointPanel } from "./joints";
import { Keys } from "./keys";
import { Acting, type Select, SelectPanel } from "./loads";
import { MaterialPanel } from "./material";
import type { Path, State, Table } from "./messages";
import { RunPanel } from "./solve";
import type { Picked } from "./symbols";
import { angles, quaternion } from "./turns";

export interface Chosen { kind: "soft" | "cloth" | "rigid" | "rod" | "joint" | "contact" | "scene" | "run"; index: number }

export const BODIES = ["soft", "cloth", "rigid", "rod"];

export interface Props {
  state: State; chosen: Chosen; edit: Edit; select: Select;
  /** The pin or load that was picked in the view. */
  lit: { kind: Picked["kind"]; number: number } | null;
  remove(): void; duplicate(): void; rename(name: string): Promise<void>; ask(what: string, args?: Table): Promise<any>;
  markTets(corners: number[][][]): void; choose(chosen: Chosen): void;
  /** Make a rule of contact between two bodies. */
  pair(first: string, second: string): void;
}
export type PanelProps = Props & { table: Table; path: Path };

const ZERO = [0, 0, 0];
const NO_TURN = [1, 0, 0, 0];

export function Properties(props: Props) {
  const { tables } = props.state;
  const { kind, index } = props.chosen;
  if (kind === "scene") return <ScenePanel {...props} />;
  if (kind === "run") return <RunPanel {...props} />;
  const table: Table | undefined = tables[kind]?.[index];
  if (!table) return <p class="hint">Nothing is selected.</p>;
  const panel = { ...props, table, path: [kind, index] as Path };
  return (
    <div>
      {kind !== "contact" && <Title {...panel} />}
      {kind === "soft" && <SoftPanel {...panel} />}
      {kind === "cloth" && <SheetPanel {...panel} />}
      {kind === "rod" && <RodPanel {...panel} />}
      {kind === "rigid" && <RigidPanel {...panel} />}
      {kind === "joint" && <JointPanel {...panel} />}
      {kind === "contact" && <RulePanel {...panel} />}
    </div>
  );
}

function Title({ table, chosen, rename, remove, duplicate }: PanelProps) {
  const [error, setError] = useState("");
  useLayoutEffect(() => setError(""), [table.name]);
  return (
    <div>
      <div class="title">
        <Input name="name" text={table.name ?? ""} usual={`${chosen.kind} ${chosen.index}`} cancel={() => setError("")}
          done={(text) => rename(text).then(() => setError(""), (wrong: Error) => setError(wrong.message))} />
        <button class="small" title="The same once more (Ctrl+D)" onClick={duplicate}>Copy</button>
        <button class="small" title="Delete (Del)" onClick={remove}>Delete</button>
      </div>
      {error && <div class="error" role="alert">{error}</div>}
    </div>
  );
}

function ScenePanel({ state, edit }: Props) {
  return (
    <div>
      <h2>Scene</h2>
      <VectorField label="gravity" unit="m/s²" path={["gravity"]} value={state.tables.gravity} usual={[0, 0, -9.81]} edit={edit} />
      <ChoiceField label="overlaps" path={["overlaps"]} value={state.tables.overlaps} usual="resolve" choices={["resolve", "refuse"]} edit={edit} />
    </div>
  );
}

export function Placement({ table, path, edit }: PanelProps) {
  const turned: number[] = table.rotation ?? NO_TURN;
  const degrees = angles(turned);
  const turn: Edit = { ...edit, part: (_, index, value) => (
    edit.put([...path, "rotation"], quaternion(degrees.map((old, k) => (k === index ? value : old)) as [number, number, number]))) };
  return (
    <fieldset>
      <legend>Place</legend>
      <VectorField label="position" unit="m" path={[...path, "position"]} value={table.position} usual={ZERO} edit={edit} />
      <VectorField label="turned" unit="° x, y, z" path={[...path, "turn"]} value={degrees} edit={turn} />
      <Velocity table={table} path={path} edit={edit} name="velocity" unit="m/s" />
    </fieldset>
  );
}

/** A velocity at the start, or of a static body its motion, which may be a curve over time. */
export function Velocity({ table, path, edit, name, unit }: { table: Table; path: Path; edit: Edit; name: string; unit: string }) {
  const common = { label: name.replace("_", " "), unit, path: [...path, name], edit };
  if (!table.static) return <VectorField {...common} value={table[name]} usual={ZERO} />;
  return <MovingField {...common} value={table[name] ?? ZERO} />;
}

const CONTACT = ["collide", "friction", "restitution", "rolling_friction", "torsional_friction", "group", "mask", "self_contact"];
const RIGID_ONLY = ["rolling_friction", "torsional_friction"];

/** What a body says about its contacts, and rules that it has with other bodies. */
export function Touching(props: PanelProps) {
  const { table, path, state, choose } = props;
  const only = CONTACT.filter((key) => (RIGID_ONLY.includes(key) ? path[0] === "rigid" : key !== "self_contact" || path[0] !== "rigid"));
  const rules: Table[] = state.tables.contact ?? [];
  const mine = rules.map((rule, index) => ({ index, other: rule.between[rule.between[0] === table.name ? 1 : 0], here: rule.between.includes(table.name) })).filter(({ here }) => here);
  const others = namesOf(state.tables, BODIES).filter((name) => name !== table.name && !mine.some(({ other }) => other === name));
  return (
    <fieldset>
      <legend>Contact</legend>
      <Keys {...props} of={String(path[0])} only={path[0] === "soft" || (path[0] === "rigid" && table.shape.mesh) ? [...only, "thickness"] : only}
        usual={{ friction: "0.5, or the other body's", restitution: 0, thickness: "chosen" }} />
      {mine.map(({ index, other }) => <button class="small" onClick={() => choose({ kind: "contact", index })}>Rule with {other}</button>)}
      {table.name && others.length > 0 && (
        <select aria-label="rule with another body" value="" onChange={(event) => { props.pair(table.name, event.currentTarget.value); event.currentTarget.value = ""; }}>
          <option value="">a rule with another body…</option>
          {others.map((name) => <option value={name}>{name}</option>)}
        </select>
      )}
    </fieldset>
  );
}

export function Loaded(props: PanelProps) {
  if (!props.table.name) return <p class="hint">Give the body a name, and it can be pinned and loaded here.</p>;
  return (
    <div>
      <SelectPanel {...props} />
      {(["pin", "clamp", "force", "traction", "pressure"] as const).map((kind) => <Acting {...props} kind={kind} />)}
    </div>
  );
}

function SoftPanel(props: PanelProps) {
  const { table, path, edit } = props;
  return (
    <div>
      <Loaded {...props} />
      <Placement {...props} />
      <MaterialPanel {...props} />
      <MeshPanel {...props} />
      <Touching {...props} />
      {table.drawing && <TextField label="drawn as" path={[...path, "drawing", "file"]} value={table.drawing.file}
        edit={{ ...edit, put: (place, file) => edit.put(file === undefined ? place.slice(0, -1) : place, file) }} />}
    </div>
  );
}

interface Quality {
  tets: number; counts: number[]; angles: [number, number]; radius_edge: number; volume: number; worst: number[]; corners: number[][][];
}

/** How good a mesh is: a histogram of the angles between faces of tets; the worst tets can be marked in the view. */
function MeshQuality({ state, table, ask, markTets }: PanelProps) {
  const [found, setFound] = useState<(Quality & { revision: number }) | null>(null);
  const [marked, setMarked] = useState(false);
  const [error, setError] = useState("");
  useLayoutEffect(() => {
    setMarked(false);
    setError("");
    markTets([]);
  }, [table.name, state.revision]);
  const quality = found?.revision === state.revision ? found : null;
  if (!quality) {
    const keep = (quality: Quality) => setFound({ ...quality, revision: state.revision });
    const find = () => ask("quality", { body: table.name }).then(keep, (wrong: Error) => setError(wrong.message));
    return <div><button class="small" onClick={find}>Quality</button>{error && <div class="error" role="alert">{error}</div>}</div>;
  }
  const most = Math.max(...quality.counts);
  const width = 280 / quality.counts.length;
  return (
    <div class="quality">
      <svg width="280" height="74" role="img" aria-label="angles between faces">
        {[0, 60, 120, 180].map((angle) => <text x={(280 * angle) / 180} y={72} class="scale" text-anchor={angle === 0 ? "start" : angle === 180 ? "end" : "middle"}>{angle}°</text>)}
        {quality.counts.map((count, k) => {
          const height = (56 * count) / most;
          return <rect x={k * width} y={60 - height} width={width - 1} height={height} fill="#3f9aa3"><title>{`${10 * k} to ${10 * k + 10}°: ${count}`}</title></rect>;
        })}
      </svg>
      <p class="hint">
        {quality.tets} tets, {quality.volume.toPrecision(4)} m³; angles between faces from {quality.angles[0].toFixed(1)}°
        to {quality.angles[1].toFixed(1)}°; circumradius up to {quality.radius_edge.toFixed(2)} times the shortest edge.
      </p>
      <label><input type="checkbox" aria-label="mark the worst tets" checked={marked} onChange={(event) => {
        setMarked(event.currentTarget.checked);
        markTets(event.currentTarget.checked ? quality.corners : []);
      }} />mark the {quality.worst.length} worst tets ({quality.worst[0]}° and more) in the view</label>
    </div>
  );
}

function MeshPanel(props: PanelProps) {
  const { table, path, edit } = props;
  const mesh: Table = table.mesh;
  const at = (key: string) => [...path, "mesh", key];
  return (
    <fieldset>
      <legend>Mesh</legend>
      {mesh.box && <VectorField label="box" unit="m" path={at("box")} value={mesh.box} edit={edit} />}
      {mesh.sphere !== undefined && <NumberField label="radius" unit="m" path={at("sphere")} value={mesh.sphere} edit={edit} />}
      {mesh.cylinder && <NumberField label="radius" unit="m" path={[...at("cylinder"), "radius"]} value={mesh.cylinder.radius} edit={edit} />}
      {mesh.cylinder && <NumberField label="height" unit="m" path={[...at("cylinder"), "height"]} value={mesh.cylinder.height} edit={edit} />}
      {Array.isArray(mesh.cells) && <VectorField label="cells" path={at("cells")} value={mesh.cells} edit={edit} />}
      {typeof mesh.cells === "number" && <NumberField label="cells" path={at("cells")} value={mesh.cells} edit={edit} />}
      {mesh.file && <Fixed label="file" path={at("file")} value={mesh.file} />}
      {mesh.box && <Keys {...props} table={mesh} path={[...path, "mesh"]} of="box" only={["pattern"]} />}
      {mesh.tetrahedralize && <Keys {...props} table={mesh.tetrahedralize} path={at("tetrahedralize")} of="tetrahedralize" usual={{ size: "a 32nd of the diagonal", min_dihedral: "chosen" }} />}
      <NumberField label="order" path={at("order")} value={mesh.order} usual={1} edit={edit} />
      {table.name && <MeshQuality {...props} />}
    </fieldset>
  );
}
