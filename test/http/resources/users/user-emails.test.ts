import { expect } from 'chai';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';
import { member } from '../../../support/member.ts';
import { fieldsAtFault, password, userRequests } from './user-requests.ts';

describe('the email of a user', () => {
  let api: BoxApi;
  const { anEmail, create, listed, post } = userRequests(() => api);

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  describe('U-01 an email that is there already, of a hundred at the same time', () => {
    it('is stored once; the others are 422', async () => {
      const spellings = ['Ann@Mail.Example', 'ann@mail.example', 'ANN@MAIL.EXAMPLE'];
      const answers = await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          // The queue of passwords is bounded: who is sent away tries again.
          for (;;) {
            const reply = await post({ email: spellings[index % 3], password });
            if (reply.status !== 503) return reply;
          }
        }),
      );
      const counts = Map.groupBy(answers, ({ status }) => status);
      expect([counts.get(201)?.length, counts.get(422)?.length]).to.deep.equal([1, 99]);
      for (const reply of counts.get(422) ?? []) {
        expect(fieldsAtFault(reply)).to.deep.equal(['email']);
        expect(reply.text).to.contain('taken');
      }
    });

    it('is refused in a PUT too', async () => {
      const [email, other] = [anEmail(), await create()];
      await create({ email });
      const reply = await api.call('PUT', `/users/${other}`, { body: { email: email.toUpperCase() } });
      expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['email']]);
      expect((await api.call('PUT', `/users/${other}`, { body: { email: anEmail() } })).status).to.equal(200);
    });

    it('R-08 may be the one that the user has, in another case: its normal form is shown', async () => {
      const email = anEmail();
      const id = await create({ email });
      const reply = await api.call('PUT', `/users/${id}`, { body: { email: email.toUpperCase() } });
      expect([reply.status, member(reply.body, 'email')]).to.deep.equal([200, email]);
    });
  });

  for (const email of [
    'x@b\n.com',
    'x@b.com/path',
    'x@b.com?q',
    'x@b.com#f',
    'x@b.com\\x',
    'x@b%2ecom',
    'x@2130706433',
  ]) {
    it(`R-08 refuses the email ${JSON.stringify(email)} in a POST and in a PUT`, async () => {
      const id = await create();
      for (const reply of [
        await post({ email, password }),
        await api.call('PUT', `/users/${id}`, { body: { email } }),
      ]) {
        expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['email']]);
      }
    });
  }

  it('R-08 stores, shows and finds an email in one normal form', async () => {
    const reply = await post({ email: 'J\u00f6rg.M@B\u00fccher.Example', password });
    const normal = 'j\u00f6rg.m@xn--bcher-kva.example';
    expect(member(reply.body, 'email')).to.equal(normal);
    expect(await listed(`email=${encodeURIComponent('J\u00f6rg.M@b\u00fccher.example')}`)).to.deep.equal([normal]);
  });
});
