// A newcomer at a terminal: runs what README, the pages and the printed hints say in the folder it is started in, a
// fresh clone, and prints what came of it as one line of JSON. Started by written-commands.test.ts.
import { isObject, parseJson } from '../../crds/path.ts';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { newBrowser } from '../http/pages/browser.ts';
import { commandWith, writtenCommands } from './written-commands.ts';

/** Result of a session: the commands that ran, as they are written, and those that did not do what their page says. */
export interface SessionReport {
  readonly ran: readonly string[];
  readonly failures: readonly string[];
}

const patience = 120_000;
const ran: string[] = [];
const failures: string[] = [];
const commandsOf = (file: string): readonly string[] => writtenCommands(readFileSync(file, 'utf8'));

/** A command in a shell of its own, with everything that it starts. */
interface Running {
  readonly child: ChildProcess;
  said(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly output: string }>;
}

function start(command: string, environment: Readonly<Record<string, string>> = {}): Running {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text));
  let isOver = false;
  const ended = new Promise<{ code: number | null; stdout: string; output: string }>((resolve) => {
    child.on('close', (code) => {
      isOver = true;
      resolve({ code, stdout: texts.stdout, output: texts.stdout + texts.stderr });
    });
  });
  return {
    child,
    ended,
    async said(pattern) {
      const deadline = performance.now() + patience;
      for (;;) {
        const found = pattern.exec(texts.stdout) ?? pattern.exec(texts.stderr);
        if (found !== null) return found;
        if (isOver || performance.now() > deadline)
          throw new Error(`${command} did not say ${String(pattern)}:\n${texts.stdout}${texts.stderr}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}

/** Ctrl-C at the terminal: every process of the command gets it. */
async function interrupt({ child, ended }: Running): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
  await ended;
}

/** Runs a command to its end; its output, or throws when it fails. */
async function run(command: string, environment?: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, output } = await start(command, environment).ended;
  if (code !== 0) throw new Error(`${command}\nended with ${String(code)}:\n${output}`);
  ran.push(command);
  return stdout;
}

/** Serves with a command until `use` is over. */
async function serving(command: string, use: (dev: Running) => Promise<void>): Promise<void> {
  const dev = start(command);
  try {
    await dev.said(/^ready http:\/\/127\.0\.0\.1:8080$/m);
    ran.push(command);
    await use(dev);
  } finally {
    await interrupt(dev);
  }
}

function expectMember(answer: string, name: string, what: string): string {
  const parsed = parseJson(answer);
  const value = isObject(parsed) ? parsed[name] : undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new Error(`${what} answered ${answer}, without ${name}`);
}

const readme = commandsOf('README.md');

/** README, "Try it"; then the commands of the pages about the REST interfaces, with the token of the admin. */
async function tryIt(): Promise<void> {
  await serving(commandWith(readme, 'make dev'), async (dev) => {
    const [, hint = ''] = await dev.said(/^A token for reporting:\n\n {2}(curl .*)\n/m);
    expectMember(await run(hint), 'access_token', hint);
    const [, file = ''] = await dev.said(/^The generated secret of Client default\/admin is in (\S+)$/m);
    const issued = await run(hint.replace(/@\S+/, `@${file}`));
    const credentials = readFileSync(file, 'utf8');
    const environment = {
      BASE: 'http://127.0.0.1:8080/boxes/default',
      TOKEN: expectMember(issued, 'access_token', file),
      CLIENT_ID: expectMember(credentials, 'client_id', file),
      CLIENT_SECRET: expectMember(credentials, 'client_secret', file),
    };
    for (const [page, member] of [
      ['docs/guides/get-a-token.md', 'access_token'],
      ['docs/guides/check-a-token.md', '"active":true'],
      ['docs/reference/resource-api.md', 'grant_types'],
      ['docs/guides/users.md', 'email'],
      ['docs/guides/aidbox.md', 'access_token'],
      ['docs/guides/mcp.md', 'introspection_endpoint'],
    ] as const) {
      for (const command of commandsOf(page)) {
        if (command.includes('examples/get-a-token/')) continue;
        const answer = await run(command, environment);
        if (!answer.includes(member)) throw new Error(`${command}\nanswered ${answer}`);
      }
    }
    const caller = commandWith(commandsOf('docs/guides/get-a-token.md'), 'node ');
    const status = await run(`echo | ${caller}`, { ...environment, API: `${environment.BASE}/Session` });
    if (status !== '200\n') throw new Error(`${caller}\nprinted ${status}`);
    ran.push(caller);
  });
}

/** README, an app that people sign in to. */
async function signIn(): Promise<void> {
  await serving(commandWith(readme, 'examples/people'), async (dev) => {
    const hint = /open the address that it prints:\n\n {2}(.*)\n\nSign in as (\S+); the password is in (\S+):(\d+) /m;
    const [, command = '', email = '', file = '', line = ''] = await dev.said(hint);
    const rest = readFileSync(file, 'utf8')
      .split('\n')
      .slice(Number(line) - 1);
    const [, password = ''] = /^ {2}password: (.*)$/m.exec(rest.join('\n')) ?? [];
    const app = start(command);
    try {
      const [, address = ''] = await app.said(/^open (http:\/\/127\.0\.0\.1:3000)$/m);
      ran.push(command);
      const begun = await fetch(address, { redirect: 'manual' });
      const cookie = begun.headers.getSetCookie().map((one) => one.split(';', 1)[0] ?? '');
      const browser = newBrowser({ url: 'http://127.0.0.1:8080' }, 'default', 'http://127.0.0.1:8080/boxes/default');
      const form = await browser.get(begun.headers.get('location') ?? '');
      const signedIn = await browser.submit(form.location, { email, password });
      const question = await browser.get(signedIn.location);
      const { location } = await browser.submit(question.location, { answer: 'allow' });
      const hello = await (await fetch(location, { headers: { Cookie: cookie.join('; ') } })).text();
      if (!hello.startsWith(`Hello, ${email}!`)) throw new Error(`the app said: ${hello}`);
    } finally {
      await interrupt(app);
    }
  });
}

/** README, "Declare a client". */
async function declare(): Promise<void> {
  const [, manifest = ''] = /^```yaml\n(.*?)^```\n/ms.exec(readFileSync('README.md', 'utf8')) ?? [];
  mkdirSync('shop');
  writeFileSync('shop/reporting.yaml', manifest);
  await serving(commandWith(readme, 'boxgate dev shop'), async () => {
    const command = commandWith(readme, 'curl --fail-with-body ');
    expectMember(await run(command), 'access_token', command);
  });
}

/** docs/guides/protect-your-api.md, "Try it", with the program for Node.js. */
async function protect(): Promise<void> {
  const commands = commandsOf('docs/guides/protect-your-api.md');
  const [variables = '', api = '', call = ''] = ['secret() {', 'node ', 'TOKEN='].map((text) =>
    commandWith(commands, text),
  );
  const start = `${api} api=$!; trap 'kill $api' EXIT`;
  const isUp = 'until curl -s http://127.0.0.1:8000/ >/dev/null 2>&1; do sleep 0.1; done';
  await serving(commandWith(commands, 'boxgate dev '), async () => {
    const answer = await run([variables, start, isUp, call].join('\n'));
    if (!/^HTTP\/1\.1 200 [^]*"order": 7/.test(answer)) throw new Error(`the API answered ${answer}`);
    ran.push(variables, api, call);
  });
}

for (const step of [tryIt, signIn, declare, protect]) {
  try {
    await step();
  } catch (error) {
    failures.push(`${step.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
process.stdout.write(`${JSON.stringify({ ran, failures } satisfies SessionReport)}\n`);
// Connections that fetch keeps open would hold the process for some seconds.
process.exit(0);
