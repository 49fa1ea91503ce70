import { expect } from 'chai';
import { handedOn } from '../../../dev/processes/dev-api.ts';

describe('the settings that boxgate dev passes on to its API', () => {
  it('are the trusted proxies, so that policies for apps can be tried with addresses', () => {
    // E-08: without it, no policy on remote-addr granted behind a gateway.
    expect(handedOn({ BOXGATE_TRUSTED_PROXIES: '127.0.0.1' })).to.deep.equal({ BOXGATE_TRUSTED_PROXIES: '127.0.0.1' });
  });

  it('are the hosts of key sets too, and none that it sets itself', () => {
    // E-32: BOXGATE_JWKS_HOSTS was not passed on, so no client with a jwks_uri worked.
    const environment = { BOXGATE_JWKS_HOSTS: 'keys.example.com', BOXGATE_PORT: '9', HOME: '/root' };
    expect(handedOn(environment)).to.deep.equal({ BOXGATE_JWKS_HOSTS: 'keys.example.com' });
  });
});
