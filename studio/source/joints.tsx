// The panel of a joint: where it is, limits, and a motor, which a slider drives while the scene runs.
import { useState } from "preact/hooks";
import { type Edit, NumberField, VectorField } from "./fields";
import type { Path, State, Table } from "./messages";
import { Others, type PanelProps } from "./properties";

const SHOWN = ["name", "type", "a", "b", "at", "axis", "limits", "motor", "free"];
/** Joints whose one coordinate has limits and a motor; what it is measured in. */
const ONE: { [type: string]: string } = { hinge: "rad", slider: "m", on_line: "m" };

export function JointPanel(props: PanelProps) {
  const { table, path, edit, state } = props;
  const inner: Path = table.free ? [...path, "free"] : path;
  const coordinate: Table = table.free ?? table;
  return (
    <fieldset>
      <legend>{table.type}{table.a && ` of ${table.a} and ${table.b}`}</legend>
      {table.at && typeof table.at[0] === "number" && <VectorField label="at" unit="m" path={[...path, "at"]} value={table.at} edit={edit} />}
      {table.axis && <VectorField label="axis" path={[...path, "axis"]} value={table.axis} edit={edit} />}
      {ONE[table.type] && <Limits path={inner} coordinate={coordinate} unit={ONE[table.type]} edit={edit} />}
      {ONE[table.type] && <MotorFields {...props} at={[...inner, "motor"]} motor={coordinate.motor} unit={ONE[table.type]} state={state} />}
      <Others {...props} shown={[...SHOWN, ...(typeof table.at?.[0] === "number" || !table.at ? [] : ["at"])]} />
    </fieldset>
  );
}

function Limits(props: { path: Path; coordinate: Table; unit: string; edit: Edit }) {
  const { coordinate, edit, unit } = props;
  const path = [...props.path, "limits"];
  if (!coordinate.limits) return <button class="small" onClick={() => edit.put(path, unit === "rad" ? [-1, 1] : [-0.1, 0.1])}>Add limits</button>;
  return (
    <div>
      <VectorField label="limits" unit={unit} path={path} value={coordinate.limits} edit={edit} />
      <button class="small" onClick={() => edit.put(path, undefined)}>No limits</button>
    </div>
  );
}

function MotorFields(props: PanelProps & { at: Path; motor: Table | undefined; unit: string; state: State }) {
  const { at, motor, edit, unit } = props;
  if (!motor) {
    return <button class="small" onClick={() => edit.put(at, { velocity: 1, max_torque: 10 })}>Add a motor</button>;
  }
  const goes = motor.position !== undefined ? "position" : "velocity";
  const choose = (next: string) => edit.put(at, next === "velocity" ? { velocity: 1, max_torque: motor.max_torque ?? 10 }
    : { position: 0.5, stiffness: 100, damping: 10, ...(motor.max_torque === undefined ? {} : { max_torque: motor.max_torque }) });
  const units: Table = { velocity: `${unit}/s`, position: unit, stiffness: unit === "rad" ? "N m/rad" : "N/m",
    damping: unit === "rad" ? "N m s/rad" : "N s/m", max_torque: unit === "rad" ? "N m" : "N" };
  return (
    <div class="entry">
      <div class="row"><label>motor holds</label><div class="inputs">
        <select aria-label="motor holds" value={goes} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="velocity">a velocity</option><option value="position">a position</option>
        </select>
      </div></div>
      {Object.keys(motor).filter((key) => typeof motor[key] === "number").map((key) => (
        <NumberField label={key === "max_torque" ? `most ${unit === "rad" ? "torque" : "force"}` : key} unit={units[key]} path={[...at, key]} value={motor[key]} edit={edit} />
      ))}
      {typeof motor[goes] === "number" && <Slider {...props} goes={goes} value={motor[goes]} />}
      <button class="small" onClick={() => edit.put(at, undefined)}>No motor</button>
    </div>
  );
}

/** Drives the motor of the run, at once; the scene keeps what the field above says. */
function Slider(props: PanelProps & { goes: string; value: number; unit: string }) {
  const { state, chosen, ask, goes, unit } = props;
  const [value, setValue] = useState<number | null>(null);
  const [error, setError] = useState("");
  const running = state.phase === "playing" || state.phase === "paused";
  const most = Math.max(2 * Math.abs(props.value), goes === "position" && unit === "rad" ? Math.PI : 0.1);
  const drive = (next: number) => {
    setValue(next);
    ask("motor", { joint: chosen.index, coordinate: "", changes: { [goes]: next } }).then(() => setError(""), (wrong: Error) => setError(wrong.message));
  };
  return (
    <div>
      <div class="row"><label>now</label><div class="inputs">
        <input type="range" aria-label="motor now" disabled={!running} min={-most} max={most} step={most / 100} value={running ? value ?? props.value : props.value}
          onInput={(event) => drive(Number(event.currentTarget.value))} />
        <span class="unit">{(running ? value ?? props.value : props.value).toPrecision(3)}</span>
      </div></div>
      {!running && <p class="hint">The slider drives the motor while the scene runs.</p>}
      {error && <div class="error" role="alert">{error}</div>}
    </div>
  );
}
