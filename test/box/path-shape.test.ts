import { expect } from 'chai';
import { pathShape, sampleOf } from '../../api/box/notes.ts';

describe('pathShape', () => {
  // prettier-ignore
  const own: Readonly<Record<string, string>> = {
    '/Client':                                          '/Client',
    '/Client/my-app':                                   '/Client/{id}',
    '/users/7':                                         '/users/{number}',
    '/Session/0197a0a0-0000-7000-8000-000000000001':    '/Session/{uuid}',
    '/AccessPolicy/$explain':                           '/AccessPolicy/$explain',
    '/$plan':                                           '/$plan',
    '/users/':                                          '/users/',
  };
  for (const [path, shape] of Object.entries(own)) {
    it(`is ${shape} for ${path} of a box`, () => {
      expect(pathShape(path, true)).to.equal(shape);
    });
  }

  // prettier-ignore
  const ofApps: Readonly<Record<string, string>> = {
    '/':                                                '/',
    '/orders/open':                                     '/orders/open',
    '/orders/4711/lines/2':                             '/orders/{number}/lines/{number}',
    '/people/ann@mail.example':                         '/people/{id}',
    '/files/3f2a9c0de1b45678':                          '/files/{id}',
    '/keys/AbCdEfGhIjKlMnOp1':                          '/keys/{id}',
    '/käufe':                                           '/{id}',
    [`/${'a'.repeat(41)}`]:                             '/{id}',
    '/a/b/c/d/e/f/g/h/i/j/k/l/m/n':                     '/a/b/c/d/e/f/g/h/i/j/k/l/{rest}',
  };
  for (const [path, shape] of Object.entries(ofApps)) {
    it(`is ${shape} for ${path} of an app`, () => {
      expect(pathShape(path, false)).to.equal(shape);
    });
  }

  it('has a sample of the same shape', () => {
    for (const shape of Object.values(ofApps))
      expect(pathShape(sampleOf(shape), false)).to.be.oneOf([shape, sampleOf(shape)]);
    expect(sampleOf('/orders/{number}/{uuid}')).to.equal('/orders/1/00000000-0000-7000-8000-000000000000');
  });
});
