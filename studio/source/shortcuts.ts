// Keys that do something wherever the mouse is, but where text is typed.

/** Listen to keys; each is said as the browser names it, in small letters, behind "ctrl+" and "shift+". */
export function listen(actions: { [key: string]: () => void }): () => void {
  const keys = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).matches?.("input:not([type=checkbox]):not([type=range]), select, textarea")) return;
    const key = (event.ctrlKey || event.metaKey ? "ctrl+" : "") + (event.shiftKey ? "shift+" : "") + event.key.toLowerCase();
    if (!actions[key] || event.repeat && key === " ") return;
    event.preventDefault();
    actions[key]();
  };
  addEventListener("keydown", keys);
  return () => removeEventListener("keydown", keys);
}
