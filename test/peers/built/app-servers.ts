import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findCommand } from '../../../tools/needs/commands.ts';
import { debian } from '../../../tools/needs/debian.ts';
import { startChild, untilReady } from '../../support/child-program.ts';
import { ownPort } from '../../support/own-port.ts';

/** An app in a language, which answers with the method and the headers that its framework shows it, as JSON. */
export interface AppServer {
  readonly title: string;
  readonly names: readonly [string];
  /** The package of Debian. */
  readonly package: string;
  /** Name of its file, and the text in it. */
  readonly file: readonly [string, string];
  readonly options: (file: string, port: string) => readonly string[];
}

/** Apps that read a header by a name in which `-` and `_` are one sign; Express alone tells them apart. */
export const appServers: readonly AppServer[] = [
  {
    title: 'WSGI',
    names: ['python3'],
    package: 'python3',
    file: [
      'app.py',
      `import json, sys
from wsgiref.simple_server import make_server
def app(environ, start_response):
    start_response('200 OK', [('Content-Type', 'application/json')])
    shown = {name: value for name, value in environ.items() if name.startswith('HTTP_')}
    return [json.dumps({'method': environ['REQUEST_METHOD'], 'headers': shown}).encode()]
make_server('127.0.0.1', int(sys.argv[1]), app).serve_forever()
`,
    ],
    options: (file, port) => [file, port],
  },
  {
    title: 'Rack, with its method override',
    names: ['puma'],
    package: 'puma',
    file: [
      'config.ru',
      `require 'json'
use Rack::MethodOverride
run lambda { |env|
  shown = env.select { |name, value| name.start_with?('HTTP_') && value.is_a?(String) }
  [200, { 'Content-Type' => 'application/json' }, [JSON.generate({ method: env['REQUEST_METHOD'], headers: shown })]]
}
`,
    ],
    options: (file, port) => ['-q', '-b', `tcp://127.0.0.1:${port}`, file],
  },
  {
    title: 'PHP',
    names: ['php'],
    package: 'php-cli',
    file: [
      'app.php',
      `<?php
$shown = array_filter($_SERVER, fn($name) => str_starts_with($name, 'HTTP_'), ARRAY_FILTER_USE_KEY);
$text = json_encode(['method' => $_SERVER['REQUEST_METHOD'], 'headers' => $shown]);
header('Content-Type: application/json');
header('Content-Length: ' . strlen($text));
echo $text;
`,
    ],
    options: (file, port) => ['-S', `127.0.0.1:${port}`, file],
  },
  {
    title: 'Express, with method-override',
    names: ['node'],
    package: 'nodejs',
    file: [
      'app.mjs',
      `import { createRequire } from 'node:module';
const express = createRequire(process.argv[3])('express');
const app = express();
app.use((request, response) => {
  // As the package method-override does it.
  const method = request.get('X-HTTP-Method-Override') ?? request.method;
  const shown = Object.entries(request.headers).map(([name, value]) => ['HTTP_' + name.toUpperCase().replace(/-/g, '_'), value]);
  response.json({ method, headers: Object.fromEntries(shown) });
});
app.listen(process.argv[2], '127.0.0.1');
`,
    ],
    options: (file, port) => [file, port, path.resolve('package.json')],
  },
];

/** Installs the programs of the apps that this machine lacks from Debian, as root. */
export async function obtainAppServers(): Promise<void> {
  const missing = appServers.filter((app) => findCommand(app, process.env) === undefined);
  if (missing.length > 0) await debian.install(missing.map((app) => app.package));
}

/** Starts an app, and waits until it answers. Throws if its program is missing. */
export async function startAppServer(
  app: AppServer,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const program = findCommand(app, process.env);
  if (program === undefined) throw new Error(`no ${app.title}: install the package ${app.package}`);
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-app-'));
  const port = String(await ownPort());
  const [name, text] = app.file;
  writeFileSync(path.join(folder, name), text);
  const child = startChild(program, app.options(path.join(folder, name), port), { cwd: folder, env: { HOME: folder } });
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(folder, { recursive: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilReady(child, app.title, async () => (await fetch(url)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}
