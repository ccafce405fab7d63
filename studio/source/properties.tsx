// The panel on the right: what the selected thing says, key by key as in a scene file.
import { useLayoutEffect, useState } from "preact/hooks";
import { ChoiceField, type Edit, Fixed, FlagField, Input, NumberField, Row, VectorField } from "./fields";
import { JointPanel } from "./joints";
import { Acting, type Select, SelectPanel } from "./loads";
import { MaterialPanel } from "./material";
import type { Path, State, Table } from "./messages";
import { RunPanel } from "./solve";
import type { Picked } from "./symbols";
import { angles, quaternion } from "./turns";

export interface Chosen { kind: "soft" | "cloth" | "rigid" | "rod" | "joint" | "scene" | "run"; index: number }

export interface Props {
  state: State; chosen: Chosen; edit: Edit; select: Select;
  /** The pin or load that was picked in the view. */
  lit: { kind: Picked["kind"]; number: number } | null;
  remove(): void; duplicate(): void; rename(name: string): Promise<void>; ask(what: string, args?: Table): Promise<any>;
  markTets(corners: number[][][]): void;
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
      <Title {...panel} />
      {kind === "soft" && <SoftPanel {...panel} />}
      {kind === "cloth" && <SheetPanel {...panel} />}
      {kind === "rod" && <RodPanel {...panel} />}
      {kind === "rigid" && <RigidPanel {...panel} />}
      {kind === "joint" && <JointPanel {...panel} />}
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

function Placement({ table, path, edit }: PanelProps) {
  const turned: number[] = table.rotation ?? NO_TURN;
  const degrees = angles(turned);
  const turn: Edit = { ...edit, part: (_, index, value) => (
    edit.put([...path, "rotation"], quaternion(degrees.map((old, k) => (k === index ? value : old)) as [number, number, number]))) };
  return (
    <fieldset>
      <legend>Place</legend>
      <VectorField label="position" unit="m" path={[...path, "position"]} value={table.position} usual={ZERO} edit={edit} />
      <VectorField label="turned" unit="° x, y, z" path={[...path, "turn"]} value={degrees} edit={turn} />
      <VectorField label="velocity" unit="m/s" path={[...path, "velocity"]} value={table.velocity} usual={ZERO} edit={edit} />
    </fieldset>
  );
}

function Touching({ table, path, edit }: PanelProps) {
  return (
    <fieldset>
      <legend>Contact</legend>
      <FlagField label="collide" path={[...path, "collide"]} value={table.collide} usual={true} edit={edit} />
      <NumberField label="friction" path={[...path, "friction"]} value={table.friction} usual="0.5, or the other body's" edit={edit} />
      <NumberField label="restitution" path={[...path, "restitution"]} value={table.restitution} usual={0} edit={edit} />
    </fieldset>
  );
}

function Loaded(props: PanelProps) {
  if (!props.table.name) return <p class="hint">Give the body a name, and it can be pinned and loaded here.</p>;
  return (
    <div>
      <SelectPanel {...props} />
      {(["pin", "force", "traction", "pressure"] as const).map((kind) => <Acting {...props} kind={kind} />)}
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
      {table.drawing && <Fixed label="drawing" path={[...path, "drawing"]} value={table.drawing} />}
      <FlagField label="self contact" path={[...path, "self_contact"]} value={table.self_contact} usual={true} edit={edit} />
    </div>
  );
}

const SHEET = ["name", "position", "rotation", "velocity", "thickness", "material", "pin", "force", "traction", "pressure", "collide", "friction", "restitution", "mesh"];

/** A sheet: what it shares with soft bodies is edited, the rest is shown as the file says it. */
function SheetPanel(props: PanelProps) {
  const { table, path, edit } = props;
  const { mesh } = table;
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
        {mesh.file && <Fixed label="file" path={[...path, "mesh", "file"]} value={mesh.file} />}
      </fieldset>
      <Touching {...props} />
      <Others {...props} shown={SHEET} />
    </div>
  );
}

function RodPanel(props: PanelProps) {
  const { table, path, edit } = props;
  const clamps: Table[] = table.clamp ?? [];
  const points: number[][] = table.points;
  return (
    <div>
      <fieldset>
        <legend>Rod</legend>
        {table.radius !== undefined && <NumberField label="radius" unit="m" path={[...path, "radius"]} value={table.radius} edit={edit} />}
        <NumberField label="segments per edge" path={[...path, "segments"]} value={table.segments} usual={1} edit={edit} />
        {points.length <= 12 && points.map((point, k) => <VectorField label={`point ${k}`} unit="m" path={[...path, "points", k]} value={point} edit={edit} />)}
        {points.length > 12 && <p class="hint">{points.length} points</p>}
        <button class="small" onClick={() => {
          const [before, last] = points.slice(-2);
          edit.put([...path, "points"], [...points, last.map((value, k) => Number((2 * value - before[k]).toPrecision(6)))]);
        }}>Add a point</button>
      </fieldset>
      <fieldset>
        <legend>Clamps</legend>
        {clamps.map((clamp, k) => (
          <div class="entry">
            <NumberField label="point" path={[...path, "clamp", k, "point"]} value={clamp.point} edit={edit} />
            <button class="small" onClick={() => edit.put([...path, "clamp"], clamps.filter((_, other) => other !== k))}>Let go</button>
          </div>
        ))}
        <button class="small" onClick={() => edit.put([...path, "clamp"], [...clamps, { point: 0 }])}>Clamp a point</button>
      </fieldset>
      <MaterialPanel {...props} />
      <Others {...props} shown={["name", "material", "points", "radius", "segments", "clamp"]} />
    </div>
  );
}

export function Others({ table, path, edit, shown }: PanelProps & { shown: string[] }) {
  return (
    <div>
      {Object.entries(table).filter(([key]) => !shown.includes(key)).map(([key, value]) => (
        typeof value === "number"
          ? <NumberField label={key.replaceAll("_", " ")} path={[...path, key]} value={value} edit={edit} />
          : <Fixed label={key.replaceAll("_", " ")} path={[...path, key]} value={value} />
      ))}
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
      <svg width="280" height="60" role="img" aria-label="angles between faces">
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
      {mesh.tetrahedralize && <NumberField label="size of tets" unit="m" path={[...at("tetrahedralize"), "size"]} value={mesh.tetrahedralize.size} usual="chosen" edit={edit} />}
      {mesh.tetrahedralize && <NumberField label="least angle" unit="°" path={[...at("tetrahedralize"), "min_dihedral"]} value={mesh.tetrahedralize.min_dihedral} usual="chosen" edit={edit} />}
      <NumberField label="order" path={at("order")} value={mesh.order} usual={1} edit={edit} />
      {table.name && <MeshQuality {...props} />}
    </fieldset>
  );
}

function RigidPanel(props: PanelProps) {
  const { table, path, edit } = props;
  const [kind, shape] = Object.entries(table.shape as Table)[0];
  const at: Path = [...path, "shape", kind];
  const forces: Table[] = table.force ?? [];
  // a body that moves needs a mass
  const withMass: Edit = { ...edit, put: (place, value) => {
    const heavy = value || table.density !== undefined || table.mass !== undefined;
    return heavy ? edit.put(place, value) : edit.many([
      { do: "put", path: place, value }, { do: "put", path: [...path, "density"], value: 1000 },
    ]);
  } };
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
        <FlagField label="static" path={[...path, "static"]} value={table.static} usual={false} edit={withMass} />
        {!table.static && table.mass === undefined && <NumberField label="density" unit="kg/m³" path={[...path, "density"]} value={table.density} usual={1000} edit={edit} />}
        {!table.static && table.density === undefined && <NumberField label="mass" unit="kg" path={[...path, "mass"]} value={table.mass} edit={edit} />}
        <VectorField label="angular velocity" unit="rad/s" path={[...path, "angular_velocity"]} value={table.angular_velocity} usual={ZERO} edit={edit} />
      </fieldset>
      {kind !== "plane" && <fieldset>
        <legend>Forces</legend>
        {forces.map((force, k) => (
          <div class="entry">
            <VectorField label="vector" unit="N" path={[...path, "force", k, "vector"]} value={force.vector} edit={edit} />
            <button class="small" onClick={() => edit.put([...path, "force"], forces.filter((_, other) => other !== k))}>Take off</button>
          </div>
        ))}
        <Row label="" path={[...path, "force"]} error="">
          <button class="small" onClick={() => edit.put([...path, "force"], [...forces, { vector: [0, 0, 1] }])}>Add a force</button>
        </Row>
      </fieldset>}
      <Touching {...props} />
    </div>
  );
}
