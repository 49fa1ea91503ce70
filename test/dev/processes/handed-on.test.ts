import { expect } from 'chai';
import { handedOn } from '../../../dev/processes/dev-api.ts';

describe('the settings that boxgate dev passes on to its API', () => {
  it('are the hosts of key sets too, and none that it sets itself', () => {
    // E-32: BOXGATE_JWKS_HOSTS was not passed on, so no client with a jwks_uri worked.
    const environment = { BOXGATE_JWKS_HOSTS: 'keys.example.com', BOXGATE_PORT: '9', HOME: '/root' };
    expect(handedOn(environment)).to.deep.equal({ BOXGATE_JWKS_HOSTS: 'keys.example.com' });
  });
});
