// Takes the pictures of docs/studio.md: node look.mjs ADDRESS FOLDER
//   studio.png     the demonstration, run for a second and coloured by strain
//   studio-setup.png  a beam with a clamped end, a load and a prescribed motion, its material and its curve
//   studio-section.png  the same beam in equilibrium, cut open and coloured by stress
//   studio-joints.png  a tendon while it is made
//   studio-sheets.png  a sheet with clamps, a wind and fibres, a rod, a rule of contact
//   NAME.webp  the view of every example, for the gallery: studio/pictures
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "./hands.mjs";

const [address, folder] = process.argv.slice(2);
const { browser, page, hands } = await open(address, folder, { width: 1400, height: 860 });
await hands.shows("state", "at the start");
await page.locator(".tools").getByLabel("shadows").check();
const only = process.env.PLIANT_LOOK; // "gallery": nothing else
if (only !== "gallery") await pictures();
await gallery();
await browser.close();

async function pictures() {
  await hands.add("Soft beam", "beam");
  for (const [k, cells] of [16, 4, 4].entries()) await hands.type("soft.0.mesh.cells", cells, k);
  await hands.press("front");
  await hands.press("box");
  await hands.drag(await hands.place(-0.05, -0.1, 1.25), await hands.place(0.03, -0.1, 0.95));
  await hands.press("Pin");
  await hands.settled();
  await hands.press("oblique");
  await hands.press("faces");
  await hands.press("arrow");
  const [x, y] = await hands.place(0.85, 0, 1.2);
  await hands.drag([x, y], [x + 20, y - 110]);
  await hands.settled();
  await hands.press("plane");
  await page.mouse.click(...(await hands.place(0.5, -0.1, 1.1)));
  await hands.shows("selected", /faces selected/);
  await page.locator('[data-plot="stress"]').waitFor();
  await hands.shot("studio-setup");

  await page.keyboard.press("Escape");
  await hands.press("Clear");
  await hands.tree("Solver").click();
  await hands.press("Find equilibrium");
  await hands.shows("state", "paused");
  await hands.choose("colour", "stress");
  await page.locator(".legend").waitFor();
  await hands.choose("section", "y");
  await hands.until(() => window.studioPage().view.things[0].faces.some((face) => face === 0xffffffff));
  await page.getByRole("button", { name: "Find modes" }).click();
  await page.locator(".modes button.on").waitFor();
  await hands.press("Find equilibrium");
  await hands.shows("state", "paused");
  await hands.settled();
  await hands.shot("studio-section");
  await hands.choose("section", "");

  await hands.file("New scene");
  await hands.until(() => !document.querySelector("nav section"));
  await hands.add("Floor", "floor");
  await hands.add("Rigid box", "box");
  await hands.type("rigid.1.position", -0.5, 0);
  await hands.add("Rigid cylinder", "cylinder");
  await hands.type("rigid.2.position", 0.5, 0);
  await hands.add("Soft box", "soft box");
  await hands.type("soft.0.position", 1.2, 0);
  await hands.type("soft.0.position", 0.9, 2);
  await joint("hinge", { "joint a": "world", "joint b": "box" }, { "joint at": "-0.5, 0, 1.65" });
  await joint("rope", { "joint a": "world", "joint b": "cylinder" }, { "joint point of a": "0.5, 0, 2", "joint point of b": "0.5, 0, 1.65" });
  await hands.press("oblique");
  await hands.press("Add");
  await hands.press("Joint…");
  await hands.choose("joint type", "tendon");
  for (const place of [[-0.35, 0, 1.5], [0.45, -0.08, 1.42], [1.2, 0, 1.2]]) await page.mouse.click(...(await hands.place(...place)));
  await hands.until(() => document.querySelectorAll('[aria-label$="of the path"]').length === 3);
  await hands.shot("studio-joints");
  await hands.press("Add joint");
  await hands.tree("tendon joint").waitFor();
  await hands.settled();

  await hands.file("New scene");
  await hands.until(() => !document.querySelector("nav section"));
  await hands.add("Rod", "rod");
  await hands.press("Add a torque");
  await hands.settled();
  await hands.add("Rigid ball", "ball");
  await hands.type("rigid.0.position", 0.6, 2);
  await hands.choose("rule with another body", "rod");
  await hands.tree("ball – rod").waitFor();
  await hands.add("Sheet", "sheet");
  await hands.type("selection", "x < -0.49");
  await hands.shows("selected", /nodes selected/);
  await hands.press("Clamp");
  await hands.press("Add a wind");
  await hands.field("cloth.0.wind.0.velocity").first().waitFor();
  await hands.press("Add fibres");
  await hands.field("cloth.0.fibres.0.young").waitFor();
  await hands.settled();
  await hands.press("oblique");
  await page.getByText("Contact", { exact: true }).scrollIntoViewIfNeeded();
  await hands.seen("studio-sheets");

  await hands.file("demo");
  await hands.tree("beam").waitFor();
  await hands.settled();
  await hands.tree("beam").click();
  await hands.choose("colour", "strain");
  await hands.press("Play");
  await hands.played(1.1);
  await hands.press("Pause");
  await hands.shows("state", "paused");
  await page.getByLabel("contacts").check();
  await hands.settled();
  await hands.press("oblique");
  await hands.shot("studio");
}

async function joint(type, names, places) {
  await hands.press("Add");
  await hands.press("Joint…");
  await hands.choose("joint type", type);
  for (const [label, name] of Object.entries(names)) await hands.choose(label, name);
  for (const [label, place] of Object.entries(places)) await page.getByLabel(label, { exact: true }).fill(place);
  await hands.press("Add joint");
  await hands.tree(`${type} joint`).waitFor();
  await hands.settled();
}

/** The view of every example, after half a second. */
async function gallery() {
  await hands.tree("Scene").click();
  if (only !== "gallery") await page.getByLabel("contacts").uncheck();
  await hands.choose("colour", "none");
  for (const { file } of await page.evaluate(() => window.studioPage().state.examples)) {
    const name = file.replace(".toml", "");
    await hands.file(name);
    await hands.settled();
    await hands.press("Play");
    await hands.played(0.5);
    await hands.press("Pause");
    await hands.shows("state", "paused");
    await page.evaluate(() => window.studioPage().view.look("oblique"));
    await hands.until(() => window.studioPage().view.still);
    const picture = await page.evaluate(() => {
      const [source, small] = [document.querySelector(".canvas canvas"), document.createElement("canvas")];
      [small.width, small.height] = [244, 164];
      const scale = Math.max(small.width / source.width, small.height / source.height);
      const pen = small.getContext("2d");
      pen.imageSmoothingQuality = "high";
      pen.drawImage(source, (small.width - scale * source.width) / 2, (small.height - scale * source.height) / 2, scale * source.width, scale * source.height);
      return small.toDataURL("image/webp", 0.85).split(",")[1];
    });
    writeFileSync(join(folder, `${name}.webp`), Buffer.from(picture, "base64"));
  }
}
