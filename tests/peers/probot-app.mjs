// An App made with Probot that answers `/hello` with a comment.
// Reads APP_ID, PRIVATE_KEY, WEBHOOK_SECRET and API_URL; prints {"port"}, and {"answered"}, the number of the
// issue, for each answer, one JSON line each; ends when its input is closed, and after two minutes whatever
// happens.
import { createServer } from "node:http";
import { createNodeMiddleware, createProbot } from "probot";

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const probot = createProbot({
  overrides: {
    appId: process.env.APP_ID,
    privateKey: process.env.PRIVATE_KEY,
    secret: process.env.WEBHOOK_SECRET,
    baseUrl: process.env.API_URL,
    logLevel: "error",
  },
});
const app = (app) =>
  app.on("issue_comment.created", async (context) => {
    if (context.payload.comment.body.trim() !== "/hello") return;
    await context.octokit.rest.issues.createComment(context.issue({ body: "Hello from Probot" }));
    say({ answered: context.payload.issue.number });
  });
const middleware = await createNodeMiddleware(app, { probot, webhooksPath: "/webhooks" });
const server = createServer((request, response) =>
  middleware(request, response, () => response.writeHead(404).end()),
);
server.listen(0, "127.0.0.1", () => say({ port: server.address().port }));

const end = () => process.exit(0);
process.stdin.resume().on("end", end).on("close", end);
setTimeout(() => process.exit(1), 120_000);
