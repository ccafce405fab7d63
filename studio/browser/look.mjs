// Takes the picture of docs/studio.md: node look.mjs ADDRESS FILE.png; plays the scene, coloured by strain, and pauses.
import { start } from "./browser.mjs";

const [address, file] = process.argv.slice(2);
const browser = await start();
const page = await browser.newPage({ viewport: { width: 1400, height: 860 } });
await page.goto(address);
await page.locator("nav li button", { hasText: "beam" }).click();
await page.getByLabel("colour", { exact: true }).selectOption("strain");
await page.getByRole("button", { name: "Play", exact: true }).click();
await page.waitForFunction(() => parseFloat(document.querySelector('[data-number="time"]').textContent) > 1.1, null, { timeout: 120000 });
await page.getByRole("button", { name: "Pause", exact: true }).click();
await page.waitForTimeout(500);
await page.screenshot({ path: file });
await browser.close();
