import { expect } from 'chai';
import { requestKeys, createRequestNotes } from '../../api/box/notes.ts';
import type { NotedRequest } from '../../api/box/notes.ts';

function request(box: string, client: string, more: Partial<NotedRequest> = {}): NotedRequest {
  return { box, subject: { client }, app: '', method: 'get', path: '/Client', policy: 'p', ...more };
}

describe('createRequestNotes', () => {
  it('keeps some requests of each client, box and in all, and drops the rest, until they are taken', () => {
    const notes = createRequestNotes({ ofClient: 2, ofBox: 3, inAll: 5 });
    for (let nth = 0; nth < 100; nth += 1) notes.note(request('busy', 'loud'));
    for (const client of ['a', 'b']) notes.note(request('busy', client));
    for (let nth = 0; nth < 100; nth += 1) for (const box of ['quiet', 'other']) notes.note(request(box, 'x'));
    const taken = notes.take().map(({ box, subject }) => `${box}/${String(subject.client)}`);
    expect(taken).to.deep.equal(['busy/loud', 'busy/loud', 'busy/a', 'quiet/x', 'other/x']);
    expect(notes.take()).to.deep.equal([]);
    notes.note(request('busy', 'loud'));
    expect(notes.take()).to.have.length(1);
  });
});

describe('requestKeys', () => {
  const principals = (subject: NotedRequest['subject']): readonly string[] =>
    requestKeys(request('shop', 'app', { subject: { client: 'app', ...subject } })).map(({ principal }) => principal);
  const user = { id: 7, groupIds: [1, 2], groupNames: ['a', 'b'] };

  it('counts a client as itself, and a user as each of their groups, never as a person', () => {
    expect(principals({})).to.deep.equal(['client']);
    expect(principals({ user })).to.deep.equal(['group:1', 'group:2']);
    expect(principals({ user: { ...user, groupIds: [], groupNames: [] } })).to.deep.equal(['user']);
    expect(principals({ user, withoutUserRights: true })).to.deep.equal(['limited']);
  });

  it('limits the groups of a user and the length of every text', () => {
    const groupIds = Array.from({ length: 500 }, (_, nth) => nth);
    expect(principals({ user: { ...user, groupIds } })).to.have.length(20);
    const long = { app: 'a'.repeat(999), method: 'm'.repeat(999), path: '/ab'.repeat(999) };
    const [{ app, method, shape } = { app: '', method: '', shape: '' }] = requestKeys(request('shop', 'app', long));
    expect([app.length, method.length, shape.length < 600]).to.deep.equal([253, 32, true]);
  });
});
