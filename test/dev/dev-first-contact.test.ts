import { expect } from 'chai';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { runBoxgate } from './boxgate-process.ts';
import { eventually } from '../support/eventually.ts';
import { askToken } from './box-requests.ts';
import { anyPorts, startDev } from './dev-process.ts';
import { clientYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

describe('boxgate dev at first contact', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('R-30 --once ends with 1 when a box cannot be applied, and the table names it', async () => {
    folder.write('manifests/good.yaml', clientYaml('good', '', 'fine'));
    folder.write('manifests/bad.yaml', clientYaml('bad', '', 'broken'));
    // Where the file of the secret should be nobody can read or write one, root neither.
    mkdirSync(folder.path('state/secrets/broken/bad-client.json'), { recursive: true });
    const args = ['dev', folder.path('manifests'), '--state', folder.path('state'), ...anyPorts, '--once'];
    const { code, stdout } = await runBoxgate(args);
    expect(code, stdout).to.equal(1);
    expect(stdout)
      .to.match(/^NAMESPACE +REASON +MESSAGE$/m)
      .and.to.match(/^broken +NotApplied +\S.*$/m);
    expect(stdout).not.to.match(/^fine +NotApplied/m);
    expect(stdout).to.match(/^fine .*client\.boxgate\.dev\/good .* True/m);
  });

  it('R-34 an empty folder says that nothing is declared', async () => {
    mkdirSync(folder.path('manifests'));
    const { code, stderr } = await runBoxgate(['dev', folder.path('manifests'), ...anyPorts, '--once']);
    expect(code).to.equal(0);
    expect(stderr).to.contain(`Nothing is declared: ${folder.path('manifests')} has no manifest of boxgate.dev/v1`);
  });

  it('R-34 keys that are lost are named, and nothing is made in their place', async () => {
    folder.write('manifests/good.yaml', clientYaml('good'));
    const args = ['dev', folder.path('manifests'), '--state', folder.path('state'), ...anyPorts, '--once'];
    expect((await runBoxgate(args)).code).to.equal(0);
    rmSync(folder.path('state/keys.json'));
    for (const _again of [1, 2]) {
      const { code, stderr } = await runBoxgate(args);
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        `boxgate: ${folder.path('state/keys.json')} is lost, and without it the data beside it cannot be opened: restore it, or remove the state folder to start again without its data\n`,
      );
    }
  });

  it('R-34 --help and --version are answered, after a command too', async () => {
    for (const args of [['dev', '--help'], ['dev', '-h'], ['dev', 'x', '--help'], ['--help']]) {
      const { code, stdout } = await runBoxgate(args);
      expect([code, stdout.startsWith('Usage: boxgate dev <folder>')], args.join(' ')).to.deep.equal([0, true]);
    }
    const [, version = ''] = /"version": "([^"]+)"/.exec(readFileSync('package.json', 'utf8')) ?? [];
    for (const args of [['--version'], ['version']]) {
      expect(await runBoxgate(args)).to.deep.include({ code: 0, stdout: `boxgate ${version}\n` });
    }
  });

  it('R-45 a box without objects in the folder is suspended, the table says so, and the root serves the one that is declared', async () => {
    const kept = clientYaml('kept', '  deletionPolicy: Retain\n  secret: of-kept\n', 'other');
    const box = 'apiVersion: boxgate.dev/v1\nkind: Box\nmetadata: { name: box, namespace: other }\nspec: {}\n';
    folder.write('manifests/good.yaml', clientYaml('good', '  secret: of-good\n'));
    folder.write('manifests/other.yaml', `${kept}---\n${box}`);
    const args = ['--state', folder.path('state')];
    let dev = await startDev(folder.path('manifests'), args);
    const status = async (at: string, id: string): Promise<number> =>
      (await askToken(`${dev.url}${at}`, id, `of-${id}`)).status;
    try {
      expect(await status('/boxes/other', 'kept')).to.equal(200);
      expect(await status('', 'good')).to.equal(404);
      folder.remove('manifests/other.yaml');
      await dev.boxgate.said(
        /^NAMESPACE +REASON +MESSAGE\nother +Suspended +Nothing in the folder declares it any more/m,
      );
      await eventually('the root serves the declared box', async () => (await status('', 'good')) === 200);
      expect(await status('/boxes/other', 'kept'), 'the retained client').to.equal(404);
      await dev.boxgate.end();
      dev = await startDev(folder.path('manifests'), args);
      expect([await status('', 'good'), await status('/boxes/other', 'kept')], 'after a restart').to.deep.equal([
        200, 404,
      ]);
      folder.write('manifests/other.yaml', kept.replace('name: kept', 'name: more').replace('of-kept', 'of-more'));
      await eventually('it serves again', async () => (await status('/boxes/other', 'more')) === 200);
      expect(await status('/boxes/other', 'kept'), 'the retained client again').to.equal(200);
      await dev.boxgate.end();
      folder.remove('manifests/other.yaml');
      dev = await startDev(folder.path('manifests'), args);
      expect([await status('', 'good'), await status('/boxes/other', 'kept')], 'removed meanwhile').to.deep.equal([
        200, 404,
      ]);
      expect(dev.boxgate.stdout).to.match(/^other +Suspended /m);
    } finally {
      await dev.boxgate.end();
    }
  });

  it('R-34 the address of a box leads to its sign-in page', async () => {
    folder.write('manifests/good.yaml', clientYaml('good'));
    const { boxgate, url } = await startDev(folder.path('manifests'));
    try {
      for (const address of [url, `${url}/`, `${url}/boxes/default`, `${url}/boxes/default/`]) {
        const page = await fetch(address);
        expect([page.status, page.url], address).to.deep.equal([200, `${url}/boxes/default/auth/signin`]);
        expect(page.headers.get('content-type')).to.contain('text/html');
      }
    } finally {
      await boxgate.end();
    }
  });
});
