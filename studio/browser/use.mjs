// Uses the studio as a person does, by mouse and keyboard, from an empty page to a running scene.
//   node use.mjs ADDRESS FOLDER_FOR_PICTURES SURFACE.stl
// Prints one JSON object per line: what was seen after each deed. Any error of the page ends it.
import { join } from "node:path";
import { start } from "./browser.mjs";

const [address, folder, surface] = process.argv.slice(2);
let browser;
try {
  browser = await start();
} catch (error) {
  console.log(JSON.stringify({ deed: "no browser", why: String(error.message).split("\n")[0] }));
  process.exit(3);
}
const page = await browser.newPage({ viewport: { width: 1400, height: 860 } });
page.setDefaultTimeout(20000);
const faults = [];
const asked = new Set();
page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
page.on("pageerror", (error) => faults.push(error.message));
page.on("request", (request) => asked.add(new URL(request.url()).origin));
page.on("dialog", (dialog) => dialog.accept());

const say = (deed, seen = {}) => console.log(JSON.stringify({ deed, ...seen }));
const shot = (name) => page.screenshot({ path: join(folder, `${name}.png`) });
const number = async (name) => page.locator(`[data-number="${name}"]`).innerText();
const shows = (name, pattern) => page.locator(`[data-number="${name}"]`, { hasText: pattern }).waitFor();
const field = (path) => page.locator(`[data-path="${path}"] input, [data-path="${path}"] select`);
const type = async (path, value, index = 0) => {
  const input = field(path).nth(index);
  await input.fill(String(value));
  await input.press("Enter");
};
const tree = (name) => page.locator("nav").getByRole("button", { name, exact: true });
const names = () => page.locator("nav li button").allInnerTexts();
const add = async (what, name) => {
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.locator(".sheet").getByRole("button", { name: what, exact: true }).click();
  await tree(name).waitFor();
};
const button = (name) => page.getByRole("button", { name, exact: true });
const canvas = async () => (await page.locator(".canvas").boundingBox());
const picture = () => page.evaluate(() => {
  const source = document.querySelector(".canvas canvas");
  const small = document.createElement("canvas");
  [small.width, small.height] = [60, 40];
  small.getContext("2d").drawImage(source, 0, 0, 60, 40);
  return Array.from(small.getContext("2d").getImageData(0, 0, 60, 40).data);
});
const changed = (first, second) => first.filter((value, k) => Math.abs(value - second[k]) > 12).length;

const began = Date.now();
await page.goto(address);
await shows("state", "at the start");
say("open", { milliseconds: Date.now() - began, address: page.url(), names: await names() });

await add("Soft beam", "beam");
await type("new pin", "x < 0.01");
await field("soft.0.pin.0.nodes").waitFor();
await add("Rigid ball", "ball");
await type("rigid.0.position", 1, 0);
await type("rigid.0.position", 0.8, 2);
await button("Add").click();
await button("Joint…").click();
await page.getByLabel("joint a", { exact: true }).selectOption("ball");
await page.getByLabel("joint b", { exact: true }).selectOption("beam");
await page.getByLabel("joint at").fill("1, 0, 1");
await button("Add joint").click();
await add("Floor", "floor");
await add("Soft box", "soft box");
await type("soft.1.position", 0.8, 0);
await type("soft.1.position", 0.02, 2);
await page.waitForTimeout(500);
await button("fit").click();
await page.waitForTimeout(300);
say("build", { names: await names(), size: await number("size") });
await shot("built");

await tree("soft box").click();
await type("soft.1.material.young", "-5");
const error = page.locator('[data-path="soft.1.material.young"] .error');
await error.waitFor();
say("wrong number", { error: await error.innerText() });
await page.keyboard.press("Escape");

const before = await picture();
await page.locator("h2").first().click();
await page.keyboard.press("Space");
await shows("state", /^playing$/);
await page.waitForFunction(() => parseFloat(document.querySelector('[data-number="time"]').textContent) > 0.15, null, { timeout: 180000 });
await page.getByLabel("colour", { exact: true }).selectOption("stress");
await page.locator(".legend").waitFor();
const clicked = Date.now();
await button("Pause").click();
await shows("state", "paused");
say("play", {
  pause: Date.now() - clicked, time: await number("time"), converged: await number("converged"),
  iterations: await number("iterations"), moved: changed(before, await picture()), legend: await page.locator(".legend").innerText(),
});
await shot("played");

await tree("beam").click();
await type("soft.0.material.young", 2000000);
await shows("state", "at the start");
await page.getByLabel("law", { exact: true }).selectOption("corotated");
await page.waitForFunction(() => document.querySelector('[data-path="soft.0.material.law"] select').value === "corotated");
await page.getByLabel("colour", { exact: true }).selectOption("none");
say("material", { young: await field("soft.0.material.young").inputValue(), steps: await number("steps") });

await tree("ball").click();
const box = await canvas();
await page.locator("h2").first().click();
await page.keyboard.press("Control+z");
await page.keyboard.press("Control+z");
await tree("beam").click();
await page.waitForFunction(() => document.querySelector('[data-path="soft.0.material.young"] input').value === "500000");
say("undo", { young: await field("soft.0.material.young").inputValue() });

await page.mouse.click(box.x + box.width - 30, box.y + 120);
const seen = await picture();
await page.mouse.move(box.x + box.width / 2, box.y + box.height - 60);
await page.mouse.down({ button: "right" });
await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height - 60, { steps: 5 });
await page.mouse.up({ button: "right" });
await page.waitForTimeout(200);
const panned = await picture();
await page.mouse.wheel(0, -400);
await page.waitForTimeout(200);
say("camera", { panned: changed(seen, panned), zoomed: changed(panned, await picture()) });
await page.keyboard.press("0");

await button("File").click();
await page.getByLabel("file name").fill("made.toml");
await button("Save").click();
await page.locator(".name", { hasText: "made.toml" }).waitFor();
await button("File").click();
await button("Copy as Python").click();
await page.locator("textarea").waitFor();
say("python", { text: await page.locator("textarea").inputValue() });
await button("Close").click();

await tree("soft box").click();
await page.keyboard.press("Delete");
await tree("soft box").waitFor({ state: "detached" });
await tree("ball").click();
await page.keyboard.press("Delete");
await tree("ball").first().waitFor({ state: "detached" });
say("delete", { names: await names() });

await button("Add").click();
await page.getByLabel("mesh file").setInputFiles(surface);
await page.getByLabel("size of tets").fill("0.1");
await button("Make body").click();
const refused = page.getByRole("dialog").locator(".error");
await refused.waitFor({ timeout: 120000 });
say("coarse mesh", { error: await refused.innerText() });
await page.getByLabel("size of tets").fill("0.06");
await button("Make body").click();
await tree("part").waitFor();
await button("Quality").click();
say("mesh", { quality: await page.locator(".quality").innerText(), size: await number("size") });
await page.locator("[data-path='soft.1.position'] input").nth(2).fill("0.05");
await page.keyboard.press("Enter");
await page.keyboard.press("f");
await page.waitForTimeout(400);
await shot("meshed");

await button("File").click();
await button("New scene").click();
await tree("beam").waitFor({ state: "detached" });
await add("Rigid ball", "ball");
await button("front").click();
await page.waitForTimeout(400);
const [x, y] = [box.x + box.width / 2, box.y + (await canvas()).height / 2];
await shot("gizmo");
await page.mouse.move(x + 70, y);
await page.mouse.down();
await page.mouse.move(x + 130, y, { steps: 6 });
await page.mouse.up();
await page.waitForFunction(() => document.querySelector('[data-path="rigid.0.position"] input').value !== "0");
say("gizmo", { position: await field("rigid.0.position").evaluateAll((inputs) => inputs.map((input) => input.value)) });

await tree("Scene").click();
await type("gravity", 0, 2);
await page.waitForTimeout(400);
await button("front").click();
await page.waitForTimeout(400);
await button("Play").click();
await shows("state", /^playing$/);
await page.waitForFunction(() => parseInt(document.querySelector('[data-number="steps"]').textContent) > 3, null, { timeout: 120000 });
const still = await picture();
await page.getByLabel("pull").check();
await page.mouse.move(x, y);
await page.mouse.down();
await page.mouse.move(x + 320, y - 180, { steps: 8 });
await page.waitForTimeout(700);
const pulled = await picture();
await page.mouse.up();
await page.getByLabel("pull").uncheck();
await button("Pause").click();
await shows("state", "paused");
const reached = await number("time");
await page.getByLabel("time line").focus();
await page.keyboard.press("Home");
await shows("time", "0.000");
say("pull", { moved: changed(still, pulled), reached, back: await number("time") });
await button("File").click();
await button("Save film of what has run").click();
await page.locator(".done", { hasText: "scene.webp" }).waitFor();
await button("File").click();
await button("Save picture").click();
await page.locator(".done", { hasText: "scene.png" }).waitFor();
say("film");

await button("File").click();
await page.locator(".sheet").getByRole("button", { name: "chain", exact: true }).click();
await tree("hook").first().waitFor();
await page.waitForTimeout(300);
await shot("example");
say("example", { names: await names() });
say("end", { faults, origins: [...asked] });
await browser.close();
