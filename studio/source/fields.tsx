// Fields of the property panel: each says one key of the scene, with its unit, and shows what is wrong with it.
import { useLayoutEffect, useState } from "preact/hooks"; // effects before anything else can be typed or clicked
import type { Command, Path } from "./messages";

export interface Edit {
  /** Put a value at a path, or take it out where it is undefined. */
  put(path: Path, value: unknown): Promise<void>;
  /** Change one of the numbers at a path; usual: what is there where nothing is said. */
  part(path: Path, index: number, value: number, usual: number[]): Promise<void>;
  /** Several commands as one. */
  many(commands: Command[]): Promise<void>;
}

interface Props {
  label: string;
  path: Path;
  value: any;
  edit: Edit;
  unit?: string;
  /** What holds where nothing is said. */
  usual?: any;
  /** What stands behind the input. */
  more?: any;
}

const id = (path: Path) => path.join(".");

export function useEdit(edit: Edit, path: Path, value: unknown) {
  const [error, setError] = useState("");
  useLayoutEffect(() => setError(""), [JSON.stringify(value), id(path)]);
  const watch = (asked: Promise<void>) => asked.then(() => setError(""), (wrong: Error) => setError(wrong.message));
  const put = (next: unknown) => watch(edit.put(path, next));
  return { error, setError, put, watch };
}

export function Row(props: { label: string; unit?: string; error: string; path: Path; children: any }) {
  return (
    <div class="row" data-path={id(props.path)}>
      <label>{props.label}{props.unit && <span class="unit"> {props.unit}</span>}</label>
      <div class="inputs">{props.children}</div>
      {props.error && <div class="error" role="alert">{props.error}</div>}
    </div>
  );
}

/** Units that a person may type behind a number, by the unit of the field: how many of it each is. */
const UNITS: { [unit: string]: { [typed: string]: number } } = {
  Pa: { Pa: 1, kPa: 1e3, MPa: 1e6, GPa: 1e9 }, m: { um: 1e-6, mm: 1e-3, cm: 1e-2, m: 1, km: 1e3 }, s: { ms: 1e-3, s: 1 },
  N: { mN: 1e-3, N: 1, kN: 1e3 }, kg: { g: 1e-3, kg: 1 }, "kg/m³": { "kg/m³": 1, "kg/m3": 1, "g/cm³": 1e3, "g/cm3": 1e3 },
  "m/s": { "m/s": 1, "km/h": 1 / 3.6 }, "°": { "°": 1, deg: 1, rad: 180 / Math.PI }, rad: { rad: 1, "°": Math.PI / 180, deg: Math.PI / 180 },
};

/** What a person types as a number, with or without a unit: undefined for nothing, null for what is no number. */
export function parse(text: string, unit?: string): number | undefined | null {
  if (!text.trim()) return undefined;
  const [, digits, typed] = text.trim().match(/^([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(.*)$/) ?? [];
  const factor = typed ? UNITS[unit ?? ""]?.[typed] : 1;
  const value = digits === undefined || factor === undefined ? NaN : Number(digits) * factor;
  return Number.isFinite(value) ? Number(value.toPrecision(15)) : null;
}

const wrong = (text: string, unit?: string) => `${text || "nothing"} is not a number${unit && UNITS[unit] ? ` in ${Object.keys(UNITS[unit]).join(", ")}` : ""}`;

export function Input(props: { name: string; text: string; usual?: string; done(text: string): void; cancel(): void }) {
  const [text, setText] = useState(props.text);
  useLayoutEffect(() => setText(props.text), [props.text]);
  const finish = () => text !== props.text && props.done(text);
  return (
    <input
      aria-label={props.name} value={text} placeholder={props.usual} spellcheck={false}
      onInput={(event) => setText(event.currentTarget.value)} onBlur={finish}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") {
          setText(props.text);
          props.cancel();
        }
      }}
    />
  );
}

export const show = (value: any) => (value === undefined ? "" : String(value));

export function NumberField(props: Props) {
  const { error, setError, put } = useEdit(props.edit, props.path, props.value);
  const done = (text: string) => {
    const value = parse(text, props.unit);
    if (value === null) setError(wrong(text, props.unit));
    else put(value);
  };
  return (
    <Row {...props} error={error}>
      <Input name={props.label} text={show(props.value)} usual={show(props.usual)} done={done} cancel={() => setError("")} />
      {props.more}
    </Row>
  );
}

export function VectorField(props: Props) {
  const { error, setError, watch } = useEdit(props.edit, props.path, props.value);
  if (props.value !== undefined && typeof props.value[0] !== "number") return <Fixed {...props} />;
  const values: number[] = props.value ?? props.usual;
  const done = (index: number, text: string) => {
    const value = parse(text, props.unit);
    if (value === null || value === undefined) setError(wrong(text, props.unit));
    else watch(props.edit.part(props.path, index, value, values));
  };
  return (
    <Row {...props} error={error}>
      {values.map((value, k) => (
        <Input name={`${props.label} ${k + 1}`} text={show(value)} done={(text) => done(k, text)} cancel={() => setError("")} />
      ))}
      {props.more}
    </Row>
  );
}

export function TextField(props: Props) {
  const { error, setError, put } = useEdit(props.edit, props.path, props.value);
  if (props.value !== undefined && typeof props.value !== "string") return <Fixed {...props} />;
  return (
    <Row {...props} error={error}>
      <Input
        name={props.label} text={show(props.value)} usual={props.usual} done={(text) => put(text || undefined)}
        cancel={() => setError("")}
      />
    </Row>
  );
}

export function ChoiceField(props: Props & { choices: string[] }) {
  const { error, put } = useEdit(props.edit, props.path, props.value);
  return (
    <Row {...props} error={error}>
      <select aria-label={props.label} value={props.value ?? props.usual} onChange={(event) => put(event.currentTarget.value)}>
        {props.choices.map((choice) => <option value={choice}>{choice || "usual"}</option>)}
      </select>
    </Row>
  );
}

/** A box that shows at once what was clicked, until the scene says what holds. */
export function Check(props: { name: string; value: boolean; put(yes: boolean): Promise<unknown> }) {
  const [clicked, setClicked] = useState<boolean | null>(null);
  useLayoutEffect(() => setClicked(null), [props.value]);
  return (
    <input type="checkbox" aria-label={props.name} checked={clicked ?? props.value} onChange={(event) => {
      setClicked(event.currentTarget.checked);
      props.put(event.currentTarget.checked).then(() => setClicked(null));
    }} />
  );
}

export function FlagField(props: Props) {
  const { error, put } = useEdit(props.edit, props.path, props.value);
  return (
    <Row {...props} error={error}>
      <Check name={props.label} value={props.value ?? props.usual} put={put} />
    </Row>
  );
}

/** What is shown as the scene file says it, and not edited here. */
export function Fixed(props: { label: string; path: Path; value: any; unit?: string }) {
  const text = JSON.stringify(props.value);
  return (
    <Row {...props} error="">
      <code class="fixed">{text.length > 160 ? `${text.slice(0, 157)}...` : text}</code>
    </Row>
  );
}

/** A stress [Pa] in the unit that suits it. */
export function stressText(value: number): string {
  if (Math.abs(value) < 1e-9) return "0";
  const [, factor, unit] = ([[1e9, 1e9, "GPa"], [1e6, 1e6, "MPa"], [1e3, 1e3, "kPa"], [0, 1, "Pa"]] as [number, number, string][]).find(([least]) => Math.abs(value) >= least)!;
  return `${Number((value / factor).toPrecision(2))} ${unit}`;
}
