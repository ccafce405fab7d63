// The page: toolbar, scene tree, view, properties, status. The server holds the scene; the page asks and shows.
import { render } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { AddMenu, FileMenu, MeshForm, TextBox } from "./dialogs";
import { Gallery, Keys } from "./learn";
import type { Edit } from "./fields";
import { JointForm, namesOf } from "./joint_form";
import type { Select, Selection } from "./loads";
import { type Command, Connection, type Frame, type Load, Stale, type State, type Surfaces, type Table } from "./messages";
import type { Drawn } from "./mouse";
import { BODIES, type Chosen, Properties } from "./properties";
import { aside, find, firstPair, follow, NOTHING, numberOf, sameThings, SCENE } from "./scene";
import { listen } from "./shortcuts";
import { Status } from "./status";
import { type Picked, STRENGTH } from "./symbols";
import { Legend, Tools } from "./tools";
import { Tree } from "./tree";
import { carried, type Pose } from "./gizmo";
import { View } from "./view";

const UNSELECTED: Selection = { tool: null, body: null, what: "nodes", numbers: [], said: null, error: "", revision: -1, draws: "traction" };

const rounded = (value: number) => Number(value.toPrecision(4));

function App() {
  const [state, setState] = useState(NOTHING);
  const [frame, setFrame] = useState<Frame | null>(null);
  const [surfaces, setSurfaces] = useState<Surfaces | null>(null);
  const [notes, setNotes] = useState<{ kind: string; text: string }[]>([]);
  const [connected, setConnected] = useState(true);
  const [chosen, setChosen] = useState<Chosen>(SCENE);
  const [lit, setLit] = useState<{ kind: Picked["kind"]; number: number } | null>(null);
  const [mode, setMode] = useState<"translate" | "rotate">("translate");
  const [open, setOpen] = useState<string>("");
  const [file, setFile] = useState<File | null>(null);
  const [text, setText] = useState<{ title: string; text: string } | null>(null);
  const [selection, setSelection] = useState<Selection>(UNSELECTED);
  const [hidden, setHidden] = useState(new Set<string>());
  const home = useRef<HTMLDivElement>(null);
  const now = useRef({ state, chosen, selection });
  now.current = { state, chosen, selection };

  const note = (kind: string, text: string) => {
    const made = { kind, text };
    setNotes((old) => [...old.filter((each) => each.text !== text).slice(-4), made]);
    if (kind === "done") setTimeout(() => setNotes((old) => old.filter((each) => each !== made)), 6000);
  };
  const choose = (next: Chosen) => {
    setLit(null);
    setOpen("");
    setChosen(next);
  };
  const { view, connection } = useMemo(() => {
    const hold = document.createElement("div");
    hold.className = "canvas";
    const connection: Connection = new Connection({
      state: (next) => take(next), note, connected: setConnected,
      surfaces: (header, arrays) => { setSurfaces(header); view.surfaces(header, arrays); },
      frame: (header, arrays) => { setFrame(header); view.frame(header, arrays); },
      mode: (header, arrays) => view.mode(header, arrays),
      nodes: (header, arrays) => { view.takeNodes(header, arrays); show(now.current.selection); },
    });
    const view: View = new View(hold, {
      pick: (name) => choose((name !== null && find(now.current.state.tables, name)) || SCENE),
      symbol: (picked) => pick(picked),
      move: (name, pose) => move(name, pose),
      drawn: () => connection.drawn(),
      pull: (body, point, target) => ask("pull", { body, point, target }),
      drag: (target) => connection.tell("drag", { target }),
      release: () => connection.tell("release"),
      chosen: (numbers) => settle({ numbers, said: numbers.length ? { indices: numbers } : null, error: "" }),
      halfspace: (point, normal) => {
        const { body, what } = now.current.selection;
        const round = (value: number) => Number(value.toFixed(9));
        if (body) select.say(body, what, { halfspace: { point: point.map(round), normal: normal.map(round) } });
      },
      loaded: (body, load, vector, pressure) => bend(body, load, vector, pressure),
      drawn_arrow: (body, drawn) => drawLoad(body, drawn),
    });
    return { view, connection };
  }, []);
  function take(next: State) {
    const followed = follow(now.current.chosen, now.current.state, next);
    now.current.state = next;
    setState(next);
    if (JSON.stringify(followed) !== JSON.stringify(now.current.chosen)) setChosen((now.current.chosen = followed));
  }
  const failed = (error: Error) => note("problem", error.message);
  const ask = (what: string, args: Table = {}) => connection.ask(what, args).catch(failed);
  // one after the other, for a command is made for the scene as it is
  const turn = useRef<Promise<unknown>>(Promise.resolve());
  const command = (make: () => Command): Promise<void> => {
    const ask = async (): Promise<void> => {
      const before = now.current.state;
      try {
        await connection.ask("edit", { command: make(), revision: before.revision });
      } catch (error) { // another page was quicker: once more, where the things of the scene are the same
        if (error instanceof Stale && sameThings(before, now.current.state)) return ask();
        throw error;
      }
    };
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

  function show(next: Selection) {
    view.mouse.choosing = { ...next };
    view.mark(next.body, next.what, next.numbers);
  }
  const settled = useRef(0);
  function settle(change: Partial<Selection>) {
    settled.current++;
    const next = { ...now.current.selection, revision: now.current.state.revision, ...change };
    now.current.selection = next;
    setSelection(next);
    show(next);
  }
  const select: Select = {
    selection,
    start: (body, change) => {
      const other = body !== now.current.selection.body;
      settle({ ...(other ? UNSELECTED : {}), ...change, body });
      if (!view.nodesOf(body)) ask("nodes", { body });
    },
    say: async (body, what, said) => {
      const mine = ++settled.current; // an answer that comes after something else has been selected counts no more
      if (!view.nodesOf(body)) await ask("nodes", { body });
      const { tool } = now.current.selection;
      const take = (change: Partial<Selection>) => mine === settled.current && settle({ tool, body, what, said, ...change });
      return connection.ask("select", { body, what, selection: said }).then(
        (numbers) => { take({ numbers, error: "" }); }, (error: Error) => { take({ numbers: [], error: error.message }); });
    },
    clear: () => {
      const { body, what, draws } = now.current.selection;
      settle({ ...UNSELECTED, body, what, draws });
    },
  };

  /** A symbol in the view was clicked. */
  function pick(picked: Picked) {
    if (picked.kind === "contact") return note("done", picked.text);
    if (picked.kind === "joint") return choose({ kind: "joint", index: picked.number });
    const place = find(now.current.state.tables, picked.body);
    if (place) setChosen(place);
    setLit({ kind: picked.kind, number: place ? numberOf(now.current.state.tables[place.kind][place.index], picked) : picked.number });
  }

  /** The arrow of a load was dragged. */
  function bend(body: string, load: Load, vector: number[], pressure: number) {
    const place = find(now.current.state.tables, body);
    if (!place) return;
    const table: Table = now.current.state.tables[place.kind][place.index];
    const number = numberOf(table, load);
    const [key] = STRENGTH[load.kind];
    if (table[load.kind][number][key].times) {
      view.redraw(true);
      return note("problem", "This load changes over time: drag the points of its curve instead.");
    }
    edit.put([place.kind, place.index, load.kind, number, key], key === "pressure" ? rounded(pressure) : vector.map(rounded)).catch(failed);
  }

  /** An arrow was drawn out of a side of a body. */
  function drawLoad(body: string, { draws, vector, pressure, faces, node }: Drawn) {
    const place = find(now.current.state.tables, body);
    if (!place) return;
    const kind = draws === "body force" ? "force" : draws;
    const { what, numbers } = now.current.selection;
    const nodes = draws === "body force" ? "all" : { indices: what === "nodes" && numbers.length ? numbers : [node] };
    const where = kind === "force" ? { nodes } : { faces: { indices: faces } };
    const strength = kind === "pressure" ? { pressure: rounded(pressure) } : { vector: vector.map(rounded) };
    const list: Table[] = now.current.state.tables[place.kind][place.index][kind] ?? [];
    edit.put([place.kind, place.index, kind], [...list, { ...where, ...strength }]).then(() => select.clear()).catch(failed);
  }

  function move(name: string, pose: Pose) {
    const place = find(now.current.state.tables, name);
    if (!place) return;
    if (place.kind === "rod") return void edit.put(["rod", place.index, "points"], carried(now.current.state.tables.rod[place.index].points, pose)).catch(failed);
    const members = (["position", "rotation"] as const).map((key) => (
      { do: "put", path: [place.kind, place.index, key], value: pose[key] }));
    const table = now.current.state.tables[place.kind][place.index];
    const turned = JSON.stringify(table.rotation ?? [1, 0, 0, 0]) !== JSON.stringify(pose.rotation);
    command(() => ({ do: "group", members: turned ? members : members.slice(0, 1) })).catch(failed);
  }

  function remove() {
    const { kind, index } = now.current.chosen;
    if (kind !== "scene" && kind !== "run") {
      ask("remove", { body: kind, index, revision: now.current.state.revision });
      choose(SCENE);
    }
  }
  /** The same once more, beside it. */
  function duplicate() {
    const { kind, index } = now.current.chosen;
    if (kind === "scene" || kind === "run" || kind === "contact") return;
    const table: Table = now.current.state.tables[kind][index];
    const aside = 1.2 * view.width(table.name);
    const moved = kind === "rod" ? { points: table.points.map(([x, ...rest]: number[]) => [x + 0.1, ...rest]) }
      : kind === "joint" ? {} : { position: (table.position ?? [0, 0, 0]).map((value: number, k: number) => (k === 0 ? Number((value + aside).toFixed(4)) : value)) };
    add(kind, { ...table, ...moved }).catch(failed);
  }
  const rename = (name: string) => {
    const { kind, index } = now.current.chosen;
    return connection.ask("rename", { body: kind, index, name, revision: now.current.state.revision });
  };

  /** A rule of contact between two bodies. */
  const pair = (first: string, second: string) => add("contact", { between: [first, second], friction: 0.5 }).catch(failed);

  async function add(body: Chosen["kind"], table: Table) {
    const before = (now.current.state.tables[body] ?? []).length;
    view.added = await connection.ask("add", { body, table: aside(now.current.state.tables, table) });
    view.reveal();
    choose({ kind: body, index: before });
  }

  async function copy(what: "python" | "text", title: string) {
    const made = await ask(what);
    if (typeof made !== "string") return;
    setText({ title, text: made });
    navigator.clipboard?.writeText(made).catch(() => undefined);
  }

  async function store(what: "picture" | "film" | "store", suffix: string) {
    const file = (now.current.state.name ?? "scene.toml").replace(/\.toml$/, suffix);
    const saved = await ask(what, what === "store" ? { file } : { file, camera: view.camera_at });
    if (typeof saved === "string") note("done", `Saved ${saved} in the folder of the studio.`);
  }

  async function save(file: string) {
    let answer = await ask("save", { file });
    if (answer?.question && confirm(answer.question)) answer = await ask("save", { file, sure: true });
    if (answer?.file) note("done", `Saved ${answer.file}.`);
  }

  // what a button has asked for and nobody waits for: the reason is said, not lost
  useLayoutEffect(() => addEventListener("unhandledrejection", (event) => { event.preventDefault(); failed(event.reason); }), []);
  const playing = state.phase === "playing" || state.phase === "building";
  const some = BODIES.some((kind) => state.tables[kind]?.length);
  const run = (what: string) => () => BODIES.some((kind) => now.current.state.tables[kind]?.length) && ask(what); // an empty scene does not run
  const play = () => run(now.current.state.phase === "playing" ? "pause" : "play")();
  const step = run("step");
  const undo = () => now.current.state.undo && ask("undo");
  const redo = () => now.current.state.redo && ask("redo");

  useLayoutEffect(() => { home.current!.appendChild(view.home); /* for tests, which ask where things are on the screen */ (window as any).studioPage = () => ({ state: now.current.state, view, idle: connection.idle }); }, []);
  useLayoutEffect(() => { view.refit(state.revision); setNotes((old) => old.filter(({ kind }) => kind !== "problem" || !state.opened)); }, [state.opened]);
  useLayoutEffect(() => { view.colors = state.catalogue.colors ?? []; }, [state.catalogue]);
  useLayoutEffect(() => { settle(UNSELECTED); }, [chosen.kind, chosen.index, state.opened]);
  useLayoutEffect(() => {
    const { body, what, said, revision } = now.current.selection;
    if (!body || revision === state.revision) return; // what has been selected since is of this scene
    if (said) select.say(body, what, said);
    else ask("nodes", { body });
  }, [state.revision]);
  useLayoutEffect(() => { if (state.phase !== "ready" && now.current.selection.tool) settle({ tool: null }); }, [state.phase]);
  useLayoutEffect(() => view.hide(hidden), [hidden]);
  useLayoutEffect(() => {
    const table = BODIES.includes(chosen.kind) ? state.tables[chosen.kind]?.[chosen.index] : null;
    const still = state.phase === "ready" && table && !selection.tool && open !== "joint";
    const pose = still ? { position: table.position ?? table.points?.[0] ?? [0, 0, 0], rotation: table.rotation ?? [1, 0, 0, 0] } : null;
    view.select(table?.name ?? null, pose, mode);
  }, [state, chosen, mode, surfaces, selection.tool, open]);
  useLayoutEffect(() => {
    return listen({
        " ": play, ".": step, r: () => ask("reset"), f: () => view.look(), delete: remove, backspace: remove,
        "ctrl+z": undo, "ctrl+shift+z": redo, "ctrl+y": redo,
        "ctrl+s": () => save(now.current.state.name ?? "scene.toml"),
        "1": () => view.look("front"), "3": () => view.look("right"), "7": () => view.look("top"), "0": () => view.look("oblique"), "9": () => view.opposite(),
        "?": () => setOpen("keys"), "shift+?": () => setOpen("keys"), "ctrl+d": duplicate, w: () => setMode("translate"), e: () => setMode("rotate"), escape: () => { settle({ tool: null }); setOpen(""); setText(null); },
    });
  }, []);

  return (
    <div class="studio" onDragOver={(event) => event.preventDefault()} onDrop={(event) => {
      event.preventDefault();
      if (event.dataTransfer?.files[0]) setFile(event.dataTransfer.files[0]);
    }}>
      <header>
        <b>pliant studio</b>
        <FileMenu state={state} ask={ask} save={save} copy={copy} store={store} open={open === "file"} toggle={() => setOpen(open === "file" ? "" : "file")} />
        <AddMenu things={state.catalogue.things ?? []} add={add} note={note} joint={() => setOpen("joint")} rule={() => firstPair(state.tables, pair)} bodies={namesOf(state.tables, BODIES).length} file={(chosen) => { setOpen(""); setFile(chosen); }} open={open === "add"} toggle={() => setOpen(open === "add" ? "" : "add")} />
        <button disabled={!state.undo} title="Undo (Ctrl+Z)" onClick={undo}>Undo</button>
        <button disabled={!state.redo} title="Redo (Ctrl+Y)" onClick={redo}>Redo</button>
        <span class="gap" />
        <button class="main" title="Play or pause (Space)" disabled={!some || state.phase === "building" || state.phase === "starting"} onClick={play}>
          {state.phase === "playing" ? "Pause" : "Play"}
        </button>
        <button title="Make the simulation and compile what it needs, without a step" disabled={!some || state.phase !== "ready"} onClick={() => ask("prepare")}>Build</button>
        <button title="One step (.)" disabled={!some || playing} onClick={step}>Step</button>
        <button title="Back to the start (R)" onClick={() => ask("reset")}>{playing ? "Stop" : "Reset"}</button>
        <span class="gap" />
        <label>colour <select aria-label="colour" value={state.color} onChange={(event) => ask("paint", { color: event.currentTarget.value })}>
          {Object.entries(state.catalogue.fields ?? {}).map(([name, title]) => <option value={name}>{title}</option>)}
        </select></label>
        <button class="small" title="Keys and the mouse (?)" aria-label="keys" onClick={() => setOpen(open === "keys" ? "" : "keys")}>?</button>
        <span class="name">{state.name ?? "not saved"}{!state.saved && " *"}</span>
      </header>
      <nav><Tree tables={state.tables} chosen={chosen} choose={choose} hidden={hidden} hide={setHidden} /></nav>
      <main onPointerDown={() => (open === "file" || open === "add") && setOpen("")}>
        <div ref={home} class="view" />
        {state.phase !== "starting" && !surfaces?.soft.length && !surfaces?.rigid.length && !surfaces?.rods.length && (
          <div class="empty">
            <h2>The scene is empty</h2>
            <p>Add a body with the menu Add, drop a mesh file on the page, or open an example:</p>
            <Gallery examples={state.examples} open={(file) => ask("open", { file, example: true })} />
            <p class="hint">Space plays, drag turns the view, the wheel zooms, the right button moves it; <button class="small" onClick={() => setOpen("keys")}>all keys</button></p>
          </div>
        )}
        <Tools view={view} state={state} mode={mode} setMode={setMode} ask={ask} />
        {frame?.field && <Legend field={frame.field} colors={state.catalogue.colors ?? []} />}
        <div class="notes">
          {!connected && <div class="problem">The page has no connection to the studio.</div>}
          {state.lost && (
            <div class="lost" role="alert">
              <span>A studio in this folder ended before its scene was saved: {state.lost}.</span>
              <span><button class="small" onClick={() => ask("recover", { take: true })}>Recover</button>
                <button class="small" onClick={() => ask("recover", { take: false })}>Discard</button></span>
            </div>
          )}
          {notes.map((each) => (
            <div class={each.kind} role="alert">
              <pre>{each.text}</pre>
              <button class="small" aria-label="dismiss" onClick={() => setNotes(notes.filter((other) => other !== each))}>×</button>
            </div>
          ))}
        </div>
        {file && <MeshForm file={file} stuff={state.catalogue.stuff ?? {}} fabric={state.catalogue.presets?.fabric ?? {}} add={add} discard={(name) => connection.ask("discard", { file: name }).catch(failed)} close={() => setFile(null)} />}
        {open === "keys" && <Keys close={() => setOpen("")} />}
        {text && <TextBox {...text} close={() => setText(null)} />}
      </main>
      <aside>
        {open === "joint" ? <JointForm state={state} add={add} close={() => setOpen("")} pick={(picker) => { view.mouse.picker = picker; }}
          preview={(points, axis) => view.preview(points, axis)} rodPoint={(rod, point) => connection.ask("rod_point", { rod, point })} /> : (
          <Properties state={state} chosen={chosen} edit={edit} select={select} lit={lit} remove={remove} rename={rename} duplicate={duplicate}
            ask={connection.ask.bind(connection)} markTets={(corners) => view.markTets(corners)} choose={choose} pair={pair} />
        )}
      </aside>
      <footer><Status state={state} frame={frame} surfaces={surfaces} scrub={(index) => ask("scrub", { index })} /></footer>
    </div>
  );
}

render(<App />, document.getElementById("studio")!);
