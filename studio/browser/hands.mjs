// Hands and eyes for tests in a browser: a page of the studio that is used by mouse and keyboard.
// Nothing here waits for a time: only for what is to be seen, as long as it takes.
import { join } from "node:path";
import { start } from "./browser.mjs";

const PATIENCE = Number(process.env.PLIANT_PATIENCE ?? 150000);

export async function open(address, folder, size = { width: 1040, height: 720 }) {
  const browser = await start();
  const page = await browser.newPage({ viewport: size });
  page.setDefaultTimeout(PATIENCE);
  const faults = [];
  const asked = new Set();
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => asked.add(new URL(request.url()).origin));
  const hands = new Hands(page, folder);
  page.on("dialog", (dialog) => {
    hands.questions.push(dialog.message());
    dialog.accept();
  });
  await page.goto(address);
  return { browser, page, hands, faults, asked };
}

export class Hands {
  questions = [];

  constructor(page, folder) {
    this.page = page;
    this.folder = folder;
  }

  shot(name) {
    return this.page.screenshot({ path: join(this.folder, `${name}.png`) });
  }

  /** A picture of the page, and one of the view alone, which is compared with the one that is kept of it. */
  async seen(name) {
    await this.until(() => window.studioPage().view.still);
    await this.page.mouse.move(5, 700);
    await this.shot(name);
    await this.dismiss();
    await this.page.locator(".canvas").screenshot({ path: join(this.folder, `view-${name}.png`) });
  }

  /** Close the notes that lie over the view; they also go by themselves after a while. */
  async dismiss() {
    const notes = this.page.getByRole("button", { name: "dismiss" });
    while (await notes.count()) await notes.first().click({ timeout: 2000 }).catch(() => undefined);
    await this.page.mouse.move(5, 700);
  }

  /** Wait until a function of the page says yes. */
  until(condition, argument) {
    return this.page.waitForFunction(condition, argument, { timeout: PATIENCE, polling: 50 });
  }

  number(name) {
    return this.page.locator(`[data-number="${name}"]`).innerText();
  }

  shows(name, pattern) {
    return this.page.locator(`[data-number="${name}"]`, { hasText: pattern }).waitFor();
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  press(name) {
    return this.button(name).click();
  }

  field(path) {
    return this.page.locator(`[data-path="${path}"] input, [data-path="${path}"] select`);
  }

  /** Type into a field and wait until the scene has it. */
  async type(path, value, index = 0, shown = String(value)) {
    const input = this.field(path).nth(index);
    await input.fill(String(value));
    await input.press("Enter");
    await this.settled();
    await this.until(([path, index, shown]) => document.querySelectorAll(`[data-path="${path}"] input`)[index]?.value === shown, [path, index, shown]);
  }

  async choose(label, value) {
    await this.page.getByLabel(label, { exact: true }).selectOption(value);
  }

  async value(path, index = 0) {
    return this.field(path).nth(index).inputValue();
  }

  tree(name) {
    return this.page.locator("nav").getByRole("button", { name, exact: true });
  }

  names() {
    return this.page.locator("nav li button").allInnerTexts();
  }

  async add(what, name) {
    await this.press("Add");
    await this.page.locator(".sheet").getByRole("button", { name: what, exact: true }).click();
    await this.tree(name).waitFor();
    await this.settled();
  }

  async file(what) {
    await this.press("File");
    await this.page.locator(".sheet").getByRole("button", { name: what, exact: true }).click();
  }

  /** The view shows the scene that the page has, and has been drawn. */
  async settled() {
    await this.until(() => {
      const { state, view, idle } = window.studioPage();
      return idle && state.phase !== "starting" && state.phase !== "building" && view.current(state.revision);
    });
  }

  async played(seconds) {
    await this.until((seconds) => parseFloat(document.querySelector('[data-number="time"]').textContent) >= seconds, seconds);
  }

  /** Where a point of the scene is on the screen [pixels]. */
  async place(x, y, z) {
    const at = await this.page.evaluate(([x, y, z]) => window.studioPage().view.placeOf(x, y, z), [x, y, z]);
    const box = await this.page.locator(".canvas").boundingBox();
    return [box.x + at[0], box.y + at[1]];
  }

  async drag(from, to, steps = 6, button = "left") {
    await this.page.mouse.move(...from);
    await this.page.mouse.down({ button });
    await this.page.mouse.move(...to, { steps });
    await this.page.mouse.up({ button });
  }

  /** A small copy of what the view shows, as numbers; taken when it has been drawn. */
  async picture() {
    await this.until(() => window.studioPage().view.still);
    return this.page.evaluate(() => {
      const source = document.querySelector(".canvas canvas");
      const small = document.createElement("canvas");
      [small.width, small.height] = [60, 40];
      small.getContext("2d").drawImage(source, 0, 0, 60, 40);
      return Array.from(small.getContext("2d").getImageData(0, 0, 60, 40).data);
    });
  }
}

export const changed = (first, second) => first.filter((value, k) => Math.abs(value - second[k]) > 12).length;
