// Values that may change in time: typed as numbers, or as a curve with points that can be dragged.
import { useRef } from "preact/hooks";
import { type Edit, Input, NumberField, parse, Row, show, useEdit, VectorField } from "./fields";
import type { Path } from "./messages";

interface Curve { times: number[]; values: (number | number[])[] }
interface Props { label: string; unit: string; path: Path; value: any; edit: Edit }

const [WIDTH, HEIGHT, EDGE] = [280, 96, 8];
const COLORS = ["#c2410c", "#15803d", "#1d4ed8"];
const AXES = ["x", "y", "z"];

const parts = (value: number | number[]): number[] => (typeof value === "number" ? [value] : value);
const isCurve = (value: any): value is Curve => Boolean(value?.times);
const round = (value: number) => Number(value.toPrecision(4));

/** A number or vector of the scene, constant or over time. */
export function MovingField(props: Props) {
  const { put, error } = useEdit(props.edit, props.path, props.value);
  if (!isCurve(props.value)) {
    const zero = typeof props.value === "number" ? 0 : [0, 0, 0];
    const more = <button class="small" title="Let it change over time" aria-label="over time" onClick={() => put({ times: [0, 1], values: [zero, props.value] })}>f(t)</button>;
    return (
      <div>
        {typeof props.value === "number" ? <NumberField {...props} more={more} /> : <VectorField {...props} usual={[0, 0, 0]} more={more} />}
        {error && <div class="error" role="alert">{error}</div>}
      </div>
    );
  }
  const { times, values } = props.value;
  const change = (next: Curve) => put(next);
  const add = () => change({ times: [...times, round(2 * times[times.length - 1] - times[times.length - 2])], values: [...values, values[values.length - 1]] });
  return (
    <div class="curve">
      <Row label={props.label} unit={props.unit} error={error} path={props.path}><span class="hint">over time</span></Row>
      <Plot curve={props.value} change={change} />
      <Table curve={props.value} change={change} unit={props.unit} label={props.label} />
      <button class="small" onClick={add}>Add a point</button>
      <button class="small" onClick={() => put(values[values.length - 1])}>Constant</button>
    </div>
  );
}

/** The curve; its points are dragged, times stay in their order. */
function Plot({ curve, change }: { curve: Curve; change(next: Curve): void }) {
  const home = useRef<SVGSVGElement>(null);
  const held = useRef<{ point: number; part: number } | null>(null);
  const { times, values } = curve;
  const last = times[times.length - 1];
  const all = values.flatMap(parts);
  const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
  const span = high - low || 1;
  const x = (time: number) => EDGE + ((WIDTH - 2 * EDGE) * (time - times[0])) / (last - times[0] || 1);
  const y = (value: number) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - low)) / span;
  const drag = (event: PointerEvent) => {
    if (!held.current) return;
    const box = home.current!.getBoundingClientRect();
    const { point, part } = held.current;
    const time = times[0] + ((event.clientX - box.left - EDGE) / (WIDTH - 2 * EDGE)) * (last - times[0]);
    const value = low + ((HEIGHT - EDGE - (event.clientY - box.top)) / (HEIGHT - 2 * EDGE)) * span;
    held.current = null;
    const between = point === 0 ? times[0] : point === times.length - 1 ? last
      : Math.min(Math.max(time, times[point - 1] + 1e-3 * last), times[point + 1] - 1e-3 * last);
    const put = (old: number | number[]) => (typeof old === "number" ? round(value) : old.map((each, k) => (k === part ? round(value) : each)));
    change({ times: times.map((each, k) => (k === point ? round(between) : each)), values: values.map((each, k) => (k === point ? put(each) : each)) });
  };
  return (
    <svg ref={home} class="plot" width={WIDTH} height={HEIGHT} role="img" aria-label="curve over time" onPointerUp={drag}>
      <line x1={EDGE} x2={WIDTH - EDGE} y1={y(0)} y2={y(0)} stroke="#c3cad0" />
      <text x={EDGE} y={10} class="scale">{show(round(high))}</text>
      <text x={EDGE} y={HEIGHT - 1} class="scale">{show(round(low))}</text>
      <text x={WIDTH - EDGE} y={HEIGHT - 1} text-anchor="end" class="scale">{show(round(last))} s</text>
      {parts(values[0]).map((_, part) => (
        <g>
          <polyline fill="none" stroke={COLORS[part]} points={values.map((value, k) => `${x(times[k])},${y(parts(value)[part])}`).join(" ")} />
          {values.map((value, point) => (
            <circle cx={x(times[point])} cy={y(parts(value)[part])} r={5} fill={COLORS[part]} data-point={`${point}.${part}`}
              onPointerDown={(event) => { held.current = { point, part }; home.current!.setPointerCapture(event.pointerId); }} />
          ))}
        </g>
      ))}
    </svg>
  );
}

function Table({ curve, change, unit, label }: { curve: Curve; change(next: Curve): void; unit: string; label: string }) {
  const { times, values } = curve;
  const cell = (name: string, value: number, put: (value: number) => Curve) => (
    <Input name={name} text={show(value)} cancel={() => undefined} done={(text) => {
      const typed = parse(text);
      if (typeof typed === "number") change(put(typed));
    }} />
  );
  const width = parts(values[0]).length;
  return (
    <div class="points">
      <div class="inputs head"><span>s</span>{width > 1 ? AXES.map((axis, k) => <span style={{ color: COLORS[k] }}>{axis} {unit}</span>) : <span>{unit}</span>}<span /></div>
      {times.map((time, k) => (
        <div class="inputs">
          {cell(`${label} time ${k + 1}`, time, (typed) => ({ times: times.map((old, at) => (at === k ? typed : old)), values }))}
          {parts(values[k]).map((value, part) => cell(`${label} ${k + 1} ${AXES[part]}`, value, (typed) => ({
            times, values: values.map((old, at) => (at !== k ? old : typeof old === "number" ? typed : old.map((each, i) => (i === part ? typed : each)))),
          })))}
          <button class="small" aria-label={`remove point ${k + 1}`} disabled={times.length < 3}
            onClick={() => change({ times: times.filter((_, at) => at !== k), values: values.filter((_, at) => at !== k) })}>×</button>
        </div>
      ))}
    </div>
  );
}
