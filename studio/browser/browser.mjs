// A headless browser for tests and pictures: chromium from npm, WebGL by software.
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";

export async function start() {
  chromium.setGraphicsMode = true;
  return playwright.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: true });
}
