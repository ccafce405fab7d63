// The panel on the left: everything that is in the scene.
import type { Table } from "./messages";
import type { Chosen } from "./properties";

const GROUPS = { soft: "Soft bodies", cloth: "Sheets", rigid: "Rigid bodies", rod: "Rods", joint: "Joints" } as const;

export function Tree(props: { tables: Table; chosen: Chosen; choose(chosen: Chosen): void }) {
  const item = (kind: Chosen["kind"], index: number, text: string) => {
    const on = props.chosen.kind === kind && props.chosen.index === index;
    return (
      <li>
        <button class={on ? "on" : ""} aria-pressed={on} onClick={() => props.choose({ kind, index })}>{text}</button>
      </li>
    );
  };
  const kinds = Object.entries(GROUPS) as [keyof typeof GROUPS, string][];
  return (
    <div class="tree">
      <ul>{item("scene", 0, "Scene")}{item("run", 0, "Solver")}</ul>
      {kinds.map(([kind, title]) => {
        const entries: Table[] = props.tables[kind] ?? [];
        if (!entries.length) return null;
        return (
          <section>
            <h2>{title}</h2>
            <ul>{entries.map((entry, k) => item(kind, k, entry.name ?? `${entry.type ?? kind} ${k}`))}</ul>
          </section>
        );
      })}
    </div>
  );
}
