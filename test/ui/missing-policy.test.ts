import { expect } from 'chai';
import { parse } from 'yaml';
import { missingPolicy } from '../../api/ui/record/missing-policy.ts';
import { member } from '../support/member.ts';

const expressionFor = (method: string, path: string): unknown => {
  const manifest: unknown = parse(missingPolicy({ method, path, box: 'shop', user: '7' }));
  expect(manifest).to.have.property('kind', 'AccessPolicy');
  expect(manifest).to.have.nested.property('metadata.namespace', 'shop');
  expect(manifest).to.have.deep.nested.property('spec.link', [{ resourceType: 'User', id: '7' }]);
  return member(member(manifest, 'spec'), 'expression');
};

describe('the policy that the UI proposes for a missing right', () => {
  it('lets the user read a list or any record of it', () => {
    expect(expressionFor('GET', '/users')).to.equal('request_method == "get" && uri == "/users"');
    expect(expressionFor('GET', '/users/9')).to.equal('request_method == "get" && uri.startsWith("/users/")');
    expect(expressionFor('DELETE', '/Client/a')).to.equal('request_method == "delete" && uri.startsWith("/Client/")');
  });

  it('grants no more than the own records, where the request was for these', () => {
    expect(expressionFor('GET', '/Session?user=7')).to.equal(
      'request_method == "get" && uri == "/Session" && "user" in params && params.user == "7"',
    );
    expect(expressionFor('GET', '/Session?user=8')).to.equal('request_method == "get" && uri == "/Session"');
    expect(expressionFor('DELETE', '/Grant/7.app')).to.equal(
      'request_method == "delete" && uri.startsWith("/Grant/7.")',
    );
    expect(expressionFor('GET', '/users/7')).to.equal('request_method == "get" && uri == "/users/7"');
  });

  it('has a name of its own for each rule, so that applying one does not replace another', () => {
    const paths = [
      '/users',
      '/users/9',
      '/users/7',
      '/users?user=7',
      '/AccessPolicy',
      '/AccessPolicy/$explain',
      '/AccessPolicy/a',
      '/Grant/7.app',
      '/Grant/8.app',
      '/Grant?user=7',
      '/Grant',
    ];
    const names = new Map<unknown, unknown>();
    for (const path of paths) {
      const manifest: unknown = parse(missingPolicy({ method: 'GET', path, box: 'shop', user: '7' }));
      const name = member(member(manifest, 'metadata'), 'name');
      const rule = member(member(manifest, 'spec'), 'expression');
      expect(name, path).to.match(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(names.get(name) ?? rule, `${path}: ${String(name)}`).to.equal(rule);
      names.set(name, rule);
    }
    expect(names.size).to.be.above(8);
    expect([...new Set(names.values())]).to.have.length(names.size);
  });

  it('lets nobody join a group by changing the own record', () => {
    expect(expressionFor('PUT', '/users/7')).to.equal(
      'request_method == "put" && uri == "/users/7" && changes.all(field, field in ["password", "data"])',
    );
  });
});
