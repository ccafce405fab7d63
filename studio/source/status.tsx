// Below: time, pace, how good the last step is, and graphs of energies and of the time that steps take.
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Frame, State, Surfaces } from "./messages";

const PHASES: { [phase: string]: string } = {
  starting: "starting the engine", ready: "at the start", building: "building (the first run of a law compiles it)",
  playing: "playing", paused: "paused", ended: "ended; Reset starts again",
};
const KEPT = 300;
const COLORS = ["#3f9aa3", "#d9623f", "#e9ad4b", "#8d7bb5", "#6aa86b", "#5b7f95", "#b5838d"];

export function Status(props: { state: State; frame: Frame | null; surfaces: Surfaces | null; scrub(index: number): void }) {
  const { frame, state, surfaces } = props;
  const history = useRef<Frame[]>([]);
  if (frame && !frame.scrubbed) {
    const last = history.current[history.current.length - 1];
    if (!frame.steps || (last && last.steps > frame.steps)) history.current = [];
    if (frame.steps && (!last || last.steps !== frame.steps)) history.current = [...history.current.slice(1 - KEPT), frame];
  }
  const number = (name: string, value: string, warn = false) => (
    <div class={`number ${warn ? "warn" : ""} ${name === "size" ? "wide" : ""}`}><span>{name}</span><b data-number={name}>{value}</b></div>
  );
  const nodes = surfaces?.soft.reduce((sum, body) => sum + body.nodes, 0) ?? 0;
  const tets = surfaces?.soft.reduce((sum, body) => sum + body.tets, 0) ?? 0;
  return (
    <div class="status">
      <div class="numbers">
        {number("state", PHASES[state.phase])}
        {number("time", `${(frame?.time ?? 0).toFixed(3)} s`)}
        {number("steps", String(frame?.steps ?? 0))}
        {number("real-time factor", frame?.rate ? frame.rate.toPrecision(3) : "–")}
        {number("ms per step", frame?.seconds ? (1000 * frame.seconds).toPrecision(3) : "–")}
        {number("iterations", frame?.iterations === undefined ? "–" : `${frame.iterations} (${frame.solver})`)}
        {number("converged", frame?.converged === undefined ? "–" : frame.converged ? "yes" : "no", frame?.converged === false)}
        {number("imbalance", frame?.imbalance === undefined || frame.imbalance === null ? "–" : frame.imbalance.toExponential(1))}
        {number("contacts", frame?.contacts === undefined ? "–" : String(frame.contacts))}
        {number("size", `${nodes} nodes, ${tets} tets, ${surfaces?.rigid.length ?? 0} rigid`)}
        <Line last={history.current[history.current.length - 1]} frame={frame} scrub={props.scrub} />
        {Boolean(frame?.tangled?.length) && number("turned inside out", frame!.tangled!.join(", "), true)}
        {Boolean(frame?.held?.length) && number("held back", frame!.held!.join(", "), true)}
        {advice(history.current, frame).map((words) => <p class="advice" role="status">{words}</p>)}
      </div>
      <Graph title="energy [J]" frames={history.current.filter((each) => each.energy)} frame={frame} values={(each) => each.energy ?? {}} stacked={false} />
      <Graph title="ms per step, by stage" frames={history.current} frame={frame} stacked={true}
        values={(each) => Object.fromEntries(Object.entries(each.timings ?? {}).map(([key, seconds]) => [key, 1000 * seconds]))} />
    </div>
  );
}

/** What the numbers mean, where something is not as it should be. */
function advice(history: Frame[], frame: Frame | null): string[] {
  if (!frame?.steps) return [];
  const recent = history.slice(-50);
  const missed = recent.filter((each) => each.converged === false).length;
  const parts = recent.filter((each) => (each.parts ?? 1) > 1).length;
  const said: string[] = [];
  if (missed) {
    said.push(`${missed} of the last ${recent.length} steps shown did not converge: a smaller time step, more iterations or some damping may help.`);
  } else if (parts > recent.length / 4) said.push("Many steps are taken in parts: a smaller time step may be quicker.");
  if (frame.tangled?.length) said.push("Elements have turned inside out: a finer mesh, a smaller time step or the law stable_neohookean may help.");
  if (frame.playing && frame.rate && frame.rate < 0.5) said.push(`Slower than real time: 1 s takes ${(1 / frame.rate).toPrecision(2)} s. Fewer cells make it quicker.`);
  return said;
}

/** The time line: back through the frames that were kept. */
function Line(props: { last: Frame | undefined; frame: Frame | null; scrub(index: number): void }) {
  const kept = props.last?.kept ?? 0;
  if (kept < 2) return null;
  const time = props.frame?.time ?? 0;
  return (
    <label class="line">
      kept
      <input type="range" aria-label="time line" min={0} max={kept - 1} value={Math.round(25 * time)}
        onInput={(event) => props.scrub(Number(event.currentTarget.value))} />
      <span title="No more are kept beyond this memory">{kept} frames, {props.last?.memory?.[0].toFixed(1)} of {props.last?.memory?.[1]} MiB{props.last?.full && ": no more are kept"}</span>
    </label>
  );
}

interface GraphProps {
  title: string; frames: Frame[]; frame: Frame | null; stacked: boolean;
  values(frame: Frame): { [name: string]: number };
}

function Graph(props: GraphProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { frames } = props;
  const names = frames.length ? Object.keys(props.values(frames[frames.length - 1])) : [];
  useLayoutEffect(() => {
    const context = canvas.current!.getContext("2d", { willReadFrequently: true })!;
    const { width, height } = canvas.current!;
    context.clearRect(0, 0, width, height);
    if (frames.length) (props.stacked ? bars : lines)(context, frames.map(props.values), names, width, height);
  }, [props.frame]);
  return (
    <figure>
      <figcaption>{props.title}{names.map((name, k) => <Key name={name} color={COLORS[k % COLORS.length]} />)}</figcaption>
      <canvas ref={canvas} width={360} height={84} aria-label={props.title} />
    </figure>
  );
}

function Key(props: { name: string; color: string }) {
  return <span class="key"><svg width="8" height="8"><rect width="8" height="8" fill={props.color} /></svg>{props.name}</span>;
}

type Rows = { [name: string]: number }[];

function scaleText(context: CanvasRenderingContext2D, low: number, high: number, height: number) {
  context.fillStyle = "#555";
  context.font = "10px sans-serif";
  context.fillText(high.toPrecision(3), 2, 10);
  context.fillText(low.toPrecision(3), 2, height - 2);
}

function lines(context: CanvasRenderingContext2D, rows: Rows, names: string[], width: number, height: number) {
  const step = width / Math.max(rows.length, 60);
  const all = rows.flatMap((row) => names.map((name) => row[name]));
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const y = (value: number) => height - 2 - ((height - 4) * (value - low)) / (high - low || 1);
  names.forEach((name, k) => {
    context.strokeStyle = COLORS[k % COLORS.length];
    context.beginPath();
    rows.forEach((row, n) => context.lineTo(n * step, y(row[name])));
    context.stroke();
  });
  scaleText(context, low, high, height);
}

function bars(context: CanvasRenderingContext2D, rows: Rows, names: string[], width: number, height: number) {
  const step = width / Math.max(rows.length, 60);
  const sums = rows.map((row) => names.reduce((sum, name) => sum + (row[name] ?? 0), 0));
  const ascending = [...sums].sort((a, b) => a - b);
  const high = Math.min(ascending[sums.length - 1], 4 * ascending[Math.floor(sums.length / 2)]) || 1; // a step that compiles is cut off
  rows.forEach((row, n) => {
    let below = 0;
    names.forEach((name, k) => {
      const part = ((row[name] ?? 0) * height) / high;
      context.fillStyle = COLORS[k % COLORS.length];
      context.fillRect(n * step, height - below - part, step + 0.5, part);
      below += part;
    });
  });
  scaleText(context, 0, high, height);
}
