import { expect } from 'chai';
import { comparisonWith } from './comparison.ts';
import type { SentResponse } from './comparison.ts';
import { routes, subtrees } from '../../../api/app.ts';
import { openApiDocument } from '../../../tools/openapi/document.ts';

const always = [
  ...['X-Request-Id', 'x-1', 'Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'],
  ...['Content-Security-Policy', 'none', 'Strict-Transport-Security', 'x', 'Referrer-Policy', 'no-referrer'],
];
const json = ['Content-Type', 'application/json; charset=utf-8'];
const group =
  '{"resourceType":"Group","id":1,"name":"a","description":null,"created_at":"2026-01-31T09:00:00.000Z","members":0}';
const usual: SentResponse = {
  method: 'GET',
  path: '/Group/1',
  status: 200,
  headers: [...always, ...json, 'ETag', '"1"'],
  body: group,
  hasBody: true,
};

describe('the comparison of responses with the OpenAPI document', () => {
  const { compare } = comparisonWith(openApiDocument({ routes, subtrees }));

  const same: Readonly<Record<string, Partial<SentResponse>>> = {
    'a resource': {},
    'a HEAD': { method: 'HEAD' },
    'a resource in YAML': {
      headers: [...always, 'Content-Type', 'application/yaml; charset=utf-8'],
      body: 'resourceType: Group\nid: 1\nname: a\ndescription: null\ncreated_at: "2026-01-31T09:00:00.000Z"\nmembers: 0\n',
    },
    'a part of a resource': { body: '{"resourceType":"Group","id":1}' },
    'headers of the transport': {
      headers: [...usual.headers, 'Connection', 'close', 'Date', 'now', 'Content-Length', '3'],
    },
    'a method that the path has not': {
      method: 'POST',
      status: 405,
      headers: [...always, ...json, 'Allow', 'GET'],
      body: '{"resourceType":"OperationOutcome","id":"x","issue":[{"severity":"error","code":"not-supported","diagnostics":"x"}]}',
    },
    'a path that is not there': {
      path: '/nothing',
      status: 404,
      headers: [...always, ...json],
      body: '{"error":"not_found"}',
    },
    'a preflight': {
      method: 'OPTIONS',
      status: 204,
      headers: [...always, 'Allow', 'GET, HEAD', 'Access-Control-Allow-Methods', 'GET'],
      body: undefined,
      hasBody: false,
    },
  };
  for (const [what, change] of Object.entries(same)) {
    it(`finds no difference in ${what}`, () => {
      expect(compare({ ...usual, ...change }).faults).to.deep.equal([]);
    });
  }

  const other: Readonly<Record<string, readonly [change: Partial<SentResponse>, says: RegExp]>> = {
    'a status': [{ status: 418 }, /^is not described$/],
    'a status of a path that is not there': [{ path: '/nothing', status: 200 }, /^is not described$/],
    'a header': [{ headers: [...usual.headers, 'X-Debug', '1'] }, /^has the header x-debug, which is not described$/],
    'a missing header': [{ headers: [...json, ...always.slice(2)] }, /^lacks the header x-request-id$/],
    'a content type': [{ headers: [...always, 'Content-Type', 'text/csv'] }, /^has a body of the type text\/csv/],
    'a missing body': [{ body: '', hasBody: false }, /^lacks a body$/],
    'a member': [{ body: group.replace('"id"', '"secret":"x","id"') }, /^has a body that is not described: the whole/],
    'the type of a member': [{ body: group.replace('"id":1', '"id":"1"') }, /\/id must be integer/],
    'an error of another form': [
      { status: 404, headers: [...always, ...json], body: '{"error":"not_found"}' },
      /must have required property/,
    ],
  };
  for (const [what, [change, says]] of Object.entries(other)) {
    it(`finds ${what} that is not described`, () => {
      expect(compare({ ...usual, ...change }).faults[0]).to.match(says);
    });
  }
});
