import { expect } from 'chai';
import { RESERVED_SCOPES } from '../../crds/uri.ts';
import { knownScopes, requestableScopes } from '../../api/box/scopes.ts';
import type { Box } from '../../crds/box.ts';
import type { Client } from '../../crds/client.ts';

const sentences = { 'orders.read': { en: 'see your orders' }, toString: { en: 'build' } };

/** The known ones of a few scopes, for a client and a Box. */
function known(client: Pick<Client, 'scope' | 'auth'>, scopes: Box['scopes']): readonly string[] {
  const box: Box = { resourceType: 'Box', id: 'default', ...(scopes && { scopes }) };
  const found = knownScopes(requestableScopes(client, false), box);
  return ['read', 'write', 'orders.read', 'toString', 'valueOf'].filter((scope) => found.has(scope));
}

describe('the scopes that a box knows in a request of a client', () => {
  it('are none of its own without a list and a declaration', () => {
    expect(known({}, undefined)).to.deep.equal([]);
  });

  it('are those that the client lists, whatever the subject of its token', () => {
    expect(known({ scope: ['read', 'valueOf'] }, undefined)).to.deep.equal(['read', 'valueOf']);
  });

  it('are those that the Box declares', () => {
    expect(known({}, sentences)).to.deep.equal(['orders.read', 'toString']);
    expect(known({ scope: ['read'] }, sentences)).to.deep.equal(['read', 'orders.read', 'toString']);
  });

  it('are always those that mean the same in every box', () => {
    const found = knownScopes(requestableScopes({ scope: [] }, true), {});
    for (const scope of [...RESERVED_SCOPES, ...requestableScopes({}, true).user]) {
      expect(found.has(scope), scope).to.equal(true);
    }
  });
});
