// Menus and forms: files, what can be added, text to copy.
import { useState } from "preact/hooks";
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

export function AddMenu(props: Menu & { things: Catalogue["things"]; add: Add; note(kind: string, text: string): void; joint(): void; file(file: File): void }) {
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
        </div>
      )}
    </div>
  );
}

/** A mesh file becomes a body: its surface is filled with tets, its tets are taken, or it is a rigid shape. */
export function MeshForm(props: { file: File; stuff: Table; add: Add; discard(file: string): void; close(): void }) {
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
      else await props.add("soft", { name, mesh: { file, ...read, ...(kind === "tets" ? {} : { tetrahedralize: options }) }, material: props.stuff });
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
