import { expect } from 'chai';
import { shortPath } from '../../dev/hints.ts';
import { isList, isObject, parseJson } from '../../crds/path.ts';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { getStatus, isActive, tokenOf } from './box-requests.ts';
import { startDev, urlsOf } from './dev-process.ts';
import type { DevProcess } from './dev-process.ts';
import { clientYaml, policyYaml, temporaryFolder } from './temporary-folder.ts';
import type { TemporaryFolder } from './temporary-folder.ts';

const secret = 'secret-of-a-client';
const person = { email: 'ann@example.com', password: 'what Ann has chosen' };

const desk = `apiVersion: boxgate.dev/v1
kind: Client
metadata: { name: desk }
spec:
  secret: ${secret}
  grant_types: [password]
  scope: [boxgate]
`;

const group = (spec: string): string => `apiVersion: boxgate.dev/v1
kind: Group
metadata: { name: staff }
spec: ${spec}
`;

const policy = `apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata: { name: staff-see-groups }
spec:
  engine: matcho
  matcho: { request-method: get, uri: '#^/Group(/|$)' }
  link: [{ resourceType: Group, id: staff }]
`;

describe('boxgate dev, with a Group in its folder', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;
  let dev: DevProcess;
  let admin = '';
  let user = 0;
  let staff = 0;

  before(async () => {
    folder = temporaryFolder();
    database = await freshDatabase();
    folder.write('admin.yaml', `${clientYaml('admin', `  secret: ${secret}\n`)}---\n${policyYaml('admin')}`);
    folder.write('desk.yaml', desk);
    folder.write('policy.yaml', policy);
    folder.write('group.yaml', group('{ description: Who works here }'));
    dev = await startDev(folder.root, urlsOf(database));
    admin = await tokenOf(box(), 'admin', secret);
    ({ id: user } = numbered((await send('POST', '/users', person)).body));
  });
  after(async () => {
    await dev.boxgate.end();
    folder.remove();
    await database.drop();
  });

  const box = (): string => `${dev.url}/boxes/default`;

  async function send(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const headers = { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${box()}${path}`, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    return { status: response.status, body: parseJson(text) };
  }

  async function signIn(): Promise<string> {
    const { email: username, password } = person;
    const response = await fetch(`${box()}/auth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`desk:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'password', scope: 'boxgate', username, password }),
    });
    const body: unknown = await response.json();
    return isObject(body) ? String(body['access_token']) : '';
  }

  async function groups(): Promise<readonly Numbered[]> {
    const { body } = await send('GET', '/Group?_result=array');
    return isList(body) ? body.map(numbered) : [];
  }

  it('says that the group is Ready and that the policy finds it, though nobody has called the API', async () => {
    expect(dev.boxgate.stdout).to.match(/^default +group\.boxgate\.dev\/staff +staff +True +Ready$/m);
    expect(dev.boxgate.stdout).to.match(/^default +accesspolicy\.boxgate\.dev\/staff-see-groups .* True +Ready$/m);
    const [one] = await groups();
    expect(one).to.deep.include({ name: 'staff', description: 'Who works here', members: 0 });
    staff = one?.id ?? 0;
  });

  it('lets a person who becomes its member do what the policy grants, and nobody else', async () => {
    const token = await signIn();
    expect(await getStatus(box(), '/Group', token)).to.equal(403);
    expect((await send('PUT', `/users/${String(user)}`, { 'group-ids': [staff] })).status).to.equal(200);
    expect(await getStatus(box(), '/Group', token)).to.equal(200);
  });

  it('refuses to rename or delete it over REST, and names the folder, as the admin UI does', async () => {
    const shown = shortPath(folder.root, process.cwd());
    const issue = [
      {
        severity: 'error',
        code: 'conflict',
        diagnostics: `Group staff is declared by a manifest in the folder ${shown}, as default/staff: change or delete it there`,
      },
    ];
    const path = `/Group/${String(staff)}`;
    for (const answer of [
      await send('PUT', path, { name: 'others' }),
      await send('PATCH', path, { description: 'mine' }),
      await send('DELETE', path),
    ]) {
      expect(answer.status).to.equal(409);
      expect(answer.body).to.deep.include({ issue });
    }
    expect(await (await fetch(`${box()}/ui/`)).text()).to.contain(`data-folder="${shown}"`);
  });

  it('follows its description, and keeps its id and its members', async () => {
    folder.save('group.yaml', group('{ description: Who still works here, deletionPolicy: Delete }'));
    await eventually('the description is the new one', async () => {
      const [one] = await groups();
      return JSON.stringify(one).includes('Who still works here');
    });
    expect((await groups())[0]).to.include({ id: staff, members: 1 });
  });

  it('takes access from its members the moment it is deleted, and leaves their sessions', async () => {
    const token = await signIn();
    expect(await getStatus(box(), '/Group', token)).to.equal(200);
    folder.remove('group.yaml');
    await eventually('the group is gone', async () => (await groups()).length === 0);
    expect(await getStatus(box(), '/Group', token)).to.equal(403);
    expect(await isActive(box(), token, 'admin', secret)).to.equal(true);
    await dev.boxgate.said(/^group\.boxgate\.dev "staff" deleted from default$/m);
  });

  it('is another group when it is declared again: without the members of the old one', async () => {
    folder.save('group.yaml', group('{}'));
    await eventually('the group is there', async () => (await groups()).length === 1);
    const [one] = await groups();
    expect(one).to.deep.include({ name: 'staff', description: null, members: 0 });
    expect(one?.id).to.be.greaterThan(staff);
  });

  it('goes on without an owner and with its members when it is removed by default, and is found again', async () => {
    const [{ id } = { id: 0 }] = await groups();
    await send('PUT', `/users/${String(user)}`, { 'group-ids': [id] });
    folder.remove('group.yaml');
    await eventually('the group can be changed over REST', async () => {
      return (await send('PATCH', `/Group/${String(id)}`, { description: 'ours now' })).status === 200;
    });
    expect((await groups())[0]).to.deep.include({ id, members: 1, description: 'ours now' });
    folder.save('group.yaml', group('{ description: declared again }'));
    await eventually('the group is declared again', async () => {
      return JSON.stringify(await groups()).includes('declared again');
    });
    expect((await groups())[0]).to.deep.include({ id, members: 1 });
  });
});

/** A group or user, as an answer shows it. */
interface Numbered {
  readonly id: number;
  readonly name: unknown;
  readonly members: unknown;
}

function numbered(body: unknown): Numbered {
  if (!isObject(body)) throw new Error('the answer is not an object');
  const { id, name, members, ...others } = body;
  return { id: Number(id), name, members, ...others };
}
