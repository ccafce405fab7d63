// The material panel: laws and their numbers, presets, a law of one's own, plasticity, and how the material answers a pull.
import { useEffect, useState } from "preact/hooks";
import { ChoiceField, type Edit, FlagField, NumberField, Row, stressText, TextField } from "./fields";
import type { Catalogue, Path, Table } from "./messages";
import type { PanelProps } from "./properties";

const OWN = "a formula of your own";
const PLASTIC = { yield_strain: 0.05, creep: 10, max_strain: 0.5 };

export function MaterialPanel({ state, table, path, edit, ask }: PanelProps) {
  const named = typeof table.material === "string";
  const place: Path = named ? ["materials", table.material] : [...path, "material"];
  const material: Table = named ? state.tables.materials?.[table.material] ?? {} : table.material;
  const catalogue = state.catalogue as Catalogue;
  const at = (key: string) => [...place, key];
  const bodies: Table[] = ["soft", "cloth", "rod"].flatMap((kind) => state.tables[kind] ?? []);
  const shared = named && bodies.filter((body) => body.material === table.material).length > 1;
  const own = material.energy !== undefined;
  return (
    <fieldset class="material">
      <legend>Material{named && ` “${table.material}”`}</legend>
      {shared && <p class="hint">Other bodies are made of it too.</p>}
      <Preset place={place} edit={edit} presets={catalogue.presets ?? {}} />
      <Law place={place} material={material} edit={edit} catalogue={catalogue} />
      {own ? <Formula place={place} material={material} edit={edit} /> : (
        <div>
          <NumberField label="Young's modulus" unit="Pa" path={at("young")} value={material.young} edit={edit} />
          <NumberField label="Poisson's ratio" path={at("poisson")} value={material.poisson} edit={edit} />
        </div>
      )}
      <NumberField label="density" unit="kg/m³" path={at("density")} value={material.density} edit={edit} />
      <NumberField label="damping" unit="s" path={at("damping")} value={material.damping} usual={0} edit={edit} />
      <NumberField label="mass damping" unit="1/s" path={at("mass_damping")} value={material.mass_damping} usual={0} edit={edit} />
      <FlagField label="plastic" path={at("plasticity")} value={Boolean(material.plasticity)} usual={false}
        edit={{ ...edit, put: (where, yes) => edit.put(where, yes ? PLASTIC : undefined) }} />
      {material.plasticity && ["yield_strain", "creep", "max_strain"].map((key) => (
        <NumberField label={key.replace("_", " ")} unit={key === "creep" ? "1/s" : undefined}
          path={[...at("plasticity"), key]} value={material.plasticity[key]} edit={edit} />
      ))}
      {path[0] !== "rod" && <Curve material={material} ask={ask} />}
    </fieldset>
  );
}

function Preset(props: { place: Path; edit: Edit; presets: { [name: string]: Table } }) {
  const [error, setError] = useState("");
  return (
    <Row label="take" path={["preset"]} error={error}>
      <select aria-label="material preset" value="" onChange={(event) => {
        const preset = props.presets[event.currentTarget.value];
        event.currentTarget.value = "";
        if (preset) props.edit.put(props.place, preset).then(() => setError(""), (wrong: Error) => setError(wrong.message));
      }}>
        <option value="">a preset…</option>
        {Object.keys(props.presets).map((name) => <option value={name}>{name}</option>)}
      </select>
    </Row>
  );
}

/** The law; a formula of one's own begins as a neo-Hookean law of the same stiffness, and goes back to one. */
function Law({ place, material, edit, catalogue }: { place: Path; material: Table; edit: Edit; catalogue: Catalogue }) {
  const own = material.energy !== undefined;
  const { energy, parameters, law, young, poisson, ...rest } = material;
  const choose: Edit = { ...edit, put: (where, value) => {
    if (value === OWN) {
      const mu = young / (2 * (1 + poisson));
      const start = { mu: Number(mu.toPrecision(6)), k: Number((young / (3 * (1 - 2 * poisson))).toPrecision(6)) };
      return edit.put(place, { ...catalogue.energy, parameters: start, ...rest });
    }
    return own ? edit.put(place, { law: value, young: 5e5, poisson: 0.45, ...rest }) : edit.put(where, value);
  } };
  return <ChoiceField label="law" path={[...place, "law"]} value={own ? OWN : law} choices={[...(catalogue.laws ?? [law]), OWN]} edit={choose} />;
}

function Formula({ place, material, edit }: { place: Path; material: Table; edit: Edit }) {
  const parameters: { [name: string]: number } = material.parameters ?? {};
  const put = (next: Table) => edit.put([...place, "parameters"], next);
  // a name that is new in the formula is a parameter, and one that is gone is none any more
  const change: Edit = { ...edit, put: (_, value) => {
    const names = [...new Set(String(value ?? "").match(/[A-Za-z_]\w*(?!\w*\s*\()/g) ?? [])];
    const known = ["s1", "s2", "s3", "I1", "I2", "J"];
    const kept = Object.fromEntries(names.filter((name) => !known.includes(name)).map((name) => [name, parameters[name] ?? 1]));
    return edit.put(place, { ...material, energy: value ?? "", parameters: kept });
  } };
  return (
    <div>
      <TextField label="energy" unit="J/m³" path={[...place, "energy"]} value={material.energy} edit={change} />
      {Object.entries(parameters).map(([name, value]) => (
        <NumberField label={name} path={[...place, "parameters", name]} value={value}
          edit={{ ...edit, put: (_, next) => put({ ...parameters, [name]: next ?? 0 }) }} />
      ))}
      <p class="hint">Of the stretches s1, s2, s3, or of I1, I2 and J = s1 s2 s3; other names are parameters. It must be without stress at rest.</p>
    </div>
  );
}

interface Pulled { stretch: number[]; stress: number[]; across: number[] }

const [WIDTH, HEIGHT, LEFT] = [306, 132, 58];

/** Nominal stress of a bar over its stretch, computed anew whenever the material changes. */
function Curve({ material, ask }: { material: Table; ask(what: string, args?: Table): Promise<any> }) {
  const [pulled, setPulled] = useState<(Pulled & { of: string }) | null>(null);
  const [error, setError] = useState("");
  const said = JSON.stringify(material);
  useEffect(() => {
    let gone = false;
    const timer = setTimeout(() => ask("curve", { material }).then(
      (found) => gone || (setPulled({ ...found, of: said }), setError("")), (wrong: Error) => gone || (setPulled(null), setError(wrong.message))), 150);
    return () => { gone = true; clearTimeout(timer); };
  }, [said]);
  if (error || !pulled?.stretch.length) { // as high as the curve, so that nothing moves when it comes
    return <p class="hint waiting">{error ? `No stress over stretch: ${error}` : "Stress over stretch is being computed…"}</p>;
  }
  const [low, high] = [Math.min(...pulled.stress), Math.max(...pulled.stress)];
  const [first, last] = [pulled.stretch[0], pulled.stretch[pulled.stretch.length - 1]];
  const x = (stretch: number) => LEFT + ((WIDTH - LEFT - 8) * (stretch - first)) / (last - first || 1);
  const y = (stress: number) => 8 + ((HEIGHT - 42) * (high - stress)) / (high - low || 1);
  return (
    <svg class={pulled.of === said ? "plot" : "plot stale"} data-plot="stress" width={WIDTH} height={HEIGHT} role="img" aria-label="stress over stretch">
      <line x1={LEFT} x2={WIDTH - 8} y1={y(0)} y2={y(0)} stroke="#c3cad0" />
      <line x1={x(1)} x2={x(1)} y1={8} y2={HEIGHT - 32} stroke="#c3cad0" />
      <polyline fill="none" stroke="#2f7f88" stroke-width="2" points={pulled.stretch.map((each, k) => `${x(each)},${y(pulled.stress[k])}`).join(" ")} />
      {pulled.stretch.map((each, k) => (
        <circle cx={x(each)} cy={y(pulled.stress[k])} r={3} fill="#2f7f88"><title>{`stretch ${each}: ${stressText(pulled.stress[k])}, across ${pulled.across[k].toFixed(3)}`}</title></circle>
      ))}
      {[low, 0, high].filter((each, k, all) => k === 1 || Math.abs(y(each) - y(all[1])) > 11).map((each) => <text x={LEFT - 4} y={y(each) + 4} text-anchor="end" class="scale">{stressText(each)}</text>)}
      {[first, 1, last].map((each) => <text x={x(each)} y={HEIGHT - 19} text-anchor="middle" class="scale">{each}</text>)}
      <text x={(WIDTH + LEFT) / 2} y={HEIGHT - 5} text-anchor="middle" class="scale">stretch of a bar that is pulled; nominal stress</text>
    </svg>
  );
}
