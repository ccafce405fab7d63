// What helps a person who is new here: a gallery of examples, and what keys and the mouse do.
import type { State } from "./messages";

export function Gallery(props: { examples: State["examples"]; open(file: string): void }) {
  return (
    <div class="gallery">
      {props.examples.map(({ file, about, picture }) => (
        <button onClick={() => props.open(file)}>
          {picture && <img src={picture} alt="" />}
          <b>{file.replace(".toml", "")}</b>
          <span>{about}</span>
        </button>
      ))}
    </div>
  );
}

const KEYS: [string, string][] = [
  ["Space", "play or pause"], [".", "one step"], ["R", "back to the start"], ["Ctrl+Z, Ctrl+Y", "undo, redo"], ["Ctrl+S", "save"], ["Ctrl+D", "the selected thing once more"],
  ["Delete", "take out what is selected"], ["F, 0, 1, 3, 7, 9", "fit; oblique, front, right, top view; from the other side"], ["W, E", "gizmo: move, turn"], ["Esc", "end a tool, close what is open"],
  ["drag, right drag, wheel", "turn, move, zoom the view"], ["click", "select a body, a pin, a load, a joint"], ["Shift + drag", "pull on a body while the scene plays"],
  ["Shift, Alt", "with a tool: add to the selection, take away from it"],
];

export function Keys(props: { close(): void }) {
  return (
    <div class="dialog" role="dialog" aria-label="Keys and the mouse">
      <h2>Keys and the mouse<button class="small" onClick={props.close}>Close</button></h2>
      <dl class="keys">{KEYS.map(([key, does]) => [<dt>{key}</dt>, <dd>{does}</dd>])}</dl>
    </div>
  );
}
