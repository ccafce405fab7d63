// The solver panel: steps, solver, place, pace; equilibrium and natural modes.
import { useState } from "preact/hooks";
import { ChoiceField, type Edit, FlagField, NumberField, TextField } from "./fields";
import type { Catalogue } from "./messages";
import type { Props } from "./properties";

export function RunPanel(props: Props) {
  const { state, edit } = props;
  const run = state.tables.run ?? {};
  const catalogue = state.catalogue as Catalogue;
  const solver = typeof run.solver === "string" ? { type: run.solver } : run.solver ?? {};
  const type: string = solver.type ?? "newton";
  // the whole table is put, for the solver may be a name alone, or nothing
  const whole: Edit = { ...edit, put: (path, value) => {
    const next = { ...solver, type, [path[2] as string]: value };
    if (value === undefined) delete next[path[2] as string];
    return edit.put(["run", "solver"], path[2] === "type" ? { type: value } : next);
  } };
  const inRun: Edit = { ...edit, put: (path, value) => state.tables.run ? edit.put(path, value) : edit.put(["run"], { [path[1]]: value }) };
  const pace: Edit = { ...edit, put: (path, value) => props.ask("pace", {
    speed: path[1] === "speed" ? value ?? 1 : state.speed, limit: path[1] === "limit" ? value ?? 0 : state.limit ?? 0 }) };
  return (
    <div>
      <h2>Solver</h2>
      <fieldset>
        <legend>Steps</legend>
        <NumberField label="time step" unit="s" path={["run", "dt"]} value={run.dt} usual={catalogue.run?.dt} edit={inRun} />
        <NumberField label="speed" unit="× real time" path={["pace", "speed"]} value={state.speed} usual={1} edit={pace} />
        <NumberField label="pause at" unit="s" path={["pace", "limit"]} value={state.limit ?? undefined} usual="never" edit={pace} />
      </fieldset>
      <fieldset>
        <legend>Where</legend>
        <ChoiceField label="device" path={["run", "device"]} value={run.device} usual="cpu" choices={catalogue.devices ?? ["cpu"]} edit={inRun} />
        <NumberField label="threads" path={["run", "threads"]} value={run.threads} usual="measured" edit={inRun} />
        <ChoiceField label="precision" path={["run", "precision"]} value={run.precision} usual="float64" choices={["float64", "float32"]} edit={inRun} />
      </fieldset>
      <fieldset>
        <legend>Method</legend>
        <ChoiceField label="solver" path={["run", "solver", "type"]} value={type} choices={Object.keys(catalogue.solvers ?? {})} edit={whole} />
        {Object.entries(catalogue.solvers?.[type] ?? {}).map(([name, option]) => {
          const common = { label: name.replaceAll("_", " "), path: ["run", "solver", name], value: solver[name], edit: whole };
          if (option.kind === "bool") return <FlagField {...common} usual={option.default} />;
          if (option.kind === "str") return <TextField {...common} usual={String(option.default ?? "")} />;
          return <NumberField {...common} usual={option.default} />;
        })}
      </fieldset>
      <Statics {...props} />
      <NaturalModes {...props} />
    </div>
  );
}

const whole = (text: string) => /^\s*[1-9]\d{0,5}\s*$/.test(text);

function Statics({ ask, state }: Props) {
  const [steps, setSteps] = useState("1");
  const [error, setError] = useState("");
  const find = () => {
    setError("");
    if (!whole(steps)) return setError(`${steps || "nothing"} is not a whole number above 0`);
    ask("equilibrium", { load_steps: Number(steps) }).catch((wrong: Error) => setError(wrong.message));
  };
  return (
    <fieldset>
      <legend>Equilibrium</legend>
      <div class="row"><label>load steps</label><div class="inputs">
        <input aria-label="load steps" value={steps} onInput={(event) => setSteps(event.currentTarget.value)} />
        <button disabled={state.phase === "building"} onClick={find}>Find equilibrium</button>
      </div></div>
      {error && <div class="error" role="alert">{error}</div>}
      <p class="hint">Where the scene is at rest under its loads; a run can go on from there.</p>
    </fieldset>
  );
}

function NaturalModes({ ask, state }: Props) {
  const [count, setCount] = useState("6");
  const [error, setError] = useState("");
  const [modes, setModes] = useState<{ revision: number; found: number[]; shown: number | null }>({ revision: -1, found: [], shown: null });
  const found = modes.revision === state.revision ? modes.found : [];
  const shown = found.length && state.phase === "ready" ? modes.shown : null;
  const wrong = (error: Error) => setError(error.message);
  const find = () => {
    setError("");
    if (!whole(count)) return setError(`${count || "nothing"} is not a whole number above 0`);
    ask("modes", { count: Number(count) }).then((found: number[]) => { setModes({ revision: state.revision, found, shown: null }); swing(0); }, wrong);
  };
  const swing = (number: number) => ask("mode", { number }).then(() => setModes((old) => ({ ...old, shown: number })), wrong);
  return (
    <fieldset class="modes">
      <legend>Natural modes</legend>
      <div class="row"><label>how many</label><div class="inputs">
        <input aria-label="how many modes" value={count} onInput={(event) => setCount(event.currentTarget.value)} />
        <button disabled={state.phase === "building"} onClick={find}>Find modes</button>
      </div></div>
      {error && <div class="error" role="alert">{error}</div>}
      {found.map((frequency, k) => (
        <button class={`small ${shown === k ? "on" : ""}`} aria-pressed={shown === k} onClick={() => swing(k)}>{k + 1}: {frequency < 1e-3 ? "free" : `${frequency.toPrecision(4)} Hz`}</button>
      ))}
      {shown !== null && <p class="hint">Mode {shown + 1} swings slowly in the view, enlarged; Reset stops it.</p>}
    </fieldset>
  );
}
