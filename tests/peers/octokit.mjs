// GitHub's own client against BASE_URL: the App's JWT, an installation token, and the calls a bot makes.
// Reads BASE_URL, APP_ID, PRIVATE_KEY (path of a PEM file), INSTALLATION_ID, OWNER, REPO; prints one JSON
// line {"step", …} per call; exit code 1 with {"failed", …} at the first call that does not do what it should.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/rest";

const env = (name) => {
  assert.ok(process.env[name], `the environment variable ${name} is missing`);
  return process.env[name];
};
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const COMMENTS = 35;
let step = "start";

async function main() {
  const baseUrl = env("BASE_URL").replace(/\/+$/, "");
  const auth = {
    appId: env("APP_ID"),
    privateKey: readFileSync(env("PRIVATE_KEY"), "utf8"),
    installationId: Number(env("INSTALLATION_ID")),
  };
  const at = { owner: env("OWNER"), repo: env("REPO") };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const octokit = new Octokit({ baseUrl, log, authStrategy: createAppAuth, auth });
  const call = async (name, made, check) => {
    step = name;
    const { status, data } = await made();
    say({ step: name, status, ...check(data) });
    return data;
  };

  await call("app", () => octokit.apps.getAuthenticated(), (app) => {
    assert.equal(String(app.id), String(auth.appId));
    return { slug: app.slug };
  });
  step = "token";
  const { token } = await octokit.auth({ type: "installation" });
  assert.match(token, /^ghs_/);
  say({ step, length: token.length });

  const repository = await call("repository", () => octokit.repos.get(at), (repo) => {
    assert.equal(repo.full_name.toLowerCase(), `${at.owner}/${at.repo}`.toLowerCase());
    return { id: repo.id };
  });
  await call(
    "permission",
    () => octokit.repos.getCollaboratorPermissionLevel({ ...at, username: repository.owner.login }),
    ({ permission, role_name }) => {
      assert.ok(["admin", "write", "read", "none"].includes(permission));
      return { permission, role: role_name };
    },
  );
  const label = { name: `peer-${process.pid}`, color: "0e8a16", description: "Made by octokit" };
  await call("label", () => octokit.issues.createLabel({ ...at, ...label }), (made) => {
    assert.equal(made.name, label.name);
    assert.equal(made.color, label.color);
    return { id: made.id };
  });
  step = "label again";
  await assert.rejects(octokit.issues.createLabel({ ...at, ...label }), (error) => {
    assert.equal(error.status, 422);
    assert.equal(error.response.data.errors[0].code, "already_exists");
    say({ step, status: error.status });
    return true;
  });

  const text = "Made by octokit: ünïcode, 👀 and\r\na second line";
  const issue = await call(
    "issue",
    () => octokit.issues.create({ ...at, title: "From octokit", body: text, labels: [label.name] }),
    (made) => {
      assert.equal(made.body, text);
      assert.deepEqual(made.labels.map(({ name }) => name), [label.name]);
      return { number: made.number };
    },
  );
  const there = { ...at, issue_number: issue.number };
  const comments = [];
  for (let index = 0; index < COMMENTS; index += 1) {
    step = `comment ${index + 1}`;
    const { data } = await octokit.issues.createComment({ ...there, body: `${index + 1}. ${text}` });
    comments.push(data.id);
  }
  say({ step: "comments", count: comments.length });
  const comment_id = comments[0];

  step = "paginate";
  const listed = await octokit.paginate(octokit.issues.listComments, { ...there, per_page: 10 });
  assert.deepEqual(listed.map(({ id }) => id), comments);
  say({ step, count: listed.length });

  await call(
    "edit comment",
    () => octokit.issues.updateComment({ ...at, comment_id, body: "Edited" }),
    (edited) => {
      assert.equal(edited.body, "Edited");
      return {};
    },
  );
  const react = () =>
    octokit.reactions.createForIssueComment({ ...at, comment_id, content: "eyes" });
  const eyes = await call("reaction", react, ({ content, id }) => {
    assert.equal(content, "eyes");
    return { id };
  });
  await call("reaction again", react, ({ id }) => {
    assert.equal(id, eyes.id, "the same reaction is not made twice");
    return {};
  });
  await call(
    "take reaction away",
    () => octokit.reactions.deleteForIssueComment({ ...at, comment_id, reaction_id: eyes.id }),
    () => ({}),
  );
  await call(
    "take label off",
    () => octokit.issues.removeLabel({ ...there, name: label.name }),
    (left) => {
      assert.deepEqual(left, []);
      return {};
    },
  );
  await call(
    "edit issue",
    () => octokit.issues.update({ ...there, body: "Replaced" }),
    (edited) => {
      assert.equal(edited.body, "Replaced");
      assert.equal(edited.title, "From octokit");
      return {};
    },
  );
  await call("read issue", () => octokit.issues.get(there), (read) => {
    assert.equal(read.body, "Replaced");
    assert.equal(read.comments, COMMENTS);
    return { state: read.state };
  });
  step = "missing issue";
  await assert.rejects(octokit.issues.get({ ...at, issue_number: 999_999 }), (error) => {
    assert.equal(error.status, 404);
    say({ step, status: error.status });
    return true;
  });
  say({ done: true });
}

const late = setTimeout(() => fail(new Error("not done after 50 seconds")), 50_000);
late.unref();
function fail(error) {
  say({ failed: step, status: error.status ?? null, message: String(error.message) });
  process.exit(1);
}
main().catch(fail);
