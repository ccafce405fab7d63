// The panel on the right: what the selected thing says, key by key as in a scene file.
import { useEffect, useState } from "preact/hooks";
import { ChoiceField, type Edit, Fixed, FlagField, NumberField, TextField, VectorField } from "./fields";
import type { Catalogue, Path, State, Table } from "./messages";

export interface Chosen { kind: "soft" | "cloth" | "rigid" | "rod" | "joint" | "scene" | "run"; index: number }

interface Props { state: State; chosen: Chosen; edit: Edit; remove(): void; ask(what: string, args?: Table): Promise<any> }

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
      <h2>{table.name ?? `${kind} ${index}`}<button class="small" title="Delete (Del)" onClick={props.remove}>Delete</button></h2>
      {kind === "soft" && <SoftPanel {...panel} />}
      {kind === "cloth" && <SheetPanel {...panel} />}
      {kind === "rod" && <RodPanel {...panel} />}
      {kind === "rigid" && <RigidPanel {...panel} />}
      {kind === "joint" && <JointPanel {...panel} />}
    </div>
  );
}

type PanelProps = Props & { table: Table; path: Path };

function ScenePanel({ state, edit }: Props) {
  return (
    <div>
      <h2>Scene</h2>
      <VectorField label="gravity" unit="m/s²" path={["gravity"]} value={state.tables.gravity} usual={[0, 0, -9.81]} edit={edit} />
      <ChoiceField label="overlaps" path={["overlaps"]} value={state.tables.overlaps} usual="resolve" choices={["resolve", "refuse"]} edit={edit} />
    </div>
  );
}

function RunPanel({ state, edit }: Props) {
  const run: Table = state.tables.run ?? {};
  const catalogue = state.catalogue as Catalogue;
  const solver: Table = typeof run.solver === "string" ? { type: run.solver } : run.solver ?? {};
  const type: string = solver.type ?? "newton";
  // the whole table is put, for the solver may be a name alone, or nothing
  const whole: Edit = { ...edit, put: (path, value) => {
    const next = { ...solver, type, [path[2] as string]: value };
    if (value === undefined) delete next[path[2] as string];
    return edit.put(["run", "solver"], path[2] === "type" ? { type: value } : next);
  } };
  const inRun: Edit = { ...edit, put: (path, value) => state.tables.run ? edit.put(path, value) : edit.put(["run"], { [path[1]]: value }) };
  return (
    <div>
      <h2>Solver</h2>
      <NumberField label="time step" unit="s" path={["run", "dt"]} value={run.dt} usual={catalogue.run?.dt} edit={inRun} />
      <NumberField label="threads" path={["run", "threads"]} value={run.threads} usual="measured" edit={inRun} />
      <ChoiceField label="solver" path={["run", "solver", "type"]} value={type} choices={Object.keys(catalogue.solvers ?? {})} edit={whole} />
      {Object.entries(catalogue.solvers?.[type] ?? {}).map(([name, option]) => {
        const common = { label: name.replaceAll("_", " "), path: ["run", "solver", name], value: solver[name], edit: whole };
        if (option.kind === "bool") return <FlagField {...common} usual={option.default} />;
        if (option.kind === "str") return <TextField {...common} usual={String(option.default ?? "")} />;
        return <NumberField {...common} usual={option.default} />;
      })}
    </div>
  );
}

function Placement({ table, path, edit }: PanelProps) {
  return (
    <fieldset>
      <legend>Place</legend>
      <VectorField label="position" unit="m" path={[...path, "position"]} value={table.position} usual={ZERO} edit={edit} />
      <VectorField label="rotation" unit="w x y z" path={[...path, "rotation"]} value={table.rotation} usual={NO_TURN} edit={edit} />
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

function SoftPanel(props: PanelProps) {
  const { table, path, edit } = props;
  return (
    <div>
      <Placement {...props} />
      <MeshPanel {...props} />
      <MaterialPanel {...props} />
      <Pins {...props} />
      {["force", "traction", "pressure"].map((kind) => <Loads {...props} kind={kind} />)}
      <Touching {...props} />
      {table.drawing && <Fixed label="drawing" path={[...path, "drawing"]} value={table.drawing} />}
      <FlagField label="self contact" path={[...path, "self_contact"]} value={table.self_contact} usual={true} edit={edit} />
    </div>
  );
}

/** A sheet: what it shares with soft bodies is edited, the rest is shown as the file says it. */
function SheetPanel(props: PanelProps) {
  const { table, path, edit } = props;
  return (
    <div>
      <Placement {...props} />
      <NumberField label="thickness" unit="m" path={[...path, "thickness"]} value={table.thickness} edit={edit} />
      <MaterialPanel {...props} />
      <Pins {...props} />
      <Touching {...props} />
      <Others {...props} shown={["name", "position", "rotation", "velocity", "thickness", "material", "pin", "collide", "friction", "restitution"]} />
    </div>
  );
}

function RodPanel(props: PanelProps) {
  return <div><MaterialPanel {...props} /><Others {...props} shown={["name", "material"]} /></div>;
}

function Others({ table, path, edit, shown }: PanelProps & { shown: string[] }) {
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

interface Quality { tets: number; counts: number[]; angles: [number, number]; radius_edge: number; volume: number }

/** How good a mesh is: a histogram of the angles between faces of tets. */
function MeshQuality({ state, table, ask }: PanelProps) {
  const [quality, setQuality] = useState<Quality | null>(null);
  useEffect(() => setQuality(null), [JSON.stringify(table.mesh), table.name, state.opened]);
  if (!quality) return <button class="small" onClick={() => ask("quality", { body: table.name }).then(setQuality)}>Quality</button>;
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

function MaterialPanel({ state, table, path, edit }: PanelProps) {
  const named = typeof table.material === "string";
  const place: Path = named ? ["materials", table.material] : [...path, "material"];
  const material: Table = named ? state.tables.materials?.[table.material] ?? {} : table.material;
  const catalogue = state.catalogue as Catalogue;
  const at = (key: string) => [...place, key];
  const bodies: Table[] = ["soft", "cloth", "rod"].flatMap((kind) => state.tables[kind] ?? []);
  const shared = named && bodies.filter((body) => body.material === table.material).length > 1;
  return (
    <fieldset>
      <legend>Material{named && ` “${table.material}”`}</legend>
      {shared && <p class="hint">Other bodies are made of it too.</p>}
      <div class="row">
        <label>take</label>
        <div class="inputs">
          <select aria-label="material preset" value="" onChange={(event) => {
            const preset = catalogue.presets[event.currentTarget.value];
            event.currentTarget.value = "";
            if (preset) edit.put(place, preset);
          }}>
            <option value="">a preset…</option>
            {Object.keys(catalogue.presets ?? {}).map((name) => <option value={name}>{name}</option>)}
          </select>
        </div>
      </div>
      <ChoiceField label="law" path={at("law")} value={material.law} choices={catalogue.laws ?? [material.law]} edit={edit} />
      <NumberField label="Young's modulus" unit="Pa" path={at("young")} value={material.young} edit={edit} />
      <NumberField label="Poisson's ratio" path={at("poisson")} value={material.poisson} edit={edit} />
      <NumberField label="density" unit="kg/m³" path={at("density")} value={material.density} edit={edit} />
      <NumberField label="damping" unit="s" path={at("damping")} value={material.damping} usual={0} edit={edit} />
      <NumberField label="mass damping" unit="1/s" path={at("mass_damping")} value={material.mass_damping} usual={0} edit={edit} />
      {material.plasticity && ["yield_strain", "creep", "max_strain"].map((key) => (
        <NumberField label={key.replace("_", " ")} unit={key === "creep" ? "1/s" : undefined}
          path={[...at("plasticity"), key]} value={material.plasticity[key]} edit={edit} />
      ))}
    </fieldset>
  );
}

function Pins({ table, path, edit }: PanelProps) {
  const pins: Table[] = table.pin ?? [];
  return (
    <fieldset>
      <legend>Pins</legend>
      {pins.map((pin, k) => (
        <div class="entry">
          <TextField label="nodes where" path={[...path, "pin", k, "nodes"]} value={pin.nodes} edit={edit} />
          <TextField label="axes" path={[...path, "pin", k, "axes"]} value={pin.axes} usual="xyz" edit={edit} />
          {pin.displacement && <VectorField label="displacement" unit="m" path={[...path, "pin", k, "displacement"]} value={pin.displacement} edit={edit} />}
          {pin.velocity && <VectorField label="velocity" unit="m/s" path={[...path, "pin", k, "velocity"]} value={pin.velocity} edit={edit} />}
          <button class="small" onClick={() => edit.put([...path, "pin"], pins.filter((_, other) => other !== k))}>Unpin</button>
        </div>
      ))}
      <NewPin key={pins.length} edit={edit} add={(nodes) => edit.put([...path, "pin"], [...pins, { nodes }])} />
    </fieldset>
  );
}

function NewPin(props: { edit: Edit; add(nodes: string): Promise<void> }) {
  const draft: Edit = { ...props.edit, put: (_, value) => (value === undefined ? Promise.resolve() : props.add(String(value))) };
  return <TextField label="pin nodes where" path={["new pin"]} value="" usual="x < 0.01" edit={draft} />;
}

function Loads({ table, path, edit, kind }: PanelProps & { kind: string }) {
  const loads: Table[] = table[kind] ?? [];
  if (!loads.length) return null;
  const [picks, key, unit] = { force: ["nodes", "vector", "N"], traction: ["faces", "vector", "Pa"] }[kind] ?? ["faces", "pressure", "Pa"];
  return (
    <fieldset>
      <legend>{kind}</legend>
      {loads.map((load, k) => (
        <div class="entry">
          <TextField label={`${picks} where`} path={[...path, kind, k, picks]} value={load[picks]} edit={edit} />
          {typeof load[key] === "number"
            ? <NumberField label={key} unit={unit} path={[...path, kind, k, key]} value={load[key]} edit={edit} />
            : <VectorField label={key} unit={unit} path={[...path, kind, k, key]} value={load[key]} edit={edit} />}
          <button class="small" onClick={() => edit.put([...path, kind], loads.filter((_, other) => other !== k))}>Take off</button>
        </div>
      ))}
    </fieldset>
  );
}

function RigidPanel(props: PanelProps) {
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
      </fieldset>
      <VectorField label="angular velocity" unit="rad/s" path={[...path, "angular_velocity"]} value={table.angular_velocity} usual={ZERO} edit={edit} />
      <Touching {...props} />
    </div>
  );
}

function JointPanel({ table, path, edit }: PanelProps) {
  const shown = ["name", "type", "at", "axis"];
  return (
    <fieldset>
      <legend>{table.type}</legend>
      {table.at && <VectorField label="at" unit="m" path={[...path, "at"]} value={table.at} edit={edit} />}
      {table.axis && <VectorField label="axis" path={[...path, "axis"]} value={table.axis} edit={edit} />}
      {Object.entries(table).filter(([key]) => !shown.includes(key)).map(([key, value]) => (
        typeof value === "number"
          ? <NumberField label={key.replaceAll("_", " ")} path={[...path, key]} value={value} edit={edit} />
          : <Fixed label={key} path={[...path, key]} value={value} />
      ))}
    </fieldset>
  );
}
