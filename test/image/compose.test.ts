import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { isObject, parseJson } from '../../crds/path.ts';
import { writeFiles } from '../../tools/image/write-files.ts';
import { startBoxgate } from '../dev/boxgate-process.ts';
import { writeCurlStandIn } from '../dev/curl-stand-in.ts';
import { commandWith, writtenCommands } from '../dev/written-commands.ts';
import { ownPort } from '../support/own-port.ts';
import { freshDatabase, superuserUrl } from '../support/postgres.ts';

const compose: unknown = parse(readFileSync('compose.yaml', 'utf8'));
const readme = writtenCommands(readFileSync('README.md', 'utf8'));

function member(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
}

function words(value: unknown, name: string): readonly string[] {
  const list = member(value, name);
  return Array.isArray(list) ? list.map(String) : [];
}

// Images cannot be obtained everywhere: the files of the image are run as the file and README say, without Docker.
describe('compose.yaml', () => {
  const service = member(compose, 'services', 'boxgate');
  const database = member(compose, 'services', 'postgres', 'environment');
  const owner = new URL(String(member(service, 'environment', 'BOXGATE_OWNER_URL')));

  it('connects Boxgate to its Postgres, whose health it waits for', () => {
    const { username, password, hostname, pathname } = owner;
    expect([username, password]).to.deep.equal([
      member(database, 'POSTGRES_USER'),
      member(database, 'POSTGRES_PASSWORD'),
    ]);
    // The database has the name of its user.
    expect([hostname, pathname]).to.deep.equal(['postgres', `/${username}`]);
    expect(member(service, 'depends_on')).to.deep.equal({ postgres: { condition: 'service_healthy' } });
  });

  it('mounts what its command names, where the user of the image may write, and publishes the port to this machine alone', () => {
    const mounts = words(service, 'volumes').map((volume) => volume.split(':')[1]);
    const named = words(service, 'command').filter((word) => word.startsWith('/'));
    expect(named).to.have.members(mounts);
    expect(readFileSync('Dockerfile', 'utf8')).to.match(/^COPY --from=build --chown=65532:65532 \/state \/state$/m);
    expect(words(service, 'ports')).to.deep.equal(['127.0.0.1:8080:8080']);
    expect(words(service, 'command').join(' ')).to.contain('--host 0.0.0.0');
  });

  it('serves with the files of the image, and the curl of README returns a token', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-compose-'));
    const empty = await freshDatabase();
    try {
      const app = path.join(folder, 'app');
      await writeFiles(process.cwd(), app);
      cpSync('examples/standalone', path.join(folder, 'manifests'), {
        recursive: true,
        filter: (file) => !file.endsWith('.boxgate'),
      });
      const port = String(await ownPort());
      const [, entry = ''] = /^ENTRYPOINT \["node", "\/app\/(.*)"\]$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
      const mounted = (text: string): string => text.replace(/^\/(manifests|state)/, `${folder}/$1`);
      const BOXGATE_OWNER_URL = superuserUrl(new URL(empty.ownerUrl).pathname.slice(1));
      const boxgate = startBoxgate([...words(service, 'command').map(mounted), '--management-port', '0'], {
        command: [process.execPath, path.join(app, entry)],
        environment: { BOXGATE_OWNER_URL, PORT: port },
      });
      await boxgate.said(new RegExp(`^ready http://127\\.0\\.0\\.1:${port}$`, 'm'));
      const [how, node, ...health] = words(member(service, 'healthcheck'), 'test');
      expect([how, node]).to.deep.equal(['CMD', 'node']);
      execFileSync(
        process.execPath,
        health.map((word) => word.replace(':8080/', `:${port}/`)),
      );
      const [, secret = ''] = /boxgate:(\S+)/.exec(commandWith(readme, 'docker compose cp boxgate:')) ?? [];
      cpSync(mounted(secret), path.join(folder, 'reporting.json'));
      writeCurlStandIn(path.join(folder, 'curl'));
      const command = commandWith(readme, 'curl http://').replace(':8080/', `:${port}/`);
      const answer = execFileSync('sh', ['-c', command], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:${folder}` },
      });
      expect(String(member(parseJson(answer), 'access_token'))).to.match(/^bgt_/);
      expect(await boxgate.end()).to.equal(0);
    } finally {
      rmSync(folder, { recursive: true });
      await empty.drop();
    }
  });
});
