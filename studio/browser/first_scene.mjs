// From an empty page: a soft beam clamped at one end, a rigid ball hanging from its tip above a soft cube, and a part from
// an STL file; it is played, paused, changed, filmed and copied as Python.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { changed } from "./hands.mjs";

export async function build(hands, page) {
  await hands.add("Soft beam", "beam");
  await hands.press("front");
  await hands.press("box");
  const [left, top] = await hands.place(-0.03, -0.1, 1.25);
  await hands.drag([left, top], await hands.place(0.06, -0.1, 0.95));
  await hands.shows("selected", "9 nodes selected");
  await hands.press("Pin");
  await hands.field("soft.0.pin.0.nodes").or(page.locator('[data-path="soft.0.pin.0.nodes"] code')).first().waitFor();
  await hands.settled();
  await hands.add("Rigid ball", "ball");
  await hands.type("rigid.0.position", 1, 0);
  await hands.type("rigid.0.position", "75 cm", 2, "0.75");
  await hands.press("oblique");
  await hands.press("Add");
  await hands.press("Joint…");
  await page.mouse.click(...(await hands.place(1, 0, 0.75)));
  await hands.until(() => document.querySelector('[aria-label="joint a"]').value === "ball");
  await page.mouse.click(...(await hands.place(0.9, -0.1, 1.1)));
  await hands.until(() => document.querySelector('[aria-label="joint b"]').value === "beam");
  const picked = await page.getByLabel("joint at").inputValue();
  await page.getByLabel("joint at").fill("1, 0, 1");
  await hands.press("Add joint");
  await hands.tree("ball joint").waitFor();
  await hands.settled();
  await hands.add("Floor", "floor");
  await hands.add("Soft box", "soft box");
  await hands.type("soft.1.position", 0.8, 0);
  await hands.type("soft.1.position", 0.02, 2);
  await hands.type("soft.1.mesh.cells", 3, 0);
  await hands.type("soft.1.mesh.cells", 3, 1);
  await hands.type("soft.1.mesh.cells", 3, 2);
  await hands.press("fit");
  await hands.seen("built");
  return { names: await hands.names(), size: await hands.number("size"), picked };
}

/** A file is dropped on the page. */
async function drop(page, path) {
  const files = await page.evaluateHandle(([name, data]) => {
    const made = new DataTransfer();
    made.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name));
    return made;
  }, [basename(path), readFileSync(path).toString("base64")]);
  await page.dispatchEvent(".studio", "drop", { dataTransfer: files });
}

export async function mesh(hands, page, surface) {
  await hands.press("Add");
  await page.getByLabel("mesh file").setInputFiles(surface);
  await page.getByLabel("size of tets").fill("0.9");
  await hands.press("Make body");
  const refused = page.getByRole("dialog").locator(".error");
  await refused.waitFor();
  const error = await refused.innerText();
  await hands.press("Cancel");
  await drop(page, surface);
  await page.getByLabel("size of tets").fill("10 cm");
  await hands.press("Make body");
  await hands.tree("part").waitFor();
  await hands.settled();
  await hands.type("soft.2.position", 0.9, 2);
  await hands.type("soft.2.position", -0.6, 0);
  await hands.press("Quality");
  const quality = await page.locator(".quality").innerText();
  await page.getByLabel("mark the worst tets").check();
  await hands.press("fit");
  await hands.seen("meshed");
  return { error, quality, size: await hands.number("size") };
}

export async function play(hands, page) {
  await hands.tree("soft box").click();
  await hands.type("soft.1.material.young", "-5", 0);
  const error = await page.locator('[data-path="soft.1.material.young"] .error').innerText();
  await page.keyboard.press("Escape");
  const before = await hands.picture();
  await page.locator("legend").first().click();
  await page.keyboard.press("Space");
  await hands.shows("state", /^playing$/);
  await hands.played(0.1);
  await hands.choose("colour", "stress");
  await page.locator(".legend").waitFor();
  const clicked = Date.now();
  await hands.press("Pause");
  await hands.shows("state", "paused");
  await hands.shot("played");
  return {
    error, pause: Date.now() - clicked, time: await hands.number("time"), iterations: await hands.number("iterations"),
    moved: changed(before, await hands.picture()), legend: await page.locator(".legend").innerText(),
  };
}

/** The material is changed, run again, and changed back by undo. */
export async function change(hands, page) {
  await hands.tree("beam").click();
  await hands.type("soft.0.material.young", "2 MPa", 0, "2000000");
  await hands.shows("state", "at the start");
  await hands.choose("law", "corotated");
  await hands.until(() => document.querySelector('[data-path="soft.0.material.law"] select').value === "corotated");
  await hands.settled();
  const changed = { young: await hands.value("soft.0.material.young"), steps: await hands.number("steps") };
  await page.locator("legend").first().click();
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await hands.until(() => document.querySelector('[data-path="soft.0.material.young"] input').value === "500000");
  await page.keyboard.press("Control+y");
  await hands.until(() => document.querySelector('[data-path="soft.0.material.young"] input').value === "2000000");
  await hands.settled();
  return { ...changed, law: await hands.value("soft.0.material.law") };
}

/** Played again, with contacts shown; a film and a picture are saved, and the time line goes back. */
export async function film(hands, page) {
  await page.getByLabel("contacts").check();
  await hands.press("Play");
  await hands.played(0.1);
  await hands.until(() => window.studioPage().view.symbols.touches.length > 0);
  await hands.press("Pause");
  await hands.shows("state", "paused");
  await hands.file("Save film of what has run");
  await page.locator(".done", { hasText: "scene.webp" }).waitFor();
  await hands.file("Save picture");
  await page.locator(".done", { hasText: "scene.png" }).waitFor();
  const reached = await hands.number("time");
  const legends = [];
  for (const field of ["plastic_strain", "contact_pressure", "speed", "strain"]) {
    await hands.choose("colour", field);
    await hands.until((field) => window.studioPage().state.color === field && window.studioPage().idle, field);
    await page.locator(".legend", { hasText: await page.evaluate((field) => window.studioPage().state.catalogue.fields[field], field) }).waitFor();
    legends.push(await page.locator(".legend").innerText());
  }
  const kept = await page.locator("footer .line").innerText();
  await page.getByLabel("time line").focus();
  await page.keyboard.press("Home");
  await hands.shows("time", "0.000");
  return { reached, legends, kept };
}

/** The script is copied; five steps and a checkpoint are what it is compared with. */
export async function copy(hands, page) {
  await hands.press("File");
  await page.getByLabel("file name").fill("made.toml");
  await hands.press("Save");
  await page.locator(".name", { hasText: /^made.toml$/ }).waitFor();
  await hands.file("Copy as Python");
  await page.locator("textarea").waitFor();
  const text = await page.locator("textarea").inputValue();
  await hands.press("Close");
  await hands.press("Reset");
  await hands.shows("state", "at the start");
  await page.locator("legend").first().click();
  for (let step = 1; step <= 3; step++) {
    await page.keyboard.press(".");
    await hands.shows("steps", new RegExp(`^${step}$`));
  }
  await hands.file("Save checkpoint");
  await page.locator(".done", { hasText: "made.npz" }).waitFor();
  await hands.file("Save for ParaView (VTU)");
  await page.locator(".done", { hasText: "made.vtu" }).waitFor();
  return { text };
}
