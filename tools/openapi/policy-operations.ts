import type { JsonObject } from '../../crds/path.ts';
import { schemaRef } from './components.ts';
import type { Operation } from './operation.ts';
import { errors, inEachFormat, json, responseObject } from './responses.ts';

/** Operations about policies, and about the whole declared state of a box, by method and path. */
export const policyOperations: Readonly<Record<string, Operation>> = {
  'GET /AccessPolicy/$usage': {
    id: 'policyUsage',
    tag: 'AccessPolicy',
    summary: 'Returns the last use of each policy.',
    access: 'token',
    responses: reading(responseObject({ description: 'The usage.', content: inEachFormat(schemaRef('PolicyUsage')) })),
  },
  'GET /AccessPolicy/$requests': {
    id: 'recordedRequests',
    tag: 'AccessPolicy',
    summary: 'Lists the recorded requests and the decisions about them, the latest first, at most 5,000.',
    access: 'token',
    responses: reading(
      responseObject({ description: 'The requests.', content: inEachFormat(listOf('RecordedRequest')) }),
    ),
  },
  'GET /$export': {
    id: 'export',
    tag: 'Box',
    summary: 'Lists the settings, groups, clients, policies and quotas of the box, a page at a time.',
    access: 'token',
    parameters: [
      {
        name: '_after',
        in: 'query',
        description: 'From a link to a page: the kind and ID of the row before it.',
        schema: { type: 'string' },
      },
    ],
    responses: reading(
      responseObject({ description: 'One page.', headers: ['Link'], content: inEachFormat(listOf('ExportedRow')) }),
    ),
  },
  'POST /$plan': {
    id: 'plan',
    tag: 'Box',
    summary: 'Returns the effect of a desired state on the box, which it does not change.',
    access: 'token',
    body: { 'application/x-ndjson': { schema: schemaRef('PlanLine') } },
    responses: {
      200: responseObject({ description: 'The effect.', content: json(schemaRef('Plan')) }),
      ...errors('Resource', [400, 401, 403, 404, 409, 413, 415, 422, 429, 503]),
    },
  },
};

function reading(success: JsonObject): Record<string, JsonObject> {
  return { 200: success, ...errors('Resource', [400, 401, 403, 404, 406, 429, 503]) };
}

function listOf(name: string): JsonObject {
  return { type: 'array', items: schemaRef(name) };
}
