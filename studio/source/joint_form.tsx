// A new joint of any kind that scene files know: what it holds is clicked in the view or chosen by name.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"; // a click must find what was chosen before it
import type { Catalogue, JointKey, State, Table } from "./messages";

/** Takes a click: on what, where, and whether it is a floor, where a click may be far away. */
export type Picker = (name: string, point: number[] | null, floor: boolean) => void;
/** Points and a direction, shown in the view while a joint is made. */
export type Preview = (points: number[][], axis: number[] | null) => void;

interface Props {
  state: State; close(): void; pick(picker: Picker | null): void; preview: Preview;
  add(body: "joint", table: Table): Promise<void>;
  /** The point of a rod that is nearest to a place. */
  rodPoint(rod: string, point: number[]): Promise<{ number: number; at: number[] }>;
}

interface Form { type: string; a: string; b: string; first: string; second: string; places: string[]; ways: { [key: string]: string }; numbers: { [key: string]: string }; path: { body: string; at: string }[] }

/** What each kind does, in the words of docs/joints.md. */
const DOES: { [type: string]: string } = {
  ball: "holds a point of both together", fixed: "welds both together", hinge: "b turns about an axis of a", slider: "b travels along an axis of a",
  cylindrical: "b travels along and turns about an axis of a", universal: "a cross: an axis of a, one of b across it",
  planar: "b glides in a plane of a and turns in it", on_line: "keeps a point of b on a line of a", on_plane: "keeps a point of b in a plane of a",
  distance: "a rod between two points", rope: "two points are no farther apart than its length", spring: "a spring and damper between two points",
  torsion: "a spring and damper about an axis", gear: "ties the angle of one joint to that of another", rack: "ties the travel of one joint to the angle of another",
  screw: "ties the travel of a cylindrical joint to its angle", tendon: "a rope through points of many bodies, which slides over them",
  attach: "welds a soft body b to what it lies in or touches",
};
const WAYS: { [key: string]: string } = { axis: "0, 1, 0", second_axis: "1, 0, 0", along: "1, 0, 0" };
const numbers = (text: string) => text.split(",").map((part) => (part.trim() ? Number(part) : NaN));
const isPoint = (values: number[]) => values.length === 3 && values.every(Number.isFinite);
const said = (point: number[]) => point.map((value) => Number(value.toFixed(4)) + 0).join(", ");

export function namesOf(tables: Table, kinds: string[]): string[] {
  return kinds.flatMap((kind) => tables[kind] ?? []).map((entry: Table) => entry.name).filter(Boolean);
}

/** The joints that a gear, a rack or a screw may name. */
export function jointNames(tables: Table, type: string): string[] {
  const named: Table[] = (tables.joint ?? []).filter((joint: Table) => joint.name);
  return named.filter((joint) => (type === "screw" ? joint.type === "cylindrical" : !["gear", "rack", "screw", "tendon", "attach"].includes(joint.type))).map((joint) => joint.name);
}

export function JointForm(props: Props) {
  const { tables } = props.state;
  const catalogue = (props.state.catalogue as Catalogue).joints ?? {};
  const bodies = namesOf(tables, ["soft", "cloth", "rigid"]);
  const rods = namesOf(tables, ["rod"]);
  const [form, setForm] = useState<Form>({
    type: "ball", a: bodies[0] ?? "world", b: bodies[1] ?? "world", first: "", second: "", places: ["0, 0, 0", "0, 0, 0"], ways: WAYS, numbers: {}, path: [],
  });
  const [error, setError] = useState("");
  const clicks = useRef(0);
  const keys = catalogue[form.type] ?? {};
  const needed = Object.entries(keys).filter(([, key]) => key.needed);
  const has = (kind: string) => needed.some(([, key]) => key.kind === kind);
  const joints = jointNames(tables, form.type);
  const take = (name: string, point: number[] | null) => {
    const order = clicks.current++ % 2;
    const places = (old: Form) => old.places.map((place, k) => (point && k === (has("points") ? order : 1) ? said(point) : place));
    if (has("path")) setForm((old) => (point ? { ...old, path: [...old.path, { body: name, at: said(point) }] } : old));
    else setForm((old) => ({ ...old, [order ? "b" : "a"]: name, places: places(old) }));
  };
  useLayoutEffect(() => {
    props.pick((name, picked, floor) => {
      const point = name === "world" && !has("points") ? null : picked; // two points are held in the world too, others at the body
      if (floor && has("point") && clicks.current % 2) return take(name, null); // held where the first click was
      if (!rods.includes(name) || !point) return take(name, point);
      props.rodPoint(name, point).then(({ number, at }) => take(`${name}.${number}`, at), (wrong: Error) => setError(wrong.message));
    });
    return () => props.pick(null);
  });
  const shownPoints = has("path") ? form.path.map(({ at }) => numbers(at)) : has("points") ? form.places.map(numbers) : has("point") ? [numbers(form.places[1])] : [];
  const way = has("direction") ? numbers(form.ways.axis) : null;
  useEffect(() => { props.preview(shownPoints.filter(isPoint), way && isPoint(way) ? way : null); }, [JSON.stringify([shownPoints, way])]);
  useEffect(() => () => props.preview([], null), []);

  const change = (part: Partial<Form>) => setForm((old) => ({ ...old, ...part }));
  const add = () => {
    const table: Table = { name: `${form.type.replace("_", " ")} joint`, type: form.type };
    for (const [key, { kind, start }] of needed) {
      if (key === "a" || key === "b") table[key] = form[key];
      else if (kind === "name") table[key] = form[key as "first"] || joints[0];
      else if (kind === "point") table[key] = numbers(form.places[1]);
      else if (kind === "points") table[key] = form.places.map(numbers);
      else if (kind === "direction") table[key] = numbers(form.ways[key]);
      else if (kind === "number") table[key] = Number(form.numbers[key] ?? start);
      else if (kind === "path") table[key] = form.path.map(({ body, at }) => ({ body, at: numbers(at) }));
    }
    const points = [table.at, table.axis, table.second_axis, ...(table.path ?? []).map((each: Table) => each.at)].filter(Boolean).flatMap((each) => (Array.isArray(each[0]) ? each : [each]));
    if (!points.every(isPoint)) return setError("a point is three numbers, with commas between them");
    if (Object.values(table).includes(undefined)) return setError(`a ${form.type} ties joints that have a name; add ${form.type === "screw" ? "a cylindrical joint" : "two joints with an axis"} first`);
    props.add("joint", table).then(props.close, (wrong: Error) => setError(wrong.message));
  };
  const row = (label: string, unit: string, inner: any) => <div class="row"><label>{label} <span class="unit">{unit}</span></label><div class="inputs">{inner}</div></div>;
  const choice = (key: "type" | "a" | "b" | "first" | "second", choices: string[], value: string) => row(key, "", (
    <select aria-label={`joint ${key}`} value={value} onChange={(event) => { clicks.current = 0; setError(""); change({ [key]: event.currentTarget.value }); }}>
      {(choices.includes(value) ? choices : [value, ...choices]).map((each) => <option value={each}>{each.replace("_", " ")}</option>)}
    </select>));
  const text = (name: string, unit: string, value: string, put: (text: string) => void, more: any = null) => row(name, unit, [
    <input aria-label={`joint ${name}`} value={value} onInput={(event) => put(event.currentTarget.value)} />, more]);
  const place = (name: string, k: number) => text(name, "m: x, y, z", form.places[k], (typed) => change({ places: form.places.map((old, at) => (at === k ? typed : old)) }));
  const axes = (key: string) => text(key.replace("_", " "), "x, y, z", form.ways[key], (typed) => change({ ways: { ...form.ways, [key]: typed } }), (
    ["1, 0, 0", "0, 1, 0", "0, 0, 1"].map((way, k) => <button class="small" title={`along ${"xyz"[k]}`} onClick={() => change({ ways: { ...form.ways, [key]: way } })}>{"xyz"[k]}</button>)));
  const field = (key: string, { kind, unit, start }: JointKey) => {
    if (key === "a" || key === "b") return choice(key, [...bodies, "world"], form[key]);
    if (kind === "name") return choice(key as "first", joints, form[key as "first"] || (joints[key === "second" ? 1 : 0] ?? joints[0] ?? ""));
    if (kind === "point") return place("at", 1);
    if (kind === "points") return [place("point of a", 0), place("point of b", 1)];
    if (kind === "direction") return axes(key);
    if (kind === "number") return text(key, unit, form.numbers[key] ?? String(start), (typed) => change({ numbers: { ...form.numbers, [key]: typed } }));
    return form.path.map((each, k) => row(`${k + 1}: ${each.body}`, "m", [
      <input aria-label={`point ${k + 1} of the path`} value={each.at} onInput={(event) => change({ path: form.path.map((old, at) => (at === k ? { ...old, at: event.currentTarget.value } : old)) })} />,
      <button class="small" aria-label={`remove point ${k + 1}`} onClick={() => change({ path: form.path.filter((_, at) => at !== k) })}>×</button>]));
  };
  const hint = has("path") ? "Click in the view where it runs, from one end to the other; a click beside all bodies is no point."
    : !keys.a ? "Choose the joints that it ties together." : `Click ${clicks.current % 2 ? "b" : "a"} in the view${has("points") || clicks.current % 2 ? ", where it is held" : ""}; a click beside all bodies is the world. Or choose here.`;
  return (
    <div class="form" role="dialog" aria-label="New joint">
      <h2>New joint</h2>
      {choice("type", Object.keys(catalogue), form.type)}
      <p class="hint">{DOES[form.type]}. {hint}</p>
      {needed.map(([key, said]) => field(key, said))}
      {has("path") && <button class="small" onClick={() => change({ path: [...form.path, { body: "world", at: "0, 0, 2" }] })}>Add a point of the world</button>}
      {error && <div class="error" role="alert">{error}</div>}
      <div class="line"><button onClick={add}>Add joint</button><button onClick={props.close}>Cancel</button></div>
    </div>
  );
}
