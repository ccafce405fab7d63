// Fields of the property panel: each says one key of the scene, with its unit, and shows what is wrong with it.
import { useEffect, useState } from "preact/hooks";
import type { Command, Path } from "./messages";

export interface Edit {
  /** Put a value at a path, or take it out where it is undefined. */
  put(path: Path, value: unknown): Promise<void>;
  /** Change one of the numbers at a path; usual: what is there where nothing is said. */
  part(path: Path, index: number, value: number, usual: number[]): Promise<void>;
  /** Several commands as one. */
  many(commands: Command[]): Promise<void>;
}

interface Props {
  label: string;
  path: Path;
  value: any;
  edit: Edit;
  unit?: string;
  /** What holds where nothing is said. */
  usual?: any;
}

const id = (path: Path) => path.join(".");

function useEdit(edit: Edit, path: Path, value: unknown) {
  const [error, setError] = useState("");
  useEffect(() => setError(""), [JSON.stringify(value), id(path)]);
  const watch = (asked: Promise<void>) => asked.then(() => setError(""), (wrong: Error) => setError(wrong.message));
  const put = (next: unknown) => watch(edit.put(path, next));
  return { error, setError, put, watch };
}

function Row(props: { label: string; unit?: string; error: string; path: Path; children: any }) {
  return (
    <div class="row" data-path={id(props.path)}>
      <label>{props.label}{props.unit && <span class="unit"> {props.unit}</span>}</label>
      <div class="inputs">{props.children}</div>
      {props.error && <div class="error" role="alert">{props.error}</div>}
    </div>
  );
}

/** What a person types as a number: undefined for nothing, null for what is no number. */
function parse(text: string): number | undefined | null {
  if (!text.trim()) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

function Input(props: { name: string; text: string; usual?: string; done(text: string): void; cancel(): void }) {
  const [text, setText] = useState(props.text);
  useEffect(() => setText(props.text), [props.text]);
  const finish = () => text !== props.text && props.done(text);
  return (
    <input
      aria-label={props.name} value={text} placeholder={props.usual} spellcheck={false}
      onInput={(event) => setText(event.currentTarget.value)} onBlur={finish}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") {
          setText(props.text);
          props.cancel();
        }
      }}
    />
  );
}

const show = (value: any) => (value === undefined ? "" : String(value));

export function NumberField(props: Props) {
  const { error, setError, put } = useEdit(props.edit, props.path, props.value);
  const done = (text: string) => {
    const value = parse(text);
    if (value === null) setError(`${text} is not a number`);
    else put(value);
  };
  return (
    <Row {...props} error={error}>
      <Input name={props.label} text={show(props.value)} usual={show(props.usual)} done={done} cancel={() => setError("")} />
    </Row>
  );
}

export function VectorField(props: Props) {
  const { error, setError, watch } = useEdit(props.edit, props.path, props.value);
  if (props.value !== undefined && typeof props.value[0] !== "number") return <Fixed {...props} />;
  const values: number[] = props.value ?? props.usual;
  const done = (index: number, text: string) => {
    const value = parse(text);
    if (value === null || value === undefined) setError(`${text || "nothing"} is not a number`);
    else watch(props.edit.part(props.path, index, value, values));
  };
  return (
    <Row {...props} error={error}>
      {values.map((value, k) => (
        <Input name={`${props.label} ${k + 1}`} text={show(value)} done={(text) => done(k, text)} cancel={() => setError("")} />
      ))}
    </Row>
  );
}

export function TextField(props: Props) {
  const { error, setError, put } = useEdit(props.edit, props.path, props.value);
  if (props.value !== undefined && typeof props.value !== "string") return <Fixed {...props} />;
  return (
    <Row {...props} error={error}>
      <Input
        name={props.label} text={show(props.value)} usual={props.usual} done={(text) => put(text || undefined)}
        cancel={() => setError("")}
      />
    </Row>
  );
}

export function ChoiceField(props: Props & { choices: string[] }) {
  const { error, put } = useEdit(props.edit, props.path, props.value);
  return (
    <Row {...props} error={error}>
      <select aria-label={props.label} value={props.value ?? props.usual} onChange={(event) => put(event.currentTarget.value)}>
        {props.choices.map((choice) => <option value={choice}>{choice}</option>)}
      </select>
    </Row>
  );
}

export function FlagField(props: Props) {
  const { error, put } = useEdit(props.edit, props.path, props.value);
  return (
    <Row {...props} error={error}>
      <input
        type="checkbox" aria-label={props.label} checked={props.value ?? props.usual}
        onChange={(event) => put(event.currentTarget.checked)}
      />
    </Row>
  );
}

/** What is shown as the scene file says it, and not edited here. */
export function Fixed(props: { label: string; path: Path; value: any; unit?: string }) {
  const text = JSON.stringify(props.value);
  return (
    <Row {...props} error="">
      <code class="fixed">{text.length > 160 ? `${text.slice(0, 157)}...` : text}</code>
    </Row>
  );
}
