import { expect } from 'chai';
import http from 'node:http';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { familyOf, signalAll } from '../support/processes.ts';
import { askToken, getStatus, isActive, tokenOf } from './box-requests.ts';
import { startDev, urlsOf } from './dev-process.ts';
import type { DevProcess } from './dev-process.ts';
import { clientYaml, policyYaml, secretYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

/** Secret of the client `admin`, which may do everything. */
const adminSecret = 'secret-of-the-admin';

/** A client with a chosen secret, and the policy that lets it do everything, in one file. */
function grantedYaml(name: string, secret: string): string {
  return `${clientYaml(name, `  secret: ${secret}\n`)}---\n${policyYaml(name)}`;
}

describe('boxgate dev, while its folder changes', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;
  let dev: DevProcess;
  let markers = 0;

  before(async () => {
    folder = temporaryFolder();
    database = await freshDatabase();
    folder.write('admin.yaml', grantedYaml('admin', adminSecret));
    // It is asked again and again with secrets that do not work yet.
    const environment = { BOXGATE_FAILURES_PER_CLIENT: '1000000', BOXGATE_FAILURES_PER_BOX: '1000000' };
    dev = await startDev(folder.root, urlsOf(database), { environment });
  });
  after(async () => {
    await dev.boxgate.end();
    folder.remove();
    await database.drop();
  });

  const box = (): string => `${dev.url}/boxes/default`;
  const token = (id: string, secret: string): Promise<string> => tokenOf(box(), id, secret);

  async function answers(id: string, secret: string, status: number): Promise<void> {
    await eventually(`${id} with ${secret} is answered ${String(status)}`, async () => {
      return (await askToken(box(), id, secret)).status === status;
    });
  }

  async function reads(path: string, bearer: string, status: number): Promise<void> {
    await eventually(`GET ${path} is answered ${String(status)}`, async () => {
      return (await getStatus(box(), path, bearer)) === status;
    });
  }

  /** Something that is declared now is applied after whatever was there to be seen before. */
  async function everythingIsSeen(): Promise<void> {
    markers += 1;
    const name = `marker-${String(markers)}`;
    folder.save(`${name}.yaml`, clientYaml(name, '  secret: of-a-marker\n'));
    await answers(name, 'of-a-marker', 200);
    folder.remove(`${name}.yaml`);
    // What is missing is let go in the same listing as this one, or in an earlier one.
    await answers(name, 'of-a-marker', 401);
  }

  it('a secret that is edited works and the old one is refused; living tokens go on', async () => {
    folder.save('edited.yaml', grantedYaml('edited', 'the-first'));
    await answers('edited', 'the-first', 200);
    const living = await token('edited', 'the-first');
    folder.save('edited.yaml', grantedYaml('edited', 'the-second'));
    await answers('edited', 'the-second', 200);
    expect((await askToken(box(), 'edited', 'the-first')).status).to.equal(401);
    expect(await getStatus(box(), '/Session', living)).to.equal(200);
  });

  it('a file that is removed: its living token is refused, and the output says so', async () => {
    folder.save('removed.yaml', grantedYaml('removed', 'a-secret'));
    await answers('removed', 'a-secret', 200);
    const living = await token('removed', 'a-secret');
    expect(await getStatus(box(), '/Session', living)).to.equal(200);
    folder.remove('removed.yaml');
    await reads('/Session', living, 401);
    expect(await isActive(box(), living, 'admin', adminSecret)).to.equal(false);
    expect((await askToken(box(), 'removed', 'a-secret')).status).to.equal(401);
    await dev.boxgate.said(/^client\.boxgate\.dev "removed" deleted from default$/m);
  });

  it('a file that is renamed: nothing of it is ever gone', async () => {
    folder.save('old-name.yaml', grantedYaml('renamed', 'a-secret'));
    await answers('renamed', 'a-secret', 200);
    const living = await token('renamed', 'a-secret');
    folder.rename('old-name.yaml', 'new-name.yaml');
    await everythingIsSeen();
    folder.write('below/kept.txt', '');
    folder.rename('new-name.yaml', 'below/newer-name.yaml');
    await everythingIsSeen();
    expect(await getStatus(box(), '/Session', living)).to.equal(200);
    expect(dev.boxgate.stdout).not.to.include('"renamed" deleted');
  });

  it('a file that cannot be read: all stays as it is, and the output names file, line and why', async () => {
    folder.save('broken.yaml', grantedYaml('broken', 'a-secret'));
    folder.save('bystander.yaml', grantedYaml('bystander', 'a-secret'));
    await answers('broken', 'a-secret', 200);
    await answers('bystander', 'a-secret', 200);
    const living = await token('broken', 'a-secret');
    const bystander = await token('bystander', 'a-secret');

    folder.save('broken.yaml', 'apiVersion: boxgate.dev/v1\nkind: Client\nmetadata: {name: [\n');
    const [line] = await dev.boxgate.said(/^.*broken\.yaml:\d+: cannot be read: .*$/m);
    expect(line).to.match(/broken\.yaml:[34]: cannot be read: \w.*nothing of the folder is removed$/);
    folder.remove('bystander.yaml');
    folder.save('new.yaml', grantedYaml('new', 'a-secret'));
    await answers('new', 'a-secret', 200);
    folder.save('new.yaml', grantedYaml('new', 'another-secret'));
    await answers('new', 'another-secret', 200);
    expect(await getStatus(box(), '/Session', living)).to.equal(200);
    expect(await getStatus(box(), '/Session', bystander)).to.equal(200);

    folder.save('broken.yaml', grantedYaml('broken', 'mended'));
    await dev.boxgate.said(/^Every file can be read again\.$/m);
    await answers('broken', 'mended', 200);
    expect(await getStatus(box(), '/Session', living)).to.equal(200);
    await reads('/Session', bystander, 401);
  });

  it('an object that is refused keeps the one that was there, and its status says why, at which line', async () => {
    folder.save('faulty.yaml', grantedYaml('faulty', 'a-secret'));
    await answers('faulty', 'a-secret', 200);
    const faulty = grantedYaml('faulty', 'a-new-secret').replace('[client_credentials]', '[client_credential]');
    folder.save('faulty.yaml', faulty);
    await dev.boxgate.said(/^default +client\.boxgate\.dev\/faulty .* False +Invalid$/m);
    await dev.boxgate.said(/faulty\.yaml:6: spec\.grant_types\[0\] \w/);
    expect((await askToken(box(), 'faulty', 'a-secret')).status).to.equal(200);
  });

  it('one of two documents in a file is taken out: the other one stays', async () => {
    const one = clientYaml('one-of-two', '  secret: a-secret\n');
    const other = clientYaml('other-of-two', '  secret: a-secret\n');
    folder.save('two.yaml', `${one}---\n${other}`);
    await answers('one-of-two', 'a-secret', 200);
    await answers('other-of-two', 'a-secret', 200);
    folder.save('two.yaml', other);
    await answers('one-of-two', 'a-secret', 401);
    expect((await askToken(box(), 'other-of-two', 'a-secret')).status).to.equal(200);
  });

  it('a policy grants from when it is there until it is gone', async () => {
    folder.save('waiting.yaml', clientYaml('waiting', '  secret: a-secret\n'));
    await answers('waiting', 'a-secret', 200);
    const living = await token('waiting', 'a-secret');
    expect(await getStatus(box(), '/Client', living)).to.equal(403);
    folder.save('grant.yaml', policyYaml('grant', 'waiting'));
    await reads('/Client', living, 200);
    folder.remove('grant.yaml');
    await reads('/Client', living, 403);
  });

  it('secretRef reads a Secret of the folder, and follows it', async () => {
    const reference = '  secretRef: { name: shared, key: client_secret }\n';
    folder.save('referring.yaml', clientYaml('referring', reference));
    await dev.boxgate.said(/client\.boxgate\.dev\/referring .* False +SecretNotFound$/m);
    folder.save('secret.yaml', secretYaml('shared', 'from-a-secret'));
    await answers('referring', 'from-a-secret', 200);
    folder.save('secret.yaml', secretYaml('shared', 'from-a-newer-secret'));
    await answers('referring', 'from-a-newer-secret', 200);
    expect((await askToken(box(), 'referring', 'from-a-secret')).status).to.equal(401);
    folder.remove('secret.yaml');
    await everythingIsSeen();
    expect((await askToken(box(), 'referring', 'from-a-newer-secret')).status).to.equal(200);
  });

  // E-21.
  it('a refusal is printed with its reason, and the page lists the addresses of the client', async () => {
    const listed = 'http://127.0.0.1:3000/callback';
    const code = `  auth: { authorization_code: { redirect_uri: '${listed}' } }\n`;
    folder.save('web.yaml', clientYaml('web', code).replace('client_credentials', 'authorization_code'));
    const query = (redirect: string): string =>
      String(new URLSearchParams({ response_type: 'code', client_id: 'web', redirect_uri: redirect }));
    const wrong = 'http://127.0.0.1:3000/wrong';
    let page = '';
    await eventually('the page names the client', async () => {
      page = await (await fetch(`${box()}/auth/authorize?${query(wrong)}`)).text();
      return page.includes('the client web');
    });
    expect(page).to.include(`redirect_uri ${wrong} is not listed by the client web. It lists: ${listed}`);
    await dev.boxgate.said(
      /^GET \/auth\/authorize: 400 redirect_uri_not_listed \(redirect_uri .*wrong\), request ID \S+$/m,
    );
    expect((await askToken(box(), 'nobody', 'x')).status).to.equal(401);
    await dev.boxgate.said(/^POST \/auth\/token: 401 unknown_client, request ID \S+$/m);
    await dev.boxgate.said(/^ {2}the box has no client with this ID\. Compare the `client_id`/m);
  });

  it('an API that dies is started again at the same address, with all that it knew', async () => {
    const living = await token('admin', adminSecret);
    signalAll(
      familyOf(dev.boxgate.pid).filter((pid) => pid !== dev.boxgate.pid),
      'SIGKILL',
    );
    await dev.boxgate.said(/^The API has ended .*; starting it again$/m);
    await dev.boxgate.said(/^The API is back\.$/m);
    expect(await getStatus(box(), '/Session', living)).to.equal(200);
    folder.save('after.yaml', grantedYaml('after', 'a-secret'));
    await answers('after', 'a-secret', 200);
  });

  describe('with a second box', () => {
    const metadata = '/.well-known/oauth-authorization-server';

    /** The status of a request to the root by a host name of one's own. */
    function statusAt(host: string): Promise<number | undefined> {
      return new Promise((resolve, reject) => {
        const asked = http.get(`${dev.url}${metadata}`, { headers: { Host: host }, agent: false }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.on('error', reject);
      });
    }

    async function statusOf(path: string): Promise<number> {
      return (await fetch(`${dev.url}${path}`)).status;
    }

    it('each is at /boxes/<namespace>, and none at the root any more', async () => {
      expect(await statusOf(metadata)).to.equal(200);
      folder.save('second.yaml', clientYaml('second', '  secret: a-secret\n', 'second'));
      await eventually('nobody is at the root', async () => (await statusOf(metadata)) === 404);
      expect(await statusOf(`/boxes/second${metadata}`)).to.equal(200);
      expect(await statusOf(`/boxes/default${metadata}`)).to.equal(200);
      expect(await statusOf(`/boxes/third${metadata}`)).to.equal(404);
    });

    it('the hosts of a Box lead to it, with no grant for them', async () => {
      expect(await statusAt('auth.example.test')).to.equal(404);
      const spec = 'spec: { hosts: [auth.example.test] }';
      folder.save('box.yaml', `apiVersion: boxgate.dev/v1\nkind: Box\nmetadata: { name: box }\n${spec}\n`);
      await eventually('the host leads to its box', async () => (await statusAt('auth.example.test')) === 200);
      expect(await statusAt('other.example.test')).to.equal(404);
    });

    it('the colour of a Box is on its sign-in page, and a wrong one is named with what it must be', async () => {
      const save = (color: string): void => {
        const spec = `spec: { sign_in: { color: ${color} } }`;
        folder.save('box.yaml', `apiVersion: boxgate.dev/v1\nkind: Box\nmetadata: { name: box }\n${spec}\n`);
      };
      const isOnPage = async (): Promise<boolean> =>
        (await (await fetch(`${box()}/auth/signin`)).text()).includes('--button: #b3005e;');
      save('"#b3005e"');
      await eventually('the page has the colour', isOnPage);
      save('pink');
      await dev.boxgate.said(/sign_in\.color must be # and six hexadecimal digits, such as "#1f5fbf"/);
      expect(await isOnPage()).to.equal(true);
    });
  });
});
