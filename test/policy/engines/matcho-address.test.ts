import { expect } from 'chai';
import { compiled, sampleRequest } from '../policies.ts';

describe('engine matcho, for a caller of unknown address', () => {
  const rows: readonly (readonly [pattern: object, fits: boolean])[] = [
    [{ 'remote-addr': { $cidr: '10.0.0.0/8' } }, false],
    [{ 'remote-addr': { $not: { $cidr: '10.0.0.0/8' } } }, false],
    [{ 'remote-addr': { $not: { $not: { $cidr: '10.0.0.0/8' } } } }, false],
    [{ 'remote-addr': { $not: '192.0.2.1' } }, false],
    [{ 'remote-addr': { $not: '#^192[.]' } }, false],
    [{ 'remote-addr': { $not: { $enum: ['192.0.2.1'] } } }, false],
    [{ 'remote-addr': { $not: '.headers.host' } }, false],
    [{ 'remote-addr': { $not: { '$one-of': ['192.0.2.1', { $cidr: '10.0.0.0/8' }] } } }, false],
    [{ 'remote-addr': { '$one-of': [{ $not: '192.0.2.1' }, { $cidr: '10.0.0.0/8' }] } }, false],
    [{ $not: { 'remote-addr': { $cidr: '10.0.0.0/8' } } }, false],
    [{ $not: { uri: '/else', 'remote-addr': { $cidr: '10.0.0.0/8' } } }, true],
    [{ '$one-of': [{ $not: { 'remote-addr': '192.0.2.1' } }, { uri: '/else' }] }, false],
    [{ '$one-of': [{ $not: { 'remote-addr': '192.0.2.1' } }, { uri: '/Client/reports' }] }, true],
    [{ headers: { host: { $not: '.remote-addr' } } }, false],
    [{ headers: { host: { $not: '.client.details.nothing' } } }, true],
    [{ 'remote-addr': 'nil?' }, true],
    [{ 'remote-addr': { '$one-of': ['nil?', { $cidr: '10.0.0.0/8' }] } }, true],
    [{ 'remote-addr': { $not: 'nil?' } }, false],
    [{ 'remote-addr': { $not: 'present?' } }, true],
  ];
  for (const [matcho, expected] of rows) {
    it(`${JSON.stringify(matcho)} ${expected ? 'fits' : 'does not fit'}`, () => {
      const policy = compiled({ engine: 'matcho', matcho });
      expect(policy.fault).to.equal(undefined);
      expect(policy.allows(sampleRequest({ remoteAddr: undefined }))).to.equal(expected);
    });
  }
});
