// The panel on the left: everything that is in the scene; bodies can be hidden in the view.
import type { Table } from "./messages";
import type { Chosen } from "./properties";

const GROUPS = { soft: "Soft bodies", cloth: "Sheets", rigid: "Rigid bodies", rod: "Rods", joint: "Joints", contact: "Rules of contact" } as const;

interface Props {
  tables: Table; chosen: Chosen; choose(chosen: Chosen): void; hidden: Set<string>; hide(names: Set<string>): void;
}

export function Tree(props: Props) {
  const { hidden } = props;
  const item = (kind: Chosen["kind"], index: number, text: string, body?: string) => {
    const on = props.chosen.kind === kind && props.chosen.index === index;
    const away = body !== undefined && hidden.has(body);
    return (
      <li>
        <button class={`${on ? "on" : ""} ${away ? "away" : ""}`} aria-pressed={on} onClick={() => props.choose({ kind, index })}>{text}</button>
        {body !== undefined && (
          <input type="checkbox" aria-label={`show ${body}`} title={`${away ? "Show" : "Hide"} ${body}`} checked={!away} onChange={() => {
            props.hide(new Set(away ? [...hidden].filter((each) => each !== body) : [...hidden, body]));
          }} />
        )}
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
            <ul>{entries.map((entry, k) => item(kind, k, entry.name ?? entry.between?.join(" – ") ?? `${entry.type ?? kind} ${k}`, kind === "joint" || kind === "contact" ? undefined : entry.name))}</ul>
          </section>
        );
      })}
    </div>
  );
}
