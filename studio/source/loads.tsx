// What is selected of a body, and what acts there: pins, prescribed motion, forces, tractions, pressures.
import { MovingField } from "./curves";
import { Check, type Edit, Row, TextField, useEdit } from "./fields";
import { KeyField, keysOf } from "./keys";
import type { Path, Table } from "./messages";
import type { Choosing, Draws } from "./mouse";
import type { PanelProps } from "./properties";
import type { Tool, What } from "./selecting";

/** What the page holds of a selection; said: as a scene file says it. */
export interface Selection extends Choosing { said: unknown; error: string; revision: number }

export interface Select {
  selection: Selection;
  start(body: string, change: Partial<Selection>): void;
  /** Select what a scene file says, of nodes or faces. */
  say(body: string, what: What, said: unknown): Promise<void>;
  clear(): void;
}

const TOOLS: [Tool, string][] = [
  ["click", "click one; Shift adds, Alt takes away"], ["box", "drag a box around them"], ["lasso", "draw a line around them"],
  ["brush", "paint over them"], ["plane", "click a side: all beyond its plane"], ["arrow", "drag an arrow out of a side: a load on it"],
];
const DRAWS: { [draws in Draws]: string } = {
  traction: "traction on the side [Pa]", pressure: "pressure on the side, which follows it [Pa]", force: "force at the node, or at those selected [N]",
  "body force": "body force: on all nodes [N]",
};
const PICKS = { pin: "nodes", clamp: "nodes", force: "nodes", traction: "faces", pressure: "faces" } as const;
type Kind = keyof typeof PICKS;
const NEW: { [kind in Kind]: Table } = {
  pin: {}, clamp: {}, force: { vector: [0, 0, -1] }, traction: { vector: [0, 0, -100] }, pressure: { pressure: 100 },
};
const HINTS: { [kind in Kind]: string } = {
  pin: "Hold them where they are", clamp: "Hold them and the directions of the sheet there", force: "A force shared by them", traction: "A force per area that keeps its direction",
  pressure: "A force per area that follows the faces",
};
const TITLES = { pin: "Pins", clamp: "Clamps", force: "Forces", traction: "Tractions", pressure: "Pressures" };

export function SelectPanel({ table, path, edit, select, state }: PanelProps) {
  const { selection } = select;
  const mine = selection.body === table.name;
  const what = mine ? selection.what : "nodes";
  const count = mine ? selection.numbers.length : 0;
  const still = state.phase === "ready";
  const take = (kind: Kind) => {
    const list: Table[] = table[kind] ?? [];
    return edit.put([...path, kind], [...list, { [PICKS[kind]]: selection.said, ...NEW[kind] }]).then(select.clear);
  };
  const formula: Edit = { ...edit, put: (_, value) => (value === undefined ? Promise.resolve(select.clear()) : select.say(table.name, what, value)) };
  return (
    <fieldset class="select">
      <legend>Select</legend>
      <div class="line">
        {(["nodes", "faces"] as What[]).map((each) => (
          <button class={`small ${what === each ? "on" : ""}`} aria-pressed={what === each} onClick={() => select.start(table.name, { what: each, numbers: [], said: null })}>{each}</button>
        ))}
        <span class="gap" />
        {TOOLS.map(([tool, hint]) => {
          const on = mine && selection.tool === tool;
          return <button class={`small ${on ? "on" : ""}`} aria-pressed={on} title={hint} disabled={!still}
            onClick={() => select.start(table.name, { tool: on ? null : tool, what })}>{tool}</button>;
        })}
      </div>
      {!still && <p class="hint">The mouse selects at the start: press Reset.</p>}
      {mine && selection.tool === "arrow" && (
        <div class="row"><label>it becomes a</label><div class="inputs">
          <select aria-label="arrow becomes" value={selection.draws} onChange={(event) => select.start(table.name, { draws: event.currentTarget.value as Draws })}>
            {Object.entries(DRAWS).map(([draws, words]) => <option value={draws}>{words}</option>)}
          </select>
        </div></div>
      )}
      {mine && selection.tool && <p class="hint">{TOOLS.find(([tool]) => tool === selection.tool)![1]}. Esc ends it.</p>}
      <TextField label={`${what} where`} path={["selection"]} value={mine && typeof selection.said === "string" ? selection.said : ""} usual="x < 0.01 and z > 0.5" edit={formula} />
      {mine && selection.error && <div class="error" role="alert">{selection.error}</div>}
      <div class="line">
        <b data-number="selected">{count ? `${count} ${count === 1 ? what.slice(0, -1) : what} selected` : "nothing is selected"}</b>
        {count > 0 && <button class="small" onClick={select.clear}>Clear</button>}
      </div>
      {count > 0 && (
        <div class="line">
          {(Object.keys(PICKS) as Kind[]).filter((kind) => PICKS[kind] === what && (kind !== "clamp" || path[0] === "cloth")).map((kind) => (
            <button class="small" title={HINTS[kind]} onClick={() => take(kind)}>{{ pin: "Pin", clamp: "Clamp", force: "Force", traction: "Traction", pressure: "Pressure" }[kind]}</button>
          ))}
          {what === "nodes" && <button class="small" onClick={() => {
            const list: Table[] = table.pin ?? [];
            const displacement = { times: [0, 1], values: [[0, 0, 0], [0, 0, 0.1]] };
            edit.put([...path, "pin"], [...list, { nodes: selection.said, displacement }]).then(select.clear);
          }}>Move over time</button>}
        </div>
      )}
    </fieldset>
  );
}

/** Which nodes or faces: a text that is edited, or what a gesture has left, which can be shown. */
export function Where(props: { path: Path; what: What; value: any; edit: Edit }) {
  const said = (value: any): string => {
    if (value?.indices) return `${value.indices.length} by number`;
    const [kind] = Object.keys(value ?? {});
    return kind === "halfspace" ? `beyond a plane, normal ${value.halfspace.normal.map((n: number) => Number(n.toFixed(3))).join(", ")}` : kind ?? "none";
  };
  return (
    <div>
      {typeof props.value === "string"
        ? <TextField label={`${props.what} where`} path={props.path} value={props.value} edit={props.edit} />
        : <Row label={props.what} path={props.path} error=""><code class="fixed">{said(props.value)}</code></Row>}
    </div>
  );
}

function Axes(props: { path: Path; value: string | undefined; edit: Edit }) {
  const { put, error } = useEdit(props.edit, props.path, props.value);
  const held = props.value ?? "xyz";
  return (
    <Row label="axes held" path={props.path} error={error}>
      {["x", "y", "z"].map((axis) => (
        <label class="axis"><Check name={`axis ${axis}`} value={held.includes(axis)}
          put={(yes) => put(["x", "y", "z"].filter((each) => (each === axis ? yes : held.includes(each))).join(""))} />{axis}</label>
      ))}
    </Row>
  );
}

export function Acting(props: PanelProps & { kind: Kind }) {
  const { table, path, edit, select, kind, lit } = props;
  const list: Table[] = table[kind] ?? [];
  if (!list.length) return null;
  const what = PICKS[kind];
  const without = (k: number) => edit.put([...path, kind], list.filter((_, other) => other !== k));
  return (
    <fieldset>
      <legend>{TITLES[kind]}</legend>
      {list.map((entry, k) => {
        const at = (key: string): Path => [...path, kind, k, key];
        return (
          <div class={lit?.kind === kind && lit.number === k ? "entry lit" : "entry"}>
            <Where path={at(what)} what={what} value={entry[what]} edit={edit} />
            {kind === "pin" && <Axes path={at("axes")} value={entry.axes} edit={edit} />}
            {(kind === "pin" || kind === "clamp") && <Motion at={at} entry={entry} edit={edit} />}
            {entry.vector !== undefined && <MovingField label="vector" unit={kind === "force" ? "N" : "Pa"} path={at("vector")} value={entry.vector} edit={edit} />}
            {kind === "force" && <KeyField name="spread" said={keysOf(props, "soft.force").spread} value={entry.spread} path={at("spread")} edit={edit} />}
            {entry.pressure !== undefined && <MovingField label="pressure" unit="Pa" path={at("pressure")} value={entry.pressure} edit={edit} />}
            <button class="small" onClick={() => select.say(table.name, what, entry[what])}>Show</button>
            <button class="small" onClick={() => without(k)}>{{ pin: "Unpin", clamp: "Let go" }[kind as string] ?? "Take off"}</button>
          </div>
        );
      })}
    </fieldset>
  );
}

/** How pinned nodes move: not at all, by a displacement, with a velocity. */
function Motion(props: { at(key: string): Path; entry: Table; edit: Edit }) {
  const { at, entry, edit } = props;
  const kind = entry.displacement !== undefined ? "displacement" : entry.velocity !== undefined ? "velocity" : "held";
  const choose = (next: string) => {
    const kept = Object.fromEntries(Object.entries(entry).filter(([key]) => key !== "displacement" && key !== "velocity"));
    const value = next === "displacement" ? { times: [0, 1], values: [[0, 0, 0], [0, 0, 0.1]] } : [0, 0, 0.1];
    edit.put(at("nodes").slice(0, -1), next === "held" ? kept : { ...kept, [next]: value });
  };
  return (
    <div>
      <div class="row"><label>motion</label><div class="inputs">
        <select aria-label="motion" value={kind} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="held">held still</option>
          <option value="displacement">displacement</option>
          <option value="velocity">velocity</option>
        </select>
      </div></div>
      {kind !== "held" && <MovingField label={kind} unit={kind === "velocity" ? "m/s" : "m"} path={at(kind)} value={entry[kind]} edit={edit} />}
    </div>
  );
}
