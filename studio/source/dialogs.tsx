// Menus and forms: files, what can be added, joints, text to copy.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Catalogue, State, Table } from "./messages";

type Ask = (what: string, args?: Table) => Promise<any>;
type Add = (body: Kind | "joint", table: Table) => Promise<void>;
type Kind = "soft" | "cloth" | "rigid" | "rod";

interface Menu { open: boolean; toggle(): void }

export function FileMenu(props: Menu & { state: State; ask: Ask; copy(what: "python" | "text", title: string): void;
  save(file: string): void; store(what: "picture" | "film" | "store", suffix: string): void }) {
  const { state, ask } = props;
  const [name, setName] = useState("");
  const run = (what: string, args: Table = {}) => { props.toggle(); ask(what, args); };
  const leave = (what: string, args: Table = {}) => {
    if (state.saved || confirm("The scene is not saved. Leave it?")) run(what, args);
  };
  return (
    <div class="menu">
      <button aria-expanded={props.open} onClick={props.toggle}>File</button>
      {props.open && (
        <div class="sheet">
          <button onClick={() => leave("new")}>New scene</button>
          <div class="line">
            <input aria-label="file name" placeholder="name.toml" value={name || (state.name ?? "")} onInput={(event) => setName(event.currentTarget.value)} />
            <button title="Ctrl+S" onClick={() => { props.toggle(); props.save(name || state.name || "scene.toml"); }}>Save</button>
          </div>
          <button onClick={() => { props.toggle(); props.copy("python", "The scene as Python"); }}>Copy as Python</button>
          <button onClick={() => { props.toggle(); props.copy("text", "The scene as a file"); }}>Copy as scene file</button>
          <button onClick={() => { props.toggle(); props.store("picture", ".png"); }}>Save picture</button>
          <button onClick={() => { props.toggle(); props.store("film", ".webp"); }}>Save film of what has run</button>
          <button onClick={() => { props.toggle(); props.store("store", ".vtu"); }}>Save for ParaView (VTU)</button>
          <button onClick={() => { props.toggle(); props.store("store", ".npz"); }}>Save checkpoint</button>
          {state.scenes.length > 0 && <h3>Open</h3>}
          {state.scenes.map((file) => <button onClick={() => leave("open", { file })}>{file}</button>)}
          {state.examples.length > 0 && <h3>Examples</h3>}
          {state.examples.map((file) => <button onClick={() => leave("open", { file, example: true })}>{file.replace(".toml", "")}</button>)}
        </div>
      )}
    </div>
  );
}

const RUBBER = { law: "stable_neohookean", young: 5e5, poisson: 0.45, density: 1000, damping: 0.01 };
const FABRIC = { law: "stvk", young: 2e5, poisson: 0.3, density: 300, damping: 0.01 };
const WIRE = { law: "linear", young: 1e8, poisson: 0.3, density: 1500, damping: 0.01 };
const THINGS: [string, Kind, Table][] = [
  ["Soft box", "soft", { name: "soft box", mesh: { box: [0.4, 0.4, 0.4], cells: [4, 4, 4] }, position: [-0.2, -0.2, 0.5], material: RUBBER }],
  ["Soft beam", "soft", { name: "beam", mesh: { box: [1, 0.2, 0.2], cells: [10, 2, 2] }, position: [0, -0.1, 1], material: RUBBER }],
  ["Soft ball", "soft", { name: "soft ball", mesh: { sphere: 0.25, cells: 3 }, position: [0, 0, 0.8], material: RUBBER }],
  ["Soft cylinder", "soft", { name: "soft cylinder", mesh: { cylinder: { radius: 0.2, height: 0.5 }, cells: [3, 4] }, position: [0, 0, 0.5], material: RUBBER }],
  ["Sheet", "cloth", { name: "sheet", mesh: { grid: [1, 1], cells: [12, 12] }, position: [-0.5, -0.5, 1], thickness: 1e-3, material: FABRIC }],
  ["Rod", "rod", { name: "rod", points: [[0, 0, 1.4], [0.5, 0, 1.4], [1, 0, 1.4]], segments: 8, radius: 0.01, material: WIRE, clamp: [{ point: 0 }] }],
  ["Floor", "rigid", { name: "floor", shape: { plane: [0, 0, 1] }, static: true }],
  ["Rigid ball", "rigid", { name: "ball", shape: { sphere: 0.1 }, density: 1000, position: [0, 0, 1.5] }],
  ["Rigid box", "rigid", { name: "box", shape: { box: [0.3, 0.3, 0.3] }, density: 1000, position: [0, 0, 1.5] }],
  ["Rigid capsule", "rigid", { name: "capsule", shape: { capsule: { radius: 0.08, length: 0.3 } }, density: 1000, position: [0, 0, 1.5] }],
  ["Rigid cylinder", "rigid", { name: "cylinder", shape: { cylinder: { radius: 0.1, length: 0.3 } }, density: 1000, position: [0, 0, 1.5] }],
  ["Rigid cone", "rigid", { name: "cone", shape: { cone: { radius: 0.15, length: 0.3 } }, density: 1000, position: [0, 0, 1.5] }],
];

export function AddMenu(props: Menu & { add: Add; note(kind: string, text: string): void; joint(): void; file(file: File): void }) {
  return (
    <div class="menu">
      <button aria-expanded={props.open} onClick={props.toggle}>Add</button>
      {props.open && (
        <div class="sheet">
          {THINGS.map(([title, kind, table]) => (
            <button onClick={() => {
              props.toggle();
              props.add(kind, table).catch((error: Error) => props.note("problem", error.message));
            }}>{title}</button>
          ))}
          <label class="pick">From a mesh file…
            <input type="file" aria-label="mesh file" accept=".stl,.obj,.ply,.msh,.vtu" onChange={(event) => event.currentTarget.files?.[0] && props.file(event.currentTarget.files[0])} />
          </label>
          <h3>Between two</h3>
          <button onClick={props.joint}>Joint…</button>
        </div>
      )}
    </div>
  );
}

type Picker = (name: string, point: number[]) => void;

/** A joint between two bodies, chosen by name or clicked in the view: the first click says a, the second b and the place. */
export function JointForm(props: { state: State; add: Add; close(): void; pick(picker: Picker | null): void }) {
  const { tables } = props.state;
  const joints = (props.state.catalogue as Catalogue).joints ?? {};
  const bodies: string[] = [...(tables.soft ?? []), ...(tables.cloth ?? []), ...(tables.rigid ?? [])].map((body: Table) => body.name).filter(Boolean);
  const [form, setForm] = useState<Table>({ type: "ball", a: bodies[0], b: bodies[1] ?? "world", at: "0, 0, 0", axis: "0, 1, 0" });
  const [error, setError] = useState("");
  const clicks = useRef(0);
  useEffect(() => {
    props.pick((name, point) => {
      const first = clicks.current++ % 2 === 0;
      const at = point.map((value) => Number(value.toFixed(4))).join(", ");
      setForm((old) => (first ? { ...old, a: name } : { ...old, b: name, at }));
    });
    return () => props.pick(null);
  }, []);
  const choice = (key: string, choices: string[]) => (
    <div class="row"><label>{key}</label><div class="inputs">
      <select aria-label={`joint ${key}`} value={form[key]} onChange={(event) => setForm({ ...form, [key]: event.currentTarget.value })}>
        {choices.map((each) => <option value={each}>{each}</option>)}
      </select>
    </div></div>
  );
  const point = (key: string, unit: string) => (
    <div class="row"><label>{key} <span class="unit">{unit}</span></label><div class="inputs">
      <input aria-label={`joint ${key}`} value={form[key]} onInput={(event) => setForm({ ...form, [key]: event.currentTarget.value })} />
    </div></div>
  );
  const numbers = (text: string) => text.split(",").map((part) => (part.trim() ? Number(part) : NaN));
  const add = () => {
    const table: Table = { name: `${form.type} joint`, type: form.type, a: form.a, b: form.b, at: numbers(form.at) };
    if (joints[form.type]?.axis) table.axis = numbers(form.axis);
    if ([...table.at, ...(table.axis ?? [])].some((value) => !Number.isFinite(value))) return setError("a point is three numbers, with commas between them");
    props.add("joint", table).then(props.close, (wrong: Error) => setError(wrong.message));
  };
  return (
    <div class="dialog" role="dialog" aria-label="New joint">
      <h2>New joint</h2>
      <p class="hint">Click two bodies in the view, the second one where they are held together, or choose them here.</p>
      {choice("type", Object.keys(joints))}
      {choice("a", [...bodies, "world"])}
      {choice("b", [...bodies, "world"])}
      {point("at", "m: x, y, z")}
      {joints[form.type]?.axis && point("axis", "x, y, z")}
      {error && <div class="error" role="alert">{error}</div>}
      <div class="line"><button onClick={add}>Add joint</button><button onClick={props.close}>Cancel</button></div>
    </div>
  );
}

/** A mesh file becomes a body: its surface is filled with tets, its tets are taken, or it is a rigid shape. */
export function MeshForm(props: { file: File; add: Add; discard(file: string): void; close(): void }) {
  const [kind, setKind] = useState<"tetrahedralize" | "tets" | "rigid">(/\.(msh|vtu)$/i.test(props.file.name) ? "tets" : "tetrahedralize");
  const [size, setSize] = useState("");
  const [angle, setAngle] = useState("");
  const [repair, setRepair] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const make = async () => {
    setBusy(true);
    setError("");
    let file = "";
    try {
      const answer = await fetch(`/upload/${encodeURIComponent(props.file.name)}`, { method: "POST", body: props.file });
      const said = await answer.text();
      if (!answer.ok) throw new Error(said);
      file = said;
      const options: Table = {};
      if (size.trim()) options.size = Number(size);
      if (angle.trim()) options.min_dihedral = Number(angle);
      if (Object.values(options).some((value) => !Number.isFinite(value))) throw new Error("size and angle are numbers");
      const read: Table = repair ? { repair: true } : {};
      const name = file.replace(/\.[^.]*$/, "");
      if (kind === "rigid") await props.add("rigid", { name, shape: { mesh: file, ...read }, density: 1000 });
      else await props.add("soft", { name, mesh: { file, ...read, ...(kind === "tets" ? {} : { tetrahedralize: options }) }, material: RUBBER });
      props.close();
    } catch (wrong) {
      if (file) props.discard(file);
      setError((wrong as Error).message);
      setBusy(false);
    }
  };
  return (
    <div class="dialog" role="dialog" aria-label="Mesh file">
      <h2>{props.file.name}</h2>
      <div class="row"><label>make of it</label><div class="inputs">
        <select aria-label="make of it" value={kind} onChange={(event) => setKind(event.currentTarget.value as typeof kind)}>
          <option value="tetrahedralize">a soft body: fill its surface with tets</option>
          <option value="tets">a soft body of its tets</option>
          <option value="rigid">a rigid body</option>
        </select>
      </div></div>
      {kind === "tetrahedralize" && (
        <div class="row"><label>size of tets <span class="unit">m</span></label><div class="inputs">
          <input aria-label="size of tets" placeholder="a 32nd of the diagonal" value={size} onInput={(event) => setSize(event.currentTarget.value)} />
        </div></div>
      )}
      {kind === "tetrahedralize" && (
        <div class="row"><label>least angle <span class="unit">°</span></label><div class="inputs">
          <input aria-label="least angle" placeholder="chosen" value={angle} onInput={(event) => setAngle(event.currentTarget.value)} />
        </div></div>
      )}
      <div class="row"><label>repair</label><div class="inputs">
        <input type="checkbox" aria-label="repair" checked={repair} onChange={(event) => setRepair(event.currentTarget.checked)} />
      </div></div>
      {error && <div class="error" role="alert">{error}</div>}
      <div class="line"><button disabled={busy} onClick={make}>{busy ? "Meshing…" : "Make body"}</button><button onClick={props.close}>Cancel</button></div>
    </div>
  );
}

export function TextBox(props: { title: string; text: string; close(): void }) {
  return (
    <div class="dialog wide" role="dialog" aria-label={props.title}>
      <h2>{props.title}<button class="small" onClick={props.close}>Close</button></h2>
      <textarea readOnly value={props.text} spellcheck={false} />
      <p class="hint">It is in the clipboard as well, where the browser allows that.</p>
    </div>
  );
}
