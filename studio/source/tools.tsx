// Above the view: directions, wires, pulling, gizmo, section. In it: the legend of a field.
import { useEffect, useRef, useState } from "preact/hooks";
import { Check, parse, stressText } from "./fields";
import type { State, Table } from "./messages";
import type { View } from "./view";

interface Props {
  view: View; state: State; mode: "translate" | "rotate"; setMode(mode: "translate" | "rotate"): void;
  ask(what: string, args?: Table): Promise<any>;
}

export function Tools({ view, state, mode, setMode, ask }: Props) {
  const [wire, setWire] = useState(false);
  const [shade, setShade] = useState(!view.software);
  const [snap, setSnap] = useState(false);
  const [grid, setGrid] = useState("0.05");
  const steps = (on: boolean, text: string) => {
    setSnap(on);
    setGrid(text);
    view.gizmo.snap(on ? parse(text, "m") ?? 0 : 0, on ? 15 : 0);
  };
  return (
    <div class="tools">
      {(["oblique", "front", "right", "top"] as const).map((name) => <button onClick={() => view.look(name)}>{name}</button>)}
      <button title="From the other side (9)" aria-label="other side" onClick={() => view.opposite()}>⇄</button>
      <button title="Fit (F)" onClick={() => view.look()}>fit</button>
      <label><input type="checkbox" checked={wire} onChange={(event) => { setWire(event.currentTarget.checked); view.wireframe(event.currentTarget.checked); }} />wires</label>
      <label title="Shadows take time without a graphics card"><input type="checkbox" checked={shade} onChange={(event) => { setShade(event.currentTarget.checked); view.shadows(event.currentTarget.checked); }} />shadows</label>
      <label title="Show where bodies touch and with what force"><Check name="contacts" value={state.contacts} put={(show) => ask("touching", { show })} />contacts</label>
      <label title="Pull on bodies while the scene plays (or hold Shift)"><input type="checkbox" onChange={(event) => { view.mouse.pulling = event.currentTarget.checked; }} />pull</label>
      <button class={mode === "translate" ? "on" : ""} title="Move (W)" onClick={() => setMode("translate")}>move</button>
      <button class={mode === "rotate" ? "on" : ""} title="Turn (E)" onClick={() => setMode("rotate")}>turn</button>
      <label title="Move in steps of this many metres, turn in steps of 15°"><input type="checkbox" aria-label="snap" checked={snap} onChange={(event) => steps(event.currentTarget.checked, grid)} />snap</label>
      {snap && <input class="short" aria-label="step of the gizmo" value={grid} onInput={(event) => steps(true, event.currentTarget.value)} />}
      <Section view={view} ask={ask} opened={state.opened} said={state.cutting} />
    </div>
  );
}

const NORMALS: { [axis: string]: [number, number, number] } = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };

/** Cuts everything open across an axis. */
function Section({ view, ask, opened, said }: { view: View; ask: Props["ask"]; opened: number; said: State["cutting"] }) {
  const [axis, setAxis] = useState("");
  const [share, setShare] = useState(0.5);
  const wanted = useRef<Table | null>(null);
  const busy = useRef(false);
  const send = async () => {
    if (busy.current || !wanted.current) return;
    busy.current = true;
    const args = wanted.current;
    wanted.current = null;
    await ask("cut", args);
    busy.current = false;
    send();
  };
  const range = useRef<[number, number]>([0, 1]);
  const cut = (next: string, at: number) => {
    if (next && next !== axis) {
      const box = view.box();
      range.current = [box.min[next as "x"], box.max[next as "x"]];
    }
    setAxis(next);
    setShare(at);
    const [low, high] = range.current;
    const offset = low + at * (high - low);
    view.section(next ? NORMALS[next] : null, offset);
    wanted.current = { normal: next ? NORMALS[next] : [], offset };
    send();
  };
  useEffect(() => { if (axis) cut("", 0.5); }, [opened]);
  useEffect(() => { // another page, or this one before it was loaded anew, has cut
    if (busy.current) return;
    const name = said ? Object.keys(NORMALS).find((key) => NORMALS[key].join() === said[0].join()) ?? "" : "";
    const box = view.box();
    if (name && name !== axis) range.current = [box.min[name as "x"], box.max[name as "x"]];
    const [low, high] = range.current;
    setAxis(name);
    if (said) setShare(Math.min(1, Math.max(0, (said[1] - low) / (high - low))));
    view.section(said && said[0], said ? said[1] : 0);
  }, [JSON.stringify(said)]);
  return (
    <label title="Cut bodies open across an axis and look inside">section
      <select aria-label="section" value={axis} onChange={(event) => cut(event.currentTarget.value, 0.5)}>
        <option value="">off</option>{Object.keys(NORMALS).map((name) => <option value={name}>{name}</option>)}
      </select>
      {axis && <input type="range" aria-label="section at" min={0} max={1} step={0.01} value={share} onInput={(event) => cut(axis, Number(event.currentTarget.value))} />}
    </label>
  );
}

export function Legend(props: { field: { title: string; high: number }; colors: [number, number, number][] }) {
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
      <div class="ends"><span>0</span><span>{props.field.title.endsWith("[Pa]") ? stressText(props.field.high) : String(Number(props.field.high.toPrecision(3)))}</span></div>
    </div>
  );
}
