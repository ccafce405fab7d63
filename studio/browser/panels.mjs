// Every panel and tool once, as a person uses it.
import { changed } from "./hands.mjs";

const selected = (hands) => hands.number("selected");

/** Nodes and faces by click, lasso, brush, plane and formula, of a cube of 2 x 2 x 2 cells seen from the front. */
async function selections(hands, page) {
  await hands.file("New scene");
  await hands.until(() => !document.querySelector("nav section"));
  await hands.add("Soft box", "soft box");
  for (const k of [0, 1, 2]) await hands.type("soft.0.mesh.cells", 2, k);
  await hands.press("front");
  const seen = {};
  await hands.press("click");
  await page.mouse.click(...(await hands.place(-0.19, -0.2, 0.89)));
  await hands.shows("selected", "1 node selected");
  await page.keyboard.down("Shift");
  await page.mouse.click(...(await hands.place(0.19, -0.2, 0.89)));
  await page.keyboard.up("Shift");
  await hands.shows("selected", "2 nodes selected");
  await hands.press("lasso");
  const corners = [[-0.3, 0.98], [0.3, 0.98], [0.3, 0.8], [-0.3, 0.8]];
  await page.mouse.move(...(await hands.place(-0.3, -0.2, 0.8)));
  await page.mouse.down();
  for (const [x, z] of corners) await page.mouse.move(...(await hands.place(x, -0.2, z)), { steps: 2 });
  await page.mouse.up();
  await hands.shows("selected", "9 nodes selected");
  seen.lasso = await selected(hands);
  await hands.press("brush");
  await hands.drag(await hands.place(-0.19, -0.2, 0.51), await hands.place(0.19, -0.2, 0.51), 24);
  await hands.until(() => /^[23] nodes/.test(document.querySelector('[data-number="selected"]').textContent));
  seen.brush = await selected(hands);
  await hands.press("faces");
  await hands.press("plane");
  await page.mouse.click(...(await hands.place(0.05, -0.2, 0.63)));
  await hands.shows("selected", "8 faces selected");
  await hands.seen("selected");
  await hands.press("Pressure");
  await hands.field("soft.0.pressure.0.pressure").waitFor();
  await hands.settled();
  await hands.type("selection", "z > 0.89", 0);
  await hands.shows("selected", "8 faces selected");
  await hands.type("selection", "z >", 0);
  seen.error = await page.locator(".select .error").innerText();
  await hands.press("nodes");
  await hands.type("selection", "z < 0.51", 0);
  await hands.shows("selected", "9 nodes selected");
  await hands.press("Move over time");
  await page.locator('[data-point="1.2"]').waitFor();
  await hands.settled();
  await hands.shows("selected", "nothing is selected");
  return seen;
}

/** A pin's curve, its axes, an arrow drawn out of a side, and the same arrow dragged; a click on a symbol. */
async function loads(hands, page) {
  const point = await page.locator('[data-point="1.2"]').boundingBox();
  const at = [point.x + point.width / 2, point.y + point.height / 2];
  await hands.drag(at, [at[0], at[1] + 40]);
  await hands.until(() => Number(document.querySelector('[aria-label="displacement 2 z"]').value) < 0.06);
  await hands.settled();
  await page.getByLabel("axis x").uncheck();
  await hands.settled();
  await hands.press("oblique");
  await hands.press("arrow");
  const [x, y] = await hands.place(0, 0, 0.9);
  await hands.drag([x, y], [x, y - 65]);
  await hands.field("soft.0.traction.0.vector").first().waitFor();
  await hands.settled();
  const drawn = Number(await hands.value("soft.0.traction.0.vector", 2));
  await hands.shot("loads");
  await hands.press("arrow");
  await hands.choose("arrow becomes", "pressure");
  const side = await hands.place(0.2, 0, 0.75);
  await hands.drag(side, [side[0] + 60, side[1] - 5]);
  await hands.field("soft.0.pressure.1.pressure").first().waitFor();
  await hands.settled();
  await hands.press("arrow");
  await hands.choose("arrow becomes", "body force");
  await hands.drag([x, y], [x, y - 50]);
  await hands.field("soft.0.force.0.vector").first().waitFor();
  await hands.settled();
  const pressed = Number(await hands.value("soft.0.pressure.1.pressure"));
  const tail = await page.evaluate(() => {
    const { view } = window.studioPage();
    return view.symbols.handle(view.symbols.arrows.find((each) => each.load.kind === "pressure" && each.load.number === 1)).toArray();
  });
  const [px, py] = await hands.place(...tail);
  await hands.drag([px, py], [px + 25, py - 2]);
  await hands.until((before) => Number(document.querySelector('[data-path="soft.0.pressure.1.pressure"] input').value) > before * 1.05, pressed);
  await hands.settled();
  await hands.seen("pressed");
  const tip = await page.evaluate(() => {
    const { view } = window.studioPage();
    const arrow = view.symbols.arrows.find((each) => each.load.kind === "traction");
    return view.symbols.handle(arrow).toArray();
  });
  const [hx, hy] = await hands.place(...tip);
  await hands.drag([hx, hy], [hx, hy - 20]);
  await hands.until((drawn) => Number(document.querySelectorAll('[data-path="soft.0.traction.0.vector"] input')[2].value) > drawn * 1.1, drawn);
  await hands.settled();
  await hands.tree("Scene").click();
  await page.mouse.click(...(await hands.place(-0.2, -0.2, 0.5)));
  await page.locator(".entry.lit").waitFor();
  const text = await (await hands.file("Copy as scene file"), page.locator("textarea").inputValue());
  await hands.press("Close");
  return { drawn, pressed, text, lit: await page.locator(".entry.lit").innerText() };
}

/** A preset, a formula of one's own, a wrong one, plasticity; the curve follows. */
async function material(hands, page) {
  const curve = () => page.locator('[data-plot="stress"] polyline').getAttribute("points");
  await page.locator('[data-plot="stress"]').waitFor();
  const before = await curve();
  await hands.choose("material preset", "foam");
  await hands.until(() => document.querySelector('[data-path="soft.0.material.young"] input').value === "50000");
  await hands.until((before) => document.querySelector('[data-plot="stress"] polyline')?.getAttribute("points") !== before, before);
  await hands.choose("law", "a formula of your own");
  await hands.field("soft.0.material.energy").waitFor();
  await hands.settled();
  await hands.type("soft.0.material.energy", "mu * (I1 - 3)");
  const error = await page.locator('[data-path="soft.0.material.energy"] .error').innerText();
  await hands.type("soft.0.material.energy", "mu / 2 * (I1 / J ** (2 / 3) - 3) + bulk / 2 * log(J) ** 2");
  await hands.type("soft.0.material.parameters.bulk", 30000);
  await page.getByLabel("plastic").check();
  await hands.field("soft.0.material.plasticity.creep").waitFor();
  await hands.settled();
  await page.locator('[data-plot="stress"]').waitFor();
  await hands.shot("material");
  return { error, law: await hands.value("soft.0.material.law") };
}

/** Equilibrium, modes, a time limit, and what the solver says of itself. */
async function solver(hands, page) {
  await hands.tree("soft box").click();
  await hands.choose("material preset", "rubber");
  await hands.until(() => document.querySelector('[data-path="soft.0.material.young"] input')?.value === "1000000");
  await page.getByLabel("axis x").check();
  await hands.settled();
  await hands.tree("Solver").click();
  await page.getByLabel("how many modes").fill("3");
  await hands.press("Find modes");
  await page.locator(".modes button.on").waitFor();
  const sum = await page.evaluate(() => window.studioPage().view.things[0].places.reduce((all, each) => all + Math.abs(each)));
  await hands.until((sum) => Math.abs(window.studioPage().view.things[0].places.reduce((all, each) => all + Math.abs(each)) - sum) > 0.02, sum);
  const modes = await page.locator(".modes button.small").allInnerTexts();
  await hands.press("Find equilibrium");
  await hands.shows("state", "paused");
  const balanced = await hands.number("converged");
  await hands.type("pace.limit", "30 ms", 0, "0.03");
  await hands.press("Reset");
  await hands.shows("state", "at the start");
  await hands.press("Play");
  await hands.played(0.03);
  await hands.shows("state", "paused");
  const stopped = await hands.number("time");
  await hands.type("pace.limit", "", 0, "");
  await hands.type("run.dt", "5 ms", 0, "0.005");
  await hands.type("run.threads", 1);
  await hands.choose("solver", "dual");
  await hands.field("run.solver.method").waitFor();
  await hands.type("run.solver.tolerance", "1e-7", 0, "1e-7");
  const run = await page.evaluate(() => window.studioPage().state.tables.run);
  for (let k = 0; k < 4; k++) await hands.press("Undo");
  await hands.until(() => JSON.stringify(window.studioPage().state.tables.run) === '{"dt":0.01}');
  await hands.press("Build");
  await hands.shows("state", "paused");
  return { modes, balanced, stopped, run };
}

/** A cut through the body shows more triangles; what is hidden is not seen; a body is renamed. */
async function section(hands, page) {
  await hands.press("Reset");
  await hands.shows("state", "at the start");
  const triangles = () => page.evaluate(() => window.studioPage().view.things[0].mesh.geometry.index.count / 3);
  const [whole, before] = [await triangles(), await hands.picture()];
  await hands.choose("section", "x");
  await hands.until((whole) => window.studioPage().view.things[0].mesh.geometry.index.count / 3 < whole, whole);
  await hands.settled();
  const cut = [await triangles(), await page.evaluate(() => window.studioPage().view.things[0].faces.filter((face) => face === 0xffffffff).length)];
  await hands.seen("section");
  await hands.choose("section", "");
  await hands.until((whole) => window.studioPage().view.things[0].mesh.geometry.index.count / 3 === whole, whole);
  await page.getByLabel("show soft box").uncheck();
  await hands.until(() => !window.studioPage().view.things[0].mesh.visible);
  const hidden = changed(before, await hands.picture());
  await page.getByLabel("show soft box").check();
  await hands.tree("soft box").click();
  await page.getByLabel("name", { exact: true }).fill("sponge");
  await page.getByLabel("name", { exact: true }).press("Enter");
  await hands.tree("sponge").waitFor();
  return { whole, cut, hidden };
}

/** A hinge with limits and a motor, driven by a slider while it runs; the gizmo in steps; a pull with the mouse. */
async function machine(hands, page) {
  await hands.file("New scene");
  await hands.until(() => !document.querySelector("nav section"));
  await hands.add("Rigid box", "box");
  await hands.press("front");
  await page.getByLabel("snap").check();
  const [x, y] = await hands.place(0, 0, 1.5);
  await hands.drag([x + 60, y], [x + 140, y]);
  await hands.until(() => document.querySelector('[data-path="rigid.0.position"] input').value !== "0");
  await page.getByLabel("snap").uncheck();
  const position = await hands.field("rigid.0.position").evaluateAll((inputs) => inputs.map((input) => Number(input.value)));
  await hands.settled();
  await hands.type("rigid.0.position", 0, 0);
  await page.getByLabel("snap").check();
  await page.keyboard.press("e");
  const turned_by = await turn(hands, page);
  await page.keyboard.press("w");
  await page.getByLabel("snap").uncheck();
  await hands.type("rigid.0.turn", 0, 1);
  await hands.press("Add");
  await hands.press("Joint…");
  await hands.choose("joint type", "hinge");
  await hands.choose("joint a", "world");
  await hands.choose("joint b", "box");
  await page.getByLabel("joint at").fill("0, 0, 1.5");
  await hands.press("Add joint");
  await hands.tree("hinge joint").waitFor();
  await hands.press("Add limits");
  await hands.field("joint.0.limits").first().waitFor();
  await hands.type("joint.0.limits", "90°", 1, String(Number((Math.PI / 2).toPrecision(15))));
  await hands.press("Add a motor");
  await page.getByLabel("motor now").waitFor();
  await hands.settled();
  await hands.press("Play");
  // the motor turns the box about y, one way at first
  await hands.until(() => Math.abs(window.studioPage().view.things[0].mesh.quaternion.y) > 0.01);
  const way = await page.evaluate(() => Math.sign(window.studioPage().view.things[0].mesh.quaternion.y));
  const slider = page.getByLabel("motor now");
  await slider.focus();
  await page.keyboard.press("Home");
  await hands.until((way) => way * window.studioPage().view.things[0].mesh.quaternion.y < -0.01, way);
  await hands.press("Pause");
  await hands.shows("state", "paused");
  const turned = await page.evaluate(() => window.studioPage().view.things[0].mesh.quaternion.toArray());
  return { position, way, turned, turned_by, value: await slider.inputValue() };
}

/** A quarter of a turn with the gizmo, about the axis that leads away from the eye; the angles that the panel then says. */
async function turn(hands, page) {
  const [x, y] = await hands.place(0, 0, 1.5);
  for (let radius = 30; radius < 160; radius += 4) {
    await page.mouse.move(x + 0.7 * radius, y - 0.7 * radius);
    if (await page.evaluate(() => window.studioPage().view.gizmo.controls.axis === "Y")) {
      await hands.drag([x + 0.7 * radius, y - 0.7 * radius], [x - 0.7 * radius, y - 0.7 * radius], 10);
      break;
    }
  }
  await hands.until(() => document.querySelectorAll('[data-path="rigid.0.turn"] input')[1].value !== "0");
  await hands.settled();
  return hands.field("rigid.0.turn").evaluateAll((inputs) => inputs.map((input) => Number(input.value)));
}

/** Every kind of joint between two boxes, a soft box, a rod and the world: clicked in the view, or chosen by name. */
async function joints(hands, page) {
  await hands.file("New scene");
  await hands.until(() => !document.querySelector("nav section"));
  await hands.add("Rigid box", "box");
  await hands.add("Rigid box", "box 2");
  await hands.type("rigid.1.position", 0.6, 0);
  await hands.add("Soft box", "soft box");
  await hands.type("soft.0.position", 1.1, 2);
  for (const k of [0, 1, 2]) await hands.type("soft.0.mesh.cells", 2, k);
  await hands.add("Rod", "rod");
  await hands.press("oblique");
  const kinds = await page.evaluate(() => Object.keys(window.studioPage().state.catalogue.joints));
  const form = page.getByRole("dialog", { name: "New joint" });
  for (const kind of kinds) {
    await hands.press("Add");
    await hands.press("Joint…");
    await hands.choose("joint type", kind);
    const keys = await page.evaluate((kind) => window.studioPage().state.catalogue.joints[kind], kind);
    if (keys.path) {
      for (const place of [[-0.1, -0.15, 1.5], [0.6, -0.15, 1.5], [0, -0.2, 1.3]]) await page.mouse.click(...(await hands.place(...place)));
      await hands.until(() => document.querySelectorAll('[aria-label$="of the path"]').length === 3);
    } else if (kind === "ball") {
      await page.mouse.click(...(await hands.place(0.6, -0.15, 1.45)));
      await hands.until(() => document.querySelector('[aria-label="joint a"]').value === "box 2");
      await page.mouse.click(...(await hands.place(0.95, 0, 1.4)));
      await hands.until(() => document.querySelector('[aria-label="joint b"]').value.startsWith("rod."));
    } else if (keys.a) {
      await hands.choose("joint a", kind === "attach" || kind === "fixed" ? "box" : "world");
      await hands.choose("joint b", kind === "attach" || kind === "fixed" ? "soft box" : "box 2");
      if (keys.at?.kind === "points") {
        await page.getByLabel("joint point of a").fill("0.6, 0, 2");
        await page.getByLabel("joint point of b").fill("0.6, 0, 1.65");
      } else if (keys.at) await page.getByLabel("joint at").fill(kind === "fixed" ? "0, 0, 1.45" : "0.6, 0, 1.5");
    }
    if (kind === "gear") {
      await hands.choose("joint first", "hinge joint");
      await hands.choose("joint second", "cylindrical joint");
    }
    if (kind === "rack") await hands.choose("joint second", "slider joint");
    if (kind === "rack") await hands.choose("joint first", "hinge joint");
    if (kind === "tendon") await hands.shot("joint-form");
    await hands.press("Add joint");
    await form.waitFor({ state: "detached" });
  }
  await hands.settled();
  await hands.seen("joints");
  await hands.tree("cylindrical joint").click();
  const travel = page.locator("fieldset", { hasText: /^travel/ });
  await travel.getByRole("button", { name: "Add a motor" }).click();
  await page.getByLabel("motor now travel").waitFor();
  await hands.settled();
  await hands.type(`joint.${kinds.indexOf("cylindrical")}.travel.friction`, 2);
  await hands.tree("hinge joint").click();
  await hands.press("Add limits");
  await hands.settled();
  const friction = hands.field(`joint.${kinds.indexOf("hinge")}.friction`);
  await friction.fill("0.5");
  await friction.press("Enter");
  await hands.field(`joint.${kinds.indexOf("hinge")}.free.friction`).waitFor();
  await hands.file("Copy as scene file");
  const text = await page.locator("textarea").inputValue();
  await hands.press("Close");
  return { kinds, text };
}

async function pull(hands, page) {
  await hands.file("New scene");
  await hands.until(() => !document.querySelector("nav section"));
  await hands.add("Rigid ball", "ball");
  await hands.tree("Scene").click();
  await hands.type("gravity", 0, 2);
  await hands.press("front");
  await hands.press("Play");
  await hands.played(0.03);
  const [x, y] = await hands.place(0, 0, 1.5);
  await page.getByLabel("pull").check();
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 250, y - 100, { steps: 8 });
  await hands.until(() => window.studioPage().view.things[0].mesh.position.x > 0.05);
  await page.mouse.up();
  await page.getByLabel("pull").uncheck();
  await hands.press("Pause");
  await hands.shows("state", "paused");
  return {};
}

/** A sheet and a rod are added, shown and said as Python; the camera is moved. */
async function sheets(hands, page) {
  await hands.press("Reset");
  await hands.add("Sheet", "sheet");
  await hands.type("cloth.0.mesh.cells", 4, 0);
  await hands.type("cloth.0.mesh.cells", 4, 1);
  await hands.add("Rod", "rod");
  await hands.press("fit");
  const seen = await hands.picture();
  const [x, y] = await hands.place(0, 0, 1);
  await hands.drag([x, y + 200], [x + 120, y + 200], 4, "right");
  const panned = await hands.picture();
  await page.mouse.wheel(0, -400);
  const zoomed = await hands.picture();
  await hands.press("oblique");
  await hands.seen("sheets");
  await hands.file("Copy as Python");
  const text = await page.locator("textarea").inputValue();
  await hands.press("Close");
  return { names: await hands.names(), panned: changed(seen, panned), zoomed: changed(panned, zoomed), text };
}

/** Wind, fibres and clamps of the sheet, groups of the ball, a rule of contact, the section and loads of the rod; a wind
 * is picked and dragged in the view, which is seen with wires, with shadows and from the other side. */
async function pairs(hands, page) {
  await hands.tree("sheet").click();
  await hands.type("selection", "x < -0.49");
  await hands.shows("selected", "5 nodes selected");
  await hands.press("Clamp");
  await hands.press("Add a wind");
  await hands.field("cloth.0.wind.0.velocity").first().waitFor();
  await hands.type("cloth.0.wind.0.velocity", "36 km/h", 0, "10");
  await hands.press("Add fibres");
  await hands.field("cloth.0.fibres.0.young").waitFor();
  await hands.type("cloth.0.fibres.0.young", "2 MPa", 0, "2000000");
  await hands.tree("ball").click();
  await hands.type("rigid.0.mask", "1, x");
  const error = await page.locator("aside .error").innerText();
  await hands.type("rigid.0.mask", "1, 3");
  await hands.choose("rule with another body", "sheet");
  await hands.tree("ball – sheet").waitFor();
  await hands.type("contact.0.friction", 0.1);
  await hands.press("Add");
  await hands.press("Rule of contact");
  await hands.tree("sheet – rod").waitFor();
  await page.getByLabel("collide").uncheck();
  await hands.settled();
  await hands.tree("rod").click();
  await hands.choose("cross section", "tube");
  await hands.field("rod.0.section.tube.1").waitFor();
  await hands.press("Add a torque");
  await hands.field("rod.0.torque.0.vector").first().waitFor();
  await hands.settled();
  await hands.press("oblique");
  await hands.tree("Scene").click();
  const tip = await page.evaluate(() => {
    const { symbols } = window.studioPage().view;
    return symbols.handle(symbols.arrows.find((each) => each.load.kind === "wind")).toArray();
  });
  const [x, y] = await hands.place(...tip);
  await hands.drag([x, y], [x + 40, y]);
  await hands.until(() => window.studioPage().state.tables.cloth[0].wind[0].velocity[0] > 10.5);
  await hands.settled();
  await page.mouse.click(...(await hands.place(-0.5, -0.5, 1)));
  await page.locator(".entry.lit").waitFor();
  const lit = await page.locator(".entry.lit").innerText();
  const before = await hands.picture();
  const looks = [];
  for (const label of ["wires", "shadows"]) {
    await page.locator(".tools").getByLabel(label).check();
    looks.push(changed(before, await hands.picture()));
    await page.locator(".tools").getByLabel(label).uncheck();
  }
  await page.keyboard.press("9");
  looks.push(changed(before, await hands.picture()));
  await hands.press("oblique");
  await hands.seen("pairs");
  await hands.file("Copy as scene file");
  const text = await page.locator("textarea").inputValue();
  await hands.press("Close");
  return { error, lit, looks, text };
}

async function example(hands, page) {
  await page.keyboard.press("?");
  const keys = await page.getByRole("dialog", { name: "Keys and the mouse" }).innerText();
  await page.keyboard.press("Escape");
  await hands.file("chain");
  await hands.tree("hook").first().waitFor();
  await hands.settled();
  await hands.seen("example");
  return { names: await hands.names(), keys };
}

export const panels = [selections, loads, material, solver, section, machine, joints, pull, sheets, pairs, example];
