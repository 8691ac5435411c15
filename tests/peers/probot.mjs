// A webhook receiver made of GitHub's framework Probot alone.
// Reads WEBHOOK_SECRET; prints {"port"} and then {"event","id"} for each delivery that Probot accepts, one
// JSON line each; ends when its input is closed, and after two minutes whatever happens.
import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import { createNodeMiddleware, createProbot } from "probot";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const probot = createProbot({
  overrides: {
    appId: 1,
    privateKey: privateKey.export({ type: "pkcs1", format: "pem" }),
    secret: process.env.WEBHOOK_SECRET,
    logLevel: "fatal",
  },
});
const middleware = await createNodeMiddleware(
  (app) => app.onAny(({ id, name }) => say({ event: name, id })),
  { probot, webhooksPath: "/webhooks" },
);
const server = createServer((request, response) =>
  middleware(request, response, () => response.writeHead(404).end()),
);
server.listen(0, "127.0.0.1", () => say({ port: server.address().port }));

const end = () => process.exit(0);
process.stdin.resume().on("end", end).on("close", end);
setTimeout(() => process.exit(1), 120_000);
