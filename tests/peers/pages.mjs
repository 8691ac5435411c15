// A person with a browser who looks at the bot's pages.
// Reads CHROMIUM, URL (the address of the bot), TOKEN (the operator's), RUNNING, BLOCKED, FAILED, SAVED and HOSTILE
// (ids of runs), CODE (of the failed one) and, if pictures are wanted, SHOTS (a folder).
// Prints JSON lines: {"step"} after each step, and {"error"} if a step fails. Waits for {"url"}, the new address,
// while the bot is restarted, and for a line before it looks at a run that was retried. Ends after three minutes
// whatever happens.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openBrowser } from "./browser.mjs";

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
setTimeout(() => process.exit(1), 180_000).unref();
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { TOKEN: token, SHOTS: shots, CODE: code } = process.env;
let url = process.env.URL;
const { RUNNING: running, BLOCKED: blocked, FAILED: failed, SAVED: saved, HOSTILE: hostile } = process.env;

const [context, close] = await openBrowser(1280, 800);
const must = (condition, what) => {
  if (!condition) throw new Error(what);
};
try {
  const page = context.pages()[0] ?? (await context.newPage());
  const odd = [];
  page.on("dialog", (dialog) => {
    odd.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("pageerror", (error) => odd.push(`script: ${error}`));
  page.on("console", (message) => {
    // Pages that are refused here on purpose, and the output while the bot is restarted.
    const expected = message.location().url.endsWith("/output") ? /status of 502|net::ERR_/ : /status of 40[034]/;
    if (message.type() === "error" && !expected.test(message.text())) odd.push(message.text());
  });
  const shoot = async (name) => {
    if (!shots) return;
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 800 });
        await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 800 });
  };
  // Nothing overflows a narrow page, once the browser has laid it out.
  const fits = async (what) => {
    await page.setViewportSize({ width: 400, height: 800 });
    const narrow = page.waitForFunction(() => document.documentElement.scrollWidth <= 400);
    await narrow.catch(async () => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      throw new Error(`${what} is ${wide} pixels wide at 400`);
    });
    await page.setViewportSize({ width: 1280, height: 800 });
  };

  for (const path of ["/ui", "/ui/plans", `/ui/runs/${failed}`]) {
    const answer = await page.goto(url + path);
    must(answer.status() === 404, `${path} without login: ${answer.status()}`);
  }
  await page.goto(`${url}/ui/login`);
  await shoot("login");
  await page.getByLabel("Operator's token").fill("wrong");
  await page.getByRole("button", { name: "Log in with the token" }).click();
  await page.getByText("This is not the operator's token.").waitFor();
  await page.getByLabel("Operator's token").fill(token);
  await page.getByRole("button", { name: "Log in with the token" }).click();
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await shoot("runs");
  await fits("runs");

  // The reason of a run that waits is on the first page; the run that it waits for is one click away.
  await page.getByText(`is queued as number 1 behind run ${running}`).first().waitFor();
  await page.locator(`a[href="/ui/runs/${running}"]`).first().click();
  await page.getByText("is being worked on").waitFor();
  await page.getByText("Reading <b>src/search.rs</b>").waitFor();
  await shoot("run-live");

  // A failed one is two clicks away: the number of failed runs, then the run.
  await page.goto(`${url}/ui`);
  await page.getByRole("link", { name: "1 failed" }).click();
  await page.locator(`a[href="/ui/runs/${failed}"]`).first().click();
  await page.getByText("What to do:").waitFor();
  await page.getByText(code).first().waitFor();
  await shoot("run-failed");
  await fits("run-failed");
  say({ step: "found" });

  await page.goto(`${url}/ui/runs/${saved}`);
  await page.getByText("Saved as").waitFor();
  await shoot("run-saved");
  await page.goto(`${url}/ui/runs/${hostile}`);
  await page.getByText("Reading <b>src/search.rs</b>").waitFor();
  await page.getByText("<script>alert(1)</script>").first().waitFor();
  await shoot("run");
  await fits("run");
  for (const [section, text] of [
    ["Plans", "Cache the search index"],
    ["Costs", "in 30 days"],
    ["Deliveries", "issue_comment"],
    ["Audit", code],
  ]) {
    await page.getByRole("navigation").getByRole("link", { name: section }).click();
    await page.getByText(text).first().waitFor();
    await shoot(section.toLowerCase());
    await fits(section);
  }
  await page.goto(`${url}/ui/plans`);
  await page.getByLabel("Text").fill("cache index");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("Cache the search index").first().waitFor();
  const live = () => page.locator("script:not([src]), img").count();
  must((await live()) === 0, "live elements");
  const hostileText = encodeURIComponent(`"'><script>alert(3)</script><img src=x onerror=alert(4)>`);
  for (const field of [
    "/ui?repository",
    "/ui?command",
    "/ui?state",
    "/ui/plans?text",
    "/ui/plans?person",
    "/ui/plans?from",
    "/ui/costs?days",
    "/ui/deliveries?number=1&repository",
    "/ui/audit?actor",
    "/ui/audit?decision",
  ]) {
    await page.goto(`${url}${field}=${hostileText}`);
    must((await live()) === 0, `live elements in ${field}`);
  }
  say({ step: "looked" });

  // Output goes on after a restart of the bot, also if a proxy has answered in its place.
  await page.goto(`${url}/ui/runs/${running}`);
  await page.getByText("Reading <b>src/search.rs</b>").waitFor();
  let requests = 0;
  await page.route("**/output", (route) => {
    requests += 1;
    if (requests === 1) return route.fulfill({ status: 502 });
    return route.continue({ url: `${url}/ui/runs/${running}/output` });
  });
  say({ step: "watching" });
  url = JSON.parse((await input.next()).value).url;
  // The turn begins again. What was printed before is there once.
  const twice = () => document.getElementById("output").textContent.split("Reading").length === 3;
  await page.waitForFunction(twice, undefined, { timeout: 60_000 });
  must(requests > 1, "no answer of a proxy");
  await page.unroute("**/output");
  say({ step: "watched" });

  await page.goto(`${url}/ui/runs/${failed}`);
  await page.getByRole("button", { name: "Retry from the step that failed" }).click();
  await page.waitForURL(`**/ui/runs/${failed}`);
  await page.goto(`${url}/ui/runs/${blocked}`);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.waitForURL(`**/ui/runs/${blocked}`);
  await page.goto(`${url}/ui/runs/${saved}`);
  await page.getByRole("button", { name: "Run the command again" }).click();
  await page.waitForURL((at) => !at.pathname.endsWith(saved));
  say({ step: "acted" });
  await input.next();
  await page.goto(`${url}/ui/runs/${failed}`);
  await page.getByText("retry by the operator").waitFor();
  await page.goto(`${url}/ui/runs/${blocked}`);
  await page.getByText("cancelled").first().waitFor();
  await page.getByText("Stopped by the operator.").first().waitFor();
  await page.getByRole("button", { name: "Log out" }).click();
  const answer = await page.goto(`${url}/ui`);
  must(answer.status() === 404, `after the logout: ${answer.status()}`);
  must(odd.length === 0, odd.join("; "));
  say({ step: "ended" });
} catch (error) {
  say({ error: String(error) });
  process.exitCode = 1;
} finally {
  await close();
}
process.exit();
