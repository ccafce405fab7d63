// Takes the pictures of docs/studio.md: node look.mjs ADDRESS FOLDER
//   studio.png     the demonstration, run for a second and coloured by strain
//   studio-setup.png  a beam with a clamped end, a load and a prescribed motion, its material and its curve
//   studio-section.png  the same beam in equilibrium, cut open and coloured by stress
import { open } from "./hands.mjs";

const [address, folder] = process.argv.slice(2);
const { browser, page, hands } = await open(address, folder, { width: 1400, height: 860 });
await hands.shows("state", "at the start");
await page.locator(".tools").getByLabel("shadows").check();

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
await browser.close();
