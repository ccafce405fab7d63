// Uses the studio as a person does, by mouse and keyboard, from an empty page on.
//   node use.mjs ADDRESS FOLDER_FOR_PICTURES SURFACE.stl
// Prints one JSON object per line: what was seen after each deed. Any error of the page is reported at the end.
import { build, change, copy, film, mesh, play } from "./first_scene.mjs";
import { open } from "./hands.mjs";
import { panels } from "./panels.mjs";

const [address, folder, surface] = process.argv.slice(2);
const began = Date.now();
const say = (deed, seen = {}) => console.log(JSON.stringify({ deed, at: Date.now() - began, ...seen }));
let opened;
try {
  opened = await open(address, folder);
} catch (error) {
  say("no browser", { why: String(error.message).split("\n")[0] });
  process.exit(3);
}
const { browser, page, hands, faults, asked } = opened;
try {
  await hands.shows("state", "at the start");
  const lost = page.locator(".lost");
  const left = (await lost.count()) ? await lost.innerText() : "";
  if (left) await lost.getByRole("button", { name: "Discard" }).click();
  say("open", { address: page.url(), names: await hands.names(), left });
  const wanted = process.env.PLIANT_DEEDS?.split(",");
  for (const deed of [build, mesh, play, change, film, copy, ...panels].filter(({ name }) => !wanted || wanted.includes(name))) say(deed.name, await deed(hands, page, surface));
  say("end", { faults, origins: [...asked], questions: hands.questions });
} catch (error) {
  await hands.shot("failed");
  say("failed", { faults, why: String(error.message).slice(0, 2000), where: String(error.stack).match(/\w+\.mjs:\d+/g), state: await page.evaluate(() => document.body.innerText.slice(0, 3000)) });
  process.exitCode = 1;
} finally {
  await browser.close();
}
