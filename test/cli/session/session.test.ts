import { expect } from 'chai';
import { isList } from '../../../crds/path.ts';
import { nextMillisecond } from '../../support/eventually.ts';
import { stringIn, type BoxApi, type Reply } from '../../http/resources/box-api.ts';
import { onAdminBoxctl, type Boxctl } from '../boxctl.ts';

describe('boxctl session end with the token of a session', () => {
  let api: BoxApi;
  let boxctl: Boxctl;
  onAdminBoxctl((started) => ({ api, boxctl } = started));

  /** Creates a client that may do everything, with settings of its grant. */
  async function createClient(id: string, settings: object = {}): Promise<void> {
    const client = { grant_types: ['client_credentials'], secret: 'x', auth: { client_credentials: settings } };
    await api.call('PUT', `/Client/${id}`, { body: client });
    const link = [{ resourceType: 'Client', id }];
    await api.call('PUT', `/AccessPolicy/${id}`, { body: { engine: 'allow', link } });
  }

  async function signIn(id: string): Promise<Reply> {
    // Lists are in the order of milliseconds.
    await nextMillisecond();
    return api.requestToken(id, 'x');
  }

  async function active(client: string): Promise<readonly unknown[]> {
    const { body } = await api.call('GET', `/Session?client=${client}&status=active&_result=array`);
    return isList(body) ? body : ['no list'];
  }

  const ended = (count: number): object => ({
    code: 0,
    output: `Ended ${String(count)} sessions in the box default.\n`,
    messages: '',
  });

  for (const [form, settings] of Object.entries({ opaque: {}, 'a JWT': { token_format: 'jwt' } })) {
    it(`ends newer sessions too if the token is ${form}`, async () => {
      const id = form === 'opaque' ? 'opaque' : 'jwt';
      await createClient(id, settings);
      const own = stringIn(await signIn(id), 'access_token');
      for (let nth = 0; nth < 3; nth += 1) await signIn(id);
      expect(await boxctl.run(['session', 'end', '--client', id], { BOXCTL_TOKEN: own })).to.deep.equal(ended(4));
      expect(await active(id)).to.deep.equal([]);
    });
  }

  it('ends the other sessions if an older one of the same family is among them', async () => {
    await createClient('family', { refresh_token: true });
    const first = await signIn('family');
    await signIn('family');
    await nextMillisecond();
    const refresh = { client_id: 'family', client_secret: 'x', refresh_token: stringIn(first, 'refresh_token') };
    const body = { ...refresh, grant_type: 'refresh_token' };
    const own = stringIn(await api.call('POST', '/auth/token', { body, token: null }), 'access_token');
    await signIn('family');
    expect(await active('family')).to.have.length(4);
    expect(await boxctl.run(['session', 'end', '--client', 'family'], { BOXCTL_TOKEN: own })).to.deep.equal(ended(4));
    expect(await active('family')).to.deep.equal([]);
  });

  it('ends named sessions if its own is named first', async () => {
    await createClient('named');
    const own = stringIn(await signIn('named'), 'access_token');
    await signIn('named');
    const newestFirst = await api.call('GET', '/Session?client=named&_elements=id&_result=array');
    const ids = (isList(newestFirst.body) ? newestFirst.body : []).map((one) => String(Reflect.get(Object(one), 'id')));
    const line = ['session', 'end', ...ids.toReversed()];
    expect(await boxctl.run(line, { BOXCTL_TOKEN: own })).to.deep.equal(ended(2));
    expect(await active('named')).to.deep.equal([]);
  });
});
