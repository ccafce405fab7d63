// The panel of a joint: what it holds and where, limits, springs, friction, and motors, which sliders drive while the scene runs.
import { useState } from "preact/hooks";
import { MovingField } from "./curves";
import { ChoiceField, type Edit, FlagField, NumberField, TextField, VectorField } from "./fields";
import { jointNames, namesOf } from "./joint_form";
import type { Catalogue, JointKey, Path, Table } from "./messages";
import type { PanelProps } from "./properties";

const words = (key: string) => key.replaceAll("_", " ");
/** Of joints with one coordinate: limits and motor may be said by the joint itself, the rest of it by a table `free`. */
const INNER = ["limits", "motor", "free"];
const GENERAL = ["compliance", "damping", "break_force", "break_torque", "collide"];

export function JointPanel(props: PanelProps) {
  const { table, path } = props;
  const keys = (props.state.catalogue as Catalogue).joints?.[table.type] ?? {};
  const own = Object.entries(keys).filter(([key]) => !GENERAL.includes(key) && !INNER.includes(key));
  const options = Object.entries(keys).filter(([key]) => GENERAL.includes(key));
  return (
    <div>
      <fieldset>
        <legend>{words(table.type)}{table.a && ` of ${table.a} and ${table.b}`}</legend>
        {own.filter(([, key]) => key.kind !== "coordinate").map(([key, said]) => <Key {...props} name={key} said={said} />)}
      </fieldset>
      {keys.free && <One {...props} unit={keys.free.unit} />}
      {own.filter(([, key]) => key.kind === "coordinate").map(([key, { unit }]) => (
        <Coordinate {...props} title={key} name={key} unit={unit} coordinate={table[key] ?? {}} at={[...path, key]} edit={whole(props.edit, [...path, key], table[key])} />
      ))}
      <fieldset>
        <legend>Joint</legend>
        {options.map(([key, said]) => <Key {...props} name={key} said={said} />)}
      </fieldset>
    </div>
  );
}

/** An edit of a table that may not be there yet: the whole of it is put, or taken out where nothing is left. */
function whole(edit: Edit, at: Path, table: Table | undefined): Edit {
  if (table) return edit;
  return { ...edit, put: (path, value) => edit.put(at, path.slice(at.length).reduceRight((inner: unknown, key) => ({ [key]: inner }), value)) };
}

/** Joints with one coordinate. Keys that only `free` has take limits and motor along into it. */
function One(props: PanelProps & { unit: string }) {
  const { table, path, edit } = props;
  const free: Path = [...path, "free"];
  if (table.free) return <Coordinate {...props} title="motion" name="" coordinate={table.free} at={free} />;
  const { limits, motor } = table;
  const said = Object.fromEntries(Object.entries({ limits, motor }).filter(([, value]) => value !== undefined));
  const moved: Edit = { ...edit, put: (where, value) => {
    const key = where[path.length] as string;
    if (key === "limits" || key === "motor") return edit.put(where, value);
    return edit.many([...Object.keys(said).map((each) => ({ do: "drop", path: [...path, each] })), { do: "put", path: free, value: { ...said, [key]: value } }]);
  } };
  return <Coordinate {...props} title="motion" name="" coordinate={said} at={path} edit={moved} />;
}

/** One key of a joint. */
function Key(props: PanelProps & { name: string; said: JointKey }) {
  const { table, edit, name, said, state } = props;
  const path = [...props.path, name];
  const value = table[name];
  const common = { label: words(name), unit: said.unit, path, value, edit };
  switch (said.kind) {
    case "name": {
      const bodies = [...namesOf(state.tables, ["soft", "cloth", "rigid"]), "world"];
      const choices = name === "a" || name === "b" ? bodies : jointNames(state.tables, table.type);
      return <ChoiceField {...common} choices={choices.includes(value) ? choices : [value, ...choices]} />;
    }
    case "point": return <VectorField {...common} />;
    case "points": return <div>{["point of a", "point of b"].map((label, k) => <VectorField {...common} label={label} path={[...path, k]} value={value[k]} />)}</div>;
    case "direction": return value || name === "axis" ? <VectorField {...common} usual={[0, 0, 1]} />
      : <button class="small" onClick={() => edit.put(path, [1, 0, 0])}>Add {words(name)}</button>;
    case "limits": return <Limits {...common} />;
    case "number": return <NumberField {...common} usual={said.needed ? undefined : "–"} />;
    case "flag": return <FlagField {...common} usual={true} />;
    case "nodes": return <TextField {...common} label="nodes where" usual="those of the nearest face" />;
    case "moving": return value === undefined ? <button class="small" onClick={() => edit.put(path, lengthOf(table))}>Set a {words(name)}</button> : <MovingField {...common} />;
    case "path": return <Through {...props} path={path} points={value} />;
    default: return null;
  }
}

/** How long the path of a tendon is now, or the way between two points [m]. */
function lengthOf(table: Table): number {
  const points: number[][] = table.path ? table.path.map((point: Table) => point.at) : Array.isArray(table.at?.[0]) ? table.at : [];
  const sum = points.slice(1).reduce((all, point, k) => all + Math.hypot(...point.map((value, axis) => value - points[k][axis])), 0);
  return Number(sum.toPrecision(4)) || 1;
}

/** The path of a tendon. */
function Through({ points, path, edit, state }: PanelProps & { points: Table[] }) {
  const bodies = [...namesOf(state.tables, ["soft", "cloth", "rigid"]), "world"];
  return (
    <div>
      {points.map((point, k) => (
        <div class="entry">
          <ChoiceField label={`point ${k + 1}`} path={[...path, k, "body"]} value={point.body} choices={bodies.includes(point.body) ? bodies : [point.body, ...bodies]} edit={edit} />
          <VectorField label="at" unit="m" path={[...path, k, "at"]} value={point.at} edit={edit} />
          {points.length > 2 && <button class="small" onClick={() => edit.put(path, points.filter((_, at) => at !== k))}>Take out</button>}
        </div>
      ))}
      <button class="small" onClick={() => edit.put(path, [...points, { ...points[points.length - 1], at: points[points.length - 1].at.map((value: number, k: number) => value + (k === 2 ? 0.1 : 0)) }])}>Add a point</button>
    </div>
  );
}

function Limits(props: { label: string; path: Path; value: number[] | undefined; unit: string; edit: Edit }) {
  const { path, edit, unit, label } = props;
  if (!props.value) return <button class="small" onClick={() => edit.put(path, unit === "rad" ? [-1, 1] : [-0.1, 0.1])}>Add {label}</button>;
  return (
    <div>
      <VectorField {...props} />
      <button class="small" onClick={() => edit.put(path, undefined)}>No {label}</button>
    </div>
  );
}

/** A coordinate that a joint leaves free: limits, a spring, friction, a motor. */
function Coordinate(props: PanelProps & { title: string; name: string; unit: string; coordinate: Table; at: Path }) {
  const { coordinate, at, edit, unit } = props;
  const [force, per] = unit === "rad" ? ["N m", "rad"] : ["N", "m"];
  const units: Table = { friction: force, stiffness: `${force}/${per}`, damping: `${force} s/${per}`, rest: per, limit_stiffness: `${force}/${per}`, limit_damping: `${force} s/${per}`, restitution: "" };
  const shown = ["friction", "stiffness", "damping", "rest", ...(coordinate.limits ? ["limit_stiffness", "limit_damping", "restitution"] : [])];
  return (
    <fieldset>
      <legend>{words(props.title)} <span class="unit">{unit}</span></legend>
      <Limits label="limits" unit={unit} path={[...at, "limits"]} value={coordinate.limits} edit={edit} />
      {shown.map((key) => <NumberField label={words(key)} unit={units[key]} path={[...at, key]} value={coordinate[key]} usual="–" edit={edit} />)}
      <MotorFields {...props} at={[...at, "motor"]} motor={coordinate.motor} />
    </fieldset>
  );
}

function MotorFields(props: PanelProps & { at: Path; motor: Table | undefined; unit: string; name: string }) {
  const { at, motor, edit, unit } = props;
  if (!motor) return <button class="small" onClick={() => edit.put(at, { velocity: 1, max_torque: 10 })}>Add a motor</button>;
  const goes = motor.position !== undefined ? "position" : "velocity";
  const choose = (next: string) => edit.put(at, next === "velocity" ? { velocity: 1, max_torque: motor.max_torque ?? 10 }
    : { position: 0.5, stiffness: 100, damping: 10, ...(motor.max_torque === undefined ? {} : { max_torque: motor.max_torque }) });
  const [force, per] = unit === "rad" ? ["N m", "rad"] : ["N", "m"];
  const units: Table = { stiffness: `${force}/${per}`, damping: `${force} s/${per}`, max_torque: force };
  return (
    <div class="entry">
      <div class="row"><label>motor holds</label><div class="inputs">
        <select aria-label={`motor holds ${props.name}`.trim()} value={goes} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="velocity">a velocity</option><option value="position">a position</option>
        </select>
      </div></div>
      <MovingField label={goes} unit={goes === "velocity" ? `${per}/s` : per} path={[...at, goes]} value={motor[goes]} edit={edit} />
      {(goes === "position" ? ["stiffness", "damping", "max_torque"] : ["max_torque"]).map((key) => (
        <NumberField label={key === "max_torque" ? `most ${unit === "rad" ? "torque" : "force"}` : key} unit={units[key]} path={[...at, key]} value={motor[key]} usual={key === "max_torque" ? "without bound" : undefined} edit={edit} />
      ))}
      {typeof motor[goes] === "number" && <Slider {...props} goes={goes} value={motor[goes]} />}
      <button class="small" onClick={() => edit.put(at, undefined)}>No motor</button>
    </div>
  );
}

/** Drives the motor of the run, at once; the scene keeps what the field above says. */
function Slider(props: PanelProps & { goes: string; value: number; unit: string; name: string }) {
  const { state, chosen, ask, goes, unit, name } = props;
  const [value, setValue] = useState<number | null>(null);
  const [error, setError] = useState("");
  const running = state.phase === "playing" || state.phase === "paused";
  const most = Math.max(2 * Math.abs(props.value), goes === "position" && unit === "rad" ? Math.PI : 0.1);
  const drive = (next: number) => {
    setValue(next);
    ask("motor", { joint: chosen.index, coordinate: name, changes: { [goes]: next } }).then(() => setError(""), (wrong: Error) => setError(wrong.message));
  };
  return (
    <div>
      <div class="row"><label>now</label><div class="inputs">
        <input type="range" aria-label={`motor now ${name}`.trim()} disabled={!running} min={-most} max={most} step={most / 100} value={running ? value ?? props.value : props.value}
          onInput={(event) => drive(Number(event.currentTarget.value))} />
        <span class="unit">{(running ? value ?? props.value : props.value).toPrecision(3)}</span>
      </div></div>
      {!running && <p class="hint">The slider drives the motor while the scene runs.</p>}
      {error && <div class="error" role="alert">{error}</div>}
    </div>
  );
}
