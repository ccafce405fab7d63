// The page: toolbar, scene tree, view, properties, status. The server holds the scene; the page asks and shows.
import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AddMenu, FileMenu, JointForm, MeshForm, TextBox } from "./dialogs";
import type { Edit } from "./fields";
import { type Command, Connection, type Frame, type State, type Surfaces, type Table } from "./messages";
import { type Chosen, Properties } from "./properties";
import { Status } from "./status";
import { Tree } from "./tree";
import { type Pose, View } from "./view";

const NOTHING: State = {
  kind: "state", revision: 0, tables: {}, name: null, saved: true, undo: 0, redo: 0, phase: "starting", color: "none",
  opened: 0, scenes: [], examples: [], catalogue: {},
};

/** The chosen thing by its name: kinds and indices of bodies. */
function find(tables: Table, name: string): Chosen | null {
  for (const kind of ["soft", "cloth", "rigid", "rod"] as const) {
    const index = (tables[kind] ?? []).findIndex((body: Table) => body.name === name);
    if (index >= 0) return { kind, index };
  }
  return null;
}

function App() {
  const [state, setState] = useState(NOTHING);
  const [frame, setFrame] = useState<Frame | null>(null);
  const [surfaces, setSurfaces] = useState<Surfaces | null>(null);
  const [notes, setNotes] = useState<{ kind: string; text: string }[]>([]);
  const [connected, setConnected] = useState(false);
  const [chosen, setChosen] = useState<Chosen>({ kind: "scene", index: 0 });
  const [mode, setMode] = useState<"translate" | "rotate">("translate");
  const [wire, setWire] = useState(false);
  const [open, setOpen] = useState<string>("");
  const [file, setFile] = useState<File | null>(null);
  const [text, setText] = useState<{ title: string; text: string } | null>(null);
  const home = useRef<HTMLDivElement>(null);
  const now = useRef({ state, chosen });
  now.current = { state, chosen };

  const note = (kind: string, text: string) => {
    const made = { kind, text };
    setNotes((old) => [...old.slice(-4), made]);
    if (kind === "done") setTimeout(() => setNotes((old) => old.filter((each) => each !== made)), 6000);
  };
  const { view, connection } = useMemo(() => {
    const hold = document.createElement("div");
    hold.className = "canvas";
    const connection: Connection = new Connection({
      state: (next) => { now.current.state = next; setState(next); }, note, connected: setConnected,
      surfaces: (header, arrays) => { setSurfaces(header); view.surfaces(header, arrays); },
      frame: (header, arrays) => { setFrame(header); view.frame(header, arrays); },
    });
    const view: View = new View(hold, {
      pick: (name) => setChosen((name !== null && find(now.current.state.tables, name)) || { kind: "scene", index: 0 }),
      move: (name, pose) => move(name, pose),
      drawn: () => connection.drawn(),
      pull: (body, point, target) => ask("pull", { body, point, target }),
      drag: (target) => connection.tell("drag", { target }),
      release: () => connection.tell("release"),
    });
    return { view, connection, hold };
  }, []);
  const ask = (what: string, args: Table = {}) =>
    connection.ask(what, args).catch((error: Error) => note("problem", error.message));
  // one after the other, for a command is made for the scene as it is
  const turn = useRef<Promise<unknown>>(Promise.resolve());
  const command = (make: () => Command): Promise<void> => {
    const ask = () => connection.ask("edit", { command: make(), revision: now.current.state.revision });
    const mine = turn.current.then(ask, ask);
    turn.current = mine;
    return mine;
  };
  const edit: Edit = {
    put: (path, value) => command(() => (value === undefined ? { do: "drop", path } : { do: "put", path, value })),
    many: (members) => command(() => ({ do: "group", members })),
    part: (path, index, value, usual) => command(() => {
      const whole: any = path.reduce((table: any, key) => table?.[key], now.current.state.tables) ?? usual;
      return { do: "put", path, value: whole.map((old: number, k: number) => (k === index ? value : old)) };
    }),
  };

  function move(name: string, pose: Pose) {
    const place = find(now.current.state.tables, name);
    if (!place) return;
    const members = (["position", "rotation"] as const).map((key) => (
      { do: "put", path: [place.kind, place.index, key], value: pose[key] }));
    const table = now.current.state.tables[place.kind][place.index];
    const turned = JSON.stringify(table.rotation ?? [1, 0, 0, 0]) !== JSON.stringify(pose.rotation);
    command(() => ({ do: "group", members: turned ? members : members.slice(0, 1) }))
      .catch((error: Error) => note("problem", error.message));
  }

  function remove() {
    const { kind, index } = now.current.chosen;
    if (kind !== "scene" && kind !== "run") {
      ask("remove", { body: kind, index, revision: now.current.state.revision });
      setChosen({ kind: "scene", index: 0 });
    }
  }

  async function add(body: "soft" | "rigid" | "joint", table: Table) {
    const before = (now.current.state.tables[body] ?? []).length;
    await connection.ask("add", { body, table });
    setChosen({ kind: body, index: before });
  }

  async function copy(what: "python" | "text", title: string) {
    const made = await ask(what);
    if (typeof made !== "string") return;
    setText({ title, text: made });
    navigator.clipboard?.writeText(made).catch(() => undefined);
  }

  async function draw(what: "picture" | "film") {
    const stem = (now.current.state.name ?? "scene").replace(/\.toml$/, "");
    const file = await ask(what, { file: stem + (what === "film" ? ".webp" : ".png"), camera: view.camera_at });
    if (typeof file === "string") note("done", `Saved ${file} in the folder of the studio.`);
  }

  const playing = state.phase === "playing" || state.phase === "building";
  const play = () => (now.current.state.phase === "playing" ? ask("pause") : ask("play"));

  useEffect(() => { home.current!.appendChild((view as any).home); }, []);
  useEffect(() => view.refit(state.revision), [state.opened]);
  useEffect(() => { view.colors = state.catalogue.colors ?? []; }, [state.catalogue]);
  useEffect(() => {
    const table = ["soft", "cloth", "rigid", "rod"].includes(chosen.kind) ? state.tables[chosen.kind]?.[chosen.index] : null;
    const still = state.phase === "ready" && table && chosen.kind !== "rod";
    const pose = still ? { position: table.position ?? [0, 0, 0], rotation: table.rotation ?? [1, 0, 0, 0] } : null;
    view.select(table?.name ?? null, pose, mode);
  }, [state, chosen, mode, surfaces]);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).matches?.("input, select, textarea")) return;
      const key = (event.ctrlKey || event.metaKey ? "ctrl+" : "") + (event.shiftKey ? "shift+" : "") + event.key.toLowerCase();
      const action: { [key: string]: () => void } = {
        " ": play, ".": () => ask("step"), r: () => ask("reset"), f: () => view.look(), delete: remove,
        "ctrl+z": () => ask("undo"), "ctrl+shift+z": () => ask("redo"), "ctrl+y": () => ask("redo"),
        "1": () => view.look("front"), "3": () => view.look("right"), "7": () => view.look("top"), "0": () => view.look("oblique"),
        w: () => setMode("translate"), e: () => setMode("rotate"),
      };
      if (!action[key]) return;
      event.preventDefault();
      action[key]();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);

  return (
    <div class="studio" onDragOver={(event) => event.preventDefault()} onDrop={(event) => {
      event.preventDefault();
      if (event.dataTransfer?.files[0]) setFile(event.dataTransfer.files[0]);
    }}>
      <header>
        <b>pliant studio</b>
        <FileMenu state={state} ask={ask} copy={copy} draw={draw} open={open === "file"} toggle={() => setOpen(open === "file" ? "" : "file")} />
        <AddMenu add={add} note={note} joint={() => setOpen("joint")} file={(chosen) => { setOpen(""); setFile(chosen); }} open={open === "add"} toggle={() => setOpen(open === "add" ? "" : "add")} />
        <button disabled={!state.undo} title="Undo (Ctrl+Z)" onClick={() => ask("undo")}>Undo</button>
        <button disabled={!state.redo} title="Redo (Ctrl+Y)" onClick={() => ask("redo")}>Redo</button>
        <span class="gap" />
        <button class="main" title="Play or pause (Space)" disabled={state.phase === "building"} onClick={play}>
          {state.phase === "playing" ? "Pause" : "Play"}
        </button>
        <button title="One step (.)" disabled={playing} onClick={() => ask("step")}>Step</button>
        <button title="Back to the start (R)" onClick={() => ask("reset")}>{playing ? "Stop" : "Reset"}</button>
        <span class="gap" />
        <label>colour <select aria-label="colour" value={state.color} onChange={(event) => ask("paint", { color: event.currentTarget.value })}>
          {Object.entries(state.catalogue.fields ?? {}).map(([name, title]) => <option value={name}>{title}</option>)}
        </select></label>
        <span class="name">{state.name ?? "not saved"}{!state.saved && " *"}</span>
      </header>
      <nav><Tree tables={state.tables} chosen={chosen} choose={setChosen} /></nav>
      <main>
        <div ref={home} class="view" />
        <div class="tools">
          {(["oblique", "front", "right", "top"] as const).map((name) => <button onClick={() => view.look(name)}>{name}</button>)}
          <button title="Fit (F)" onClick={() => view.look()}>fit</button>
          <label><input type="checkbox" checked={wire} onChange={(event) => { setWire(event.currentTarget.checked); view.wireframe(event.currentTarget.checked); }} />wires</label>
          <label title="Pull on bodies while the scene plays (or hold Shift)"><input type="checkbox" onChange={(event) => { view.pulling = event.currentTarget.checked; }} />pull</label>
          <button class={mode === "translate" ? "on" : ""} title="Move (W)" onClick={() => setMode("translate")}>move</button>
          <button class={mode === "rotate" ? "on" : ""} title="Turn (E)" onClick={() => setMode("rotate")}>turn</button>
        </div>
        {frame?.field && <Legend field={frame.field} colors={state.catalogue.colors ?? []} />}
        <div class="notes">
          {!connected && <div class="problem">The page has no connection to the studio.</div>}
          {notes.map((each) => (
            <div class={each.kind} role="alert">
              <pre>{each.text}</pre>
              <button class="small" aria-label="dismiss" onClick={() => setNotes(notes.filter((other) => other !== each))}>×</button>
            </div>
          ))}
        </div>
        {file && <MeshForm file={file} add={add} close={() => setFile(null)} />}
        {open === "joint" && <JointForm state={state} add={add} close={() => setOpen("")} />}
        {text && <TextBox {...text} close={() => setText(null)} />}
      </main>
      <aside><Properties state={state} chosen={chosen} edit={edit} remove={remove} ask={connection.ask.bind(connection)} /></aside>
      <footer><Status state={state} frame={frame} surfaces={surfaces} scrub={(index) => ask("scrub", { index })} /></footer>
    </div>
  );
}

function Legend(props: { field: { title: string; high: number }; colors: [number, number, number][] }) {
  const bar = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = bar.current!.getContext("2d")!;
    props.colors.forEach(([r, g, b], k) => {
      context.fillStyle = `rgb(${r},${g},${b})`;
      context.fillRect((k * 200) / props.colors.length, 0, 200 / props.colors.length + 1, 12);
    });
  }, [props.colors]);
  return (
    <div class="legend">
      <div>{props.field.title}</div>
      <canvas ref={bar} width={200} height={12} />
      <div class="ends"><span>0</span><span>{props.field.high.toPrecision(3)}</span></div>
    </div>
  );
}

render(<App />, document.getElementById("studio")!);
