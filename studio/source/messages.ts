// What passes between the page and its server; see src/pliant/studio/messages.py.

export type Path = (string | number)[];
export type Kind = "soft" | "cloth" | "rigid" | "rod";
export type Table = { [key: string]: any };
export type Command = { do: string; path?: Path; value?: unknown; members?: Command[] };

/** What a key of a joint holds; start: with what number it begins where it is needed. */
export interface JointKey {
  kind: "name" | "point" | "points" | "direction" | "limits" | "coordinate" | "motor" | "nodes" | "flag" | "number" | "moving" | "path";
  unit: string; needed: boolean; start: number | null;
}

/** How a key of a body, a load or a rule of contact is edited; yes: a flag that is true where nothing is said. */
export interface BodyKey {
  kind: "number" | "flag" | "choice" | "vector" | "direction" | "moving" | "groups" | "numbers" | "nodes" | "other";
  unit: string; needed: boolean; yes: boolean; choices?: (string | number)[];
}

export interface Catalogue {
  laws: string[];
  presets: { [name: string]: Table };
  solvers: { [name: string]: { [option: string]: { kind: string; default: unknown } } };
  joints: { [type: string]: { [key: string]: JointKey } };
  /** Tables of bodies, loads and rules of contact, key by key. */
  keys: { [table: string]: { [key: string]: BodyKey } };
  fields: { [name: string]: string };
  colors: [number, number, number][];
  run: { dt: number; seconds: number };
  devices: string[];
  energy: Table;
  /** What the menu Add offers; stuff: of what a body from a file is made. */
  things: { title: string; kind: Kind; table: Table }[];
  stuff: Table;
}

export interface State {
  kind: "state";
  revision: number;
  tables: Table;
  name: string | null;
  saved: boolean;
  opened: number;
  undo: number;
  redo: number;
  phase: "starting" | "ready" | "building" | "playing" | "paused" | "ended";
  color: string;
  speed: number;
  limit: number | null;
  contacts: boolean;
  /** Where soft bodies are cut open: the normal of a plane and how far it is from the origin [m]. */
  cutting: [[number, number, number], number] | null;
  lost: string | null;
  scenes: string[];
  examples: { file: string; about: string; picture: string }[];
  catalogue: Partial<Catalogue>;
}

/** Where a joint holds: at a moved node, or at a point of a rigid shape or of the world, which of its places this is, and
 * the direction of its axis there. */
export interface Anchor { joint: number; place: number; point?: number; ring?: [number, number]; at?: [number, number, number]; axis?: [number, number, number] }
/** A load as an arrow, at a moved node or at a point of a rigid shape; inward: into the faces of a pressure; of a rod in
 * the middle of a ring of its surface, and a load `of` one of its points. */
export interface Load {
  kind: "force" | "torque" | "traction" | "pressure" | "wind"; number: number; vector: number[]; inward?: number[];
  point?: number; at?: number[]; ring?: [number, number]; of?: number;
}

export interface SoftSurface {
  name: string; color: string; drawn: boolean; points: number; triangles: number; moved: number; held: number;
  pinned: number; nodes: number; tets: number; loads: Load[]; anchors: Anchor[];
  /** How many pins it has; those with higher numbers are clamps. */
  pins: number;
}
export interface RigidSurface {
  name: string; color: string; flat: boolean; static: boolean; plane: number[] | null; points: number;
  triangles: number; anchors: Anchor[]; loads: Load[];
}
export interface RodSurface {
  name: string; color: string; points: number; triangles: number; loads: Load[]; anchors: Anchor[];
  clamps: { of: number; ring: [number, number] }[];
}

export interface Surfaces {
  kind: "surfaces";
  revision: number;
  soft: SoftSurface[];
  rods: RodSurface[];
  rigid: RigidSurface[];
  anchors: Anchor[];
  /** Joints that are lines from place to place: rods, ropes, springs, tendons. */
  lines: number[];
}

/** A natural mode: everything at rest, then everything where the mode takes it. */
export interface Mode { kind: "mode"; revision: number; number: number; frequency: number }
/** Places of all nodes of a soft body at the start. */
export interface Nodes { kind: "nodes"; revision: number; body: string }

export interface Frame {
  kind: "frame";
  revision: number;
  time: number;
  steps: number;
  seconds?: number;
  playing?: boolean;
  rate?: number | null;
  solver?: string;
  iterations?: number;
  converged?: boolean;
  imbalance?: number | null;
  contacts?: number;
  rows?: number;
  parts?: number;
  tangled?: string[];
  held?: string[];
  timings?: { [stage: string]: number };
  energy?: { [kind: string]: number };
  /** fresh: the frame says values; otherwise bodies keep the colours that they have. rods: they have it too, all: so have rigid bodies. */
  field?: { name: string; title: string; high: number; fresh: boolean; rods: boolean; all: boolean };
  kept?: number;
  full?: boolean;
  /** How much memory the frames kept take, and may take [MiB]. */
  memory?: [number, number];
  scrubbed?: boolean;
  touching?: [string, string][];
}

/** The arrays of a message, read one after the other. */
export class Arrays {
  constructor(private buffer: ArrayBuffer, private offset: number) {}

  get left(): number {
    return (this.buffer.byteLength - this.offset) / 4;
  }

  floats(count: number): Float32Array {
    this.offset += 4 * count;
    return new Float32Array(this.buffer, this.offset - 4 * count, count);
  }

  numbers(count: number): Uint32Array {
    this.offset += 4 * count;
    return new Uint32Array(this.buffer, this.offset - 4 * count, count);
  }
}

/** Why an edit was refused that was made for a scene which has changed meanwhile. */
export class Stale extends Error {}

interface Listener {
  state(state: State): void;
  surfaces(header: Surfaces, arrays: Arrays): void;
  frame(header: Frame, arrays: Arrays): void;
  mode(header: Mode, arrays: Arrays): void;
  nodes(header: Nodes, arrays: Arrays): void;
  note(kind: string, text: string): void;
  connected(yes: boolean): void;
}

/** The one WebSocket of the page. Requests are answered; states, surfaces and frames come by themselves. */
export class Connection {
  private socket!: WebSocket;
  private waiting = new Map<number, { what: string; resolve(value: any): void; reject(error: Error): void }>();
  private next = 1;

  constructor(private listener: Listener) {
    this.open();
  }

  private open() {
    this.socket = new WebSocket(`ws://${location.host}/talk`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.listener.connected(true);
    this.socket.onmessage = (event) => this.take(event.data);
    this.socket.onclose = () => {
      this.listener.connected(false);
      for (const { reject } of this.waiting.values()) reject(new Error("the connection to the studio is lost"));
      this.waiting.clear();
      setTimeout(() => this.open(), 1000);
    };
  }

  ask(what: string, args: Table = {}): Promise<any> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      if (this.socket.readyState !== WebSocket.OPEN) return reject(new Error("the studio is not connected"));
      this.waiting.set(id, { what, resolve, reject });
      this.socket.send(JSON.stringify({ ...args, do: what, id }));
    });
  }

  /** Whether the server has answered everything but what is computed on the side. */
  get idle(): boolean {
    return [...this.waiting.values()].every(({ what }) => what === "curve");
  }

  /** Ask for something whose answer nobody waits for. */
  tell(what: string, args: Table = {}) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ ...args, do: what }));
  }

  drawn() {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send('{"do":"drawn"}');
  }

  private take(data: string | ArrayBuffer) {
    if (typeof data !== "string") return this.takeBinary(data);
    const message = JSON.parse(data);
    if (message.kind === "state") this.listener.state(message);
    else if (message.kind === "reply") {
      const request = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (!request) return;
      if ("error" in message) request.reject(message.stale ? new Stale(message.error) : new Error(message.error));
      else request.resolve(message.value);
    } else this.listener.note(message.kind, message.text);
  }

  private takeBinary(data: ArrayBuffer) {
    const length = new DataView(data).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    const arrays = new Arrays(data, 4 + length);
    if (header.kind === "surfaces") this.listener.surfaces(header, arrays);
    else if (header.kind === "frame") this.listener.frame(header, arrays);
    else if (header.kind === "mode") this.listener.mode(header, arrays);
    else if (header.kind === "nodes") this.listener.nodes(header, arrays);
  }
}
