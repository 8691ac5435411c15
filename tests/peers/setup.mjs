// A person with a browser: sets up the App, then saves a plan on an issue.
// Reads CHROMIUM, LINK (the page that `planwright setup` printed) and, if pictures are wanted, SHOTS (a folder).
// Prints JSON lines: {"step"} after each step, {"typed"}, the number of fields that were filled in, and
// {"error"} if a step fails. Waits for {"issue"} before it comments, and for {"look"} before it looks at the
// issue again. Ends when its input is closed, and after two minutes whatever happens.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openBrowser } from "./browser.mjs";

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
setTimeout(() => process.exit(1), 120_000).unref();
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const told = async () => JSON.parse((await input.next()).value);

const [context, close] = await openBrowser(1000, 640);
let typed = 0;
let shots = 0;
const shoot = async (page) => {
  if (process.env.SHOTS) {
    shots += 1;
    await page.screenshot({ path: join(process.env.SHOTS, `setup-${shots}.png`) });
  }
};
try {
  const page = context.pages()[0] ?? (await context.newPage());
  await page.goto(process.env.LINK);
  await shoot(page);
  await page.getByRole("button", { name: "Create the App on GitHub" }).click();
  const create = page.getByRole("button", { name: /^Create GitHub App for / });
  await create.waitFor();
  await shoot(page);
  await create.click();
  const link = page.getByRole("link", { name: "Install the App on GitHub" });
  await link.waitFor();
  await shoot(page);
  say({ step: "created" });
  const opened = context.waitForEvent("page");
  await link.click();
  const github = await opened;
  await github.getByRole("checkbox").first().check();
  await shoot(github);
  await github.getByRole("button", { name: "Install" }).click();
  await github.getByText("is installed").waitFor();
  await page.getByRole("heading", { name: "3. Done" }).waitFor();
  await shoot(page);
  say({ step: "installed" });

  const { issue, comment } = await told();
  await github.goto(issue);
  await github.getByRole("textbox").fill(comment);
  typed += 1;
  await github.getByRole("button", { name: "Comment" }).click();
  say({ step: "commented" });

  const { expected } = await told();
  await github.goto(issue);
  await github.getByText(expected).first().waitFor();
  await shoot(github);
  say({ step: "saved" });
  say({ typed });
} catch (error) {
  say({ error: String(error) });
  process.exitCode = 1;
} finally {
  await close();
}
process.exit();
