// Fields for the keys of bodies, loads and rules of contact, as the catalogue of the server says them.
import { MovingField } from "./curves";
import { ChoiceField, type Edit, Fixed, FlagField, NumberField, TextField, useEdit, VectorField } from "./fields";
import { Where } from "./loads";
import type { BodyKey, Catalogue, Path, Table } from "./messages";
import type { PanelProps } from "./properties";

const WORDS: { [key: string]: string } = {
  size: "size of tets", min_dihedral: "least angle", sharp: "keep edges sharper than", max_volume: "largest tet", max_volume_error: "volume may differ by", at: "acts at", young: "Young's modulus", flat: "flat at rest", straight: "straight at rest", thins: "thins where stretched", stretched: "times as long as at rest",
};
export const words = (key: string) => WORDS[key] ?? key.replaceAll("_", " ");

/** Keys of a table that the catalogue knows. */
export const keysOf = (props: PanelProps, table: string): { [key: string]: BodyKey } => (props.state.catalogue as Catalogue).keys?.[table] ?? {};

interface KeyProps { name: string; said: BodyKey; value: any; path: Path; edit: Edit; usual?: any }

/** One key of a table. */
export function KeyField({ name, said, value, path, edit, usual }: KeyProps) {
  const common = { label: words(name), unit: said.unit, path, value, edit };
  const none = !said.needed && <button class="small" title={`No ${words(name)}`} aria-label={`no ${words(name)}`} onClick={() => edit.put(path, undefined)}>×</button>;
  switch (said.kind) {
    case "number": return <NumberField {...common} usual={usual ?? "–"} />;
    case "flag": return <FlagField {...common} usual={said.yes} />;
    case "choice": return <Choice {...common} choices={said.choices!} />;
    case "vector": case "direction": return value === undefined ? <Add {...common} start={said.kind === "direction" ? [1, 0, 0] : usual ?? [0, 0, 0]} /> : <VectorField {...common} more={none} />;
    case "moving": return value === undefined ? <Add {...common} start={[0, 0, 0]} /> : <MovingField {...common} />;
    case "groups": return <Groups {...common} all={name === "mask"} />;
    case "numbers": return <Numbers {...common} />;
    case "nodes": return <Where path={path} what="nodes" value={value} edit={edit} />;
    default: return value === undefined ? null : <Fixed {...common} />;
  }
}

/** The keys of a table but some, field by field. */
export function Keys(props: PanelProps & { of: string; only?: string[]; without?: string[]; usual?: Table }) {
  const { table, path, edit, only, without = [], usual = {} } = props;
  const keys = Object.entries(keysOf(props, props.of)).filter(([key]) => (only ? only.includes(key) : !without.includes(key)));
  return <div>{keys.map(([key, said]) => <KeyField name={key} said={said} value={table[key]} path={[...path, key]} edit={edit} usual={usual[key]} />)}</div>;
}

function Add({ label, path, edit, start }: { label: string; path: Path; edit: Edit; start: unknown }) {
  return <button class="small" onClick={() => edit.put(path, start)}>Set {label}</button>;
}

function Choice(props: { label: string; path: Path; value: any; edit: Edit; choices: (string | number)[] }) {
  const named: Edit = { ...props.edit, put: (path, text) => props.edit.put(path, props.choices.find((each) => String(each) === text)) };
  return <ChoiceField {...props} value={props.value === undefined ? "" : String(props.value)} choices={["", ...props.choices.map(String)]} edit={named} />;
}

/** Groups by number, "1, 3", which the scene holds as bits; nothing: what holds where nothing is said. */
function Groups(props: { label: string; path: Path; value: number | undefined; edit: Edit; all: boolean }) {
  const { error, setError, put } = useEdit(props.edit, props.path, props.value);
  const most = 32; // bits of numbers that a page holds exactly
  if (props.value !== undefined && props.value >= 2 ** most) return <Fixed {...props} />;
  const shown = props.value === undefined ? undefined : Array.from({ length: most }, (_, k) => k + 1).filter((k) => Math.floor(props.value! / 2 ** (k - 1)) % 2).join(", ") || "none";
  const typed: Edit = { ...props.edit, put: (_, value) => {
    const text = String(value ?? "").trim();
    const numbers = text === "none" ? [] : text.split(",").map((part) => Number(part));
    if (!text) return put(undefined);
    if (!numbers.every((each) => Number.isInteger(each) && each >= 1 && each <= most)) return Promise.resolve(setError(`groups are numbers from 1 to ${most}, with commas between them, or none`));
    return put([...new Set(numbers)].reduce((sum, each) => sum + 2 ** (each - 1), 0));
  } };
  return (
    <div>
      <TextField {...props} label={props.all ? "meets groups" : "in groups"} value={shown} usual={props.all ? "all" : "1"} edit={typed} />
      {error && <div class="error" role="alert">{error}</div>}
    </div>
  );
}

/** One number, or several with commas between them. */
function Numbers(props: { label: string; unit: string; path: Path; value: any; edit: Edit }) {
  if (Array.isArray(props.value?.[0])) return <Fixed {...props} />;
  const typed: Edit = { ...props.edit, put: (path, value) => {
    const numbers = String(value ?? "").split(",").map((part) => (part.trim() ? Number(part) : NaN));
    return value === undefined ? props.edit.put(path, undefined) : numbers.every(Number.isFinite) ? props.edit.put(path, numbers.length === 1 ? numbers[0] : numbers)
      : Promise.reject(new Error("one number, or three with commas between them"));
  } };
  return <TextField {...props} value={props.value === undefined ? undefined : [props.value].flat().join(", ")} usual="from the shape" edit={typed} />;
}

/** A list of tables that a body has: each of them is edited and taken out, and there is a way to begin one. */
export function Entries(props: PanelProps & { kind: string; of: string; title: string; add?: string; start?: Table; off?: string; usual?: Table }) {
  const { table, path, edit, kind, start } = props;
  const list: Table[] = table[kind] ?? [];
  const place = [...path, kind];
  if (!list.length && !start) return null;
  const one = (entry: Table, k: number) => (
    <div class={props.lit?.kind === kind && props.lit.number === k ? "entry lit" : "entry"}>
      <Keys {...props} table={entry} path={[...place, k]} />
      {"nodes" in entry && <button class="small" onClick={() => props.select.say(table.name, "nodes", entry.nodes)}>Show</button>}
      <button class="small" onClick={() => edit.put(place, list.filter((_, other) => other !== k))}>{props.off ?? "Take off"}</button>
    </div>
  );
  return (
    <fieldset>
      <legend>{props.title}</legend>
      {list.map(one)}
      {start && <button class="small" onClick={() => edit.put(place, [...list, start])}>{props.add}</button>}
    </fieldset>
  );
}
