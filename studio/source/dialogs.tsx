// Menus and forms: files, what can be added, text to copy.
import { useState } from "preact/hooks";
import { parse } from "./fields";
import type { Catalogue, Kind, State, Table } from "./messages";

type Ask = (what: string, args?: Table) => Promise<any>;
type Add = (body: Kind | "joint", table: Table) => Promise<void>;

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
          {state.examples.map(({ file, about }) => <button title={about} onClick={() => leave("open", { file, example: true })}>{file.replace(".toml", "")}</button>)}
        </div>
      )}
    </div>
  );
}

export function AddMenu(props: Menu & { things: Catalogue["things"]; add: Add; note(kind: string, text: string): void; joint(): void; rule(): void; bodies: number; file(file: File): void }) {
  return (
    <div class="menu">
      <button aria-expanded={props.open} onClick={props.toggle}>Add</button>
      {props.open && (
        <div class="sheet">
          {props.things.map(({ title, kind, table }) => (
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
          <button disabled={props.bodies < 2} title="Friction of two bodies, or that they pass through each other" onClick={() => { props.toggle(); props.rule(); }}>Rule of contact</button>
        </div>
      )}
    </div>
  );
}

/** How a surface is filled with tets: the keys of docs/meshing.md that matter most. */
const FILLING = [
  { key: "size", label: "size of tets", unit: "m", usual: "a 32nd of the diagonal" }, { key: "min_dihedral", label: "least angle", unit: "°", usual: "chosen" },
  { key: "sharp", label: "keep edges sharper than", unit: "°", usual: "none, such as 30" }, { key: "max_volume_error", label: "volume may differ by", unit: "", usual: "0.01" },
];

/** A mesh file becomes a body: its surface is filled with tets, its tets are taken, or it is a rigid shape. */
export function MeshForm(props: { file: File; stuff: Table; fabric: Table; add: Add; discard(file: string): Promise<unknown>; close(): void }) {
  const [kind, setKind] = useState<"tetrahedralize" | "tets" | "sheet" | "rigid" | "hull">(/\.(msh|vtu)$/i.test(props.file.name) ? "tets" : "tetrahedralize");
  const [typed, setTyped] = useState<{ [key: string]: string }>({});
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
      const numbers = FILLING.map(({ key, unit }) => [key, parse(typed[key] ?? "", unit)]);
      if (numbers.some(([, value]) => value === null)) throw new Error("a size is a length such as 2 cm, angles are degrees, and a part is a number such as 0.02");
      const options: Table = Object.fromEntries(numbers.filter(([, value]) => value !== undefined));
      const position = [0, 0, 0];
      const read: Table = repair ? { repair: true } : {};
      const name = file.replace(/\.[^.]*$/, "");
      if (kind === "rigid" || kind === "hull") await props.add("rigid", { name, position, shape: { [kind === "hull" ? "hull" : "mesh"]: file, ...read }, density: 1000 });
      else if (kind === "sheet") await props.add("cloth", { name, position, mesh: { file, ...read }, thickness: 1e-3, material: props.fabric });
      else await props.add("soft", { name, position, mesh: { file, ...read, ...(kind === "tets" ? {} : { tetrahedralize: options }) }, material: props.stuff });
      props.close();
    } catch (wrong) {
      if (file) await props.discard(file); // before the same file may be brought again
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
          <option value="sheet">a sheet: its triangles, 1 mm thick</option>
          <option value="rigid">a rigid body</option>
          <option value="hull">a rigid body: its convex hull</option>
        </select>
      </div></div>
      {kind === "tetrahedralize" && FILLING.map(({ key, label, unit, usual }) => (
        <div class="row"><label>{label} <span class="unit">{unit}</span></label><div class="inputs">
          <input aria-label={label} placeholder={usual} value={typed[key] ?? ""} onInput={(event) => setTyped({ ...typed, [key]: event.currentTarget.value })} />
        </div></div>
      ))}
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
