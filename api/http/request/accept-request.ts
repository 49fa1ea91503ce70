import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomBytes } from 'node:crypto';
import { Problem, nothingHere } from '../../problem.ts';
import { addressByPath, addressOf, hostName, isForeign } from './box-address.ts';
import type { BoxAddress } from './box-address.ts';
import type { ApiContext } from '../server/api-context.ts';
import { setRequestContext } from './request-context.ts';
import type { RequestContext } from './request-context.ts';
import { forwardedAddress, networkOf, plainAddress } from '../../ip-address.ts';

/** Creates the IDs of requests: unique in this process's life, and across processes by their random beginning. */
function createRequestIds(): () => string {
  const beginning = randomBytes(6).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${beginning}-${count.toString(36)}`;
  };
}

/** A request ID that a proxy in front may have set. */
const foreignId = /^[A-Za-z0-9._-]{8,64}$/;

/**
 * Creates the first step of every request on the public port: sets its ID, refuses ambiguous requests,
 * and finds the box, whose prefix it removes from the URL. Throws Problem.
 */
export function createAcceptRequest(
  context: Pick<ApiContext, 'addressing' | 'boxes' | 'isTrustedProxy' | 'log'>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined {
  const nextId = createRequestIds();
  let isNoted = false;

  /** Logs it once: a proxy that sends such a header sends it with every request. */
  function noteUnread(): void {
    if (isNoted) return;
    isNoted = true;
    context.log.warn(
      'X-Forwarded-For of a trusted proxy is no list of addresses: its callers share the address of the proxy',
    );
  }

  function begin(request: IncomingMessage): RequestContext {
    const peer = plainAddress(request.socket.remoteAddress);
    const trusted = context.isTrustedProxy(peer);
    const given = request.headers['x-request-id'];
    const remoteAddr = trusted ? forwardedFor(request, peer, context.isTrustedProxy, noteUnread) : peer;
    return {
      requestId: trusted && typeof given === 'string' && foreignId.test(given) ? given : nextId(),
      started: performance.now(),
      remoteAddr,
      network: networkOf(remoteAddr),
      box: '',
      moves: 0,
      path: request.url ?? '/',
      target: request.url ?? '/',
      route: '(none)',
      shape: 'plain',
      client: undefined,
      policy: undefined,
      allowedOrigin: undefined,
      error: undefined,
      refusal: undefined,
      page: undefined,
      advice: undefined,
    };
  }

  return (request, response) => {
    const authority = takeAuthority(request);
    const requestContext = begin(request);
    setRequestContext(response, requestContext);
    refuseUpgrade(request, response);
    const host = refuseAmbiguous(request, authority);
    const settle = ({ box, url }: BoxAddress): void => {
      requestContext.box = box;
      requestContext.path = url;
      request.url = url;
    };
    // The common case does not wait.
    const direct = isForeign(host, context.addressing) ? undefined : addressByPath(requestContext.path);
    if (direct !== undefined && context.boxes.isKnown(direct.box)) {
      settle(direct);
      return undefined;
    }
    return existing(host, requestContext.path, context).then(settle);
  };
}

/**
 * Reduces a target in absolute form, as proxies get it, to its path, and returns its authority, which replaces the Host
 * header (RFC 9112 §3.2.2).
 */
function takeAuthority(request: IncomingMessage): string | undefined {
  const [, authority, path = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url ?? '') ?? [];
  if (authority !== undefined) request.url = path.startsWith('/') ? path : `/${path}`;
  return authority;
}

/** An unknown box gets the same 404 as an unknown path, even if the request is malformed. */
async function existing(
  host: string,
  url: string,
  { addressing, boxes }: Pick<ApiContext, 'addressing' | 'boxes'>,
): Promise<BoxAddress> {
  const address = await addressOf(host, url, addressing);
  if (address === undefined || !(await boxes.exists(address.box))) throw nothingHere();
  return address;
}

/**
 * Returns the last address in X-Forwarded-For that is not our proxy: anybody may have written the ones before it.
 * `unread` is called for an element that is not an address; the peer is then used as the caller.
 */
function forwardedFor(
  request: IncomingMessage,
  peer: string,
  isTrusted: (address: string) => boolean,
  unread: () => void,
): string {
  const header = request.headers['x-forwarded-for'];
  for (const element of (typeof header === 'string' ? header : '').split(',').reverse()) {
    if (element.trim() === '') continue;
    const address = forwardedAddress(element);
    if (address === undefined) unread();
    if (address === undefined || !isTrusted(address)) return address ?? peer;
  }
  return peer;
}

/**
 * Ignores a request for another protocol (RFC 9110 §7.8). The connection ends with the answer: Node.js drops data
 * received together with such a request, so the next one on this connection could begin in the middle.
 */
function refuseUpgrade(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
}

/** Headers whose repetition a proxy in front of us might read differently. */
const single = new Set(['authorization', 'host', 'content-type', 'content-length', 'cookie', 'if-match']);
const mostHeaders = 100;

/** Returns the host; empty for a request of HTTP/1.0 without one (RFC 9112 §3.2). */
function refuseAmbiguous(request: IncomingMessage, authority: string | undefined): string {
  const { rawHeaders, httpVersion, httpVersionMajor, headers } = request;
  if (httpVersionMajor !== 1) throw new Problem('bad-request', 'The request must be of HTTP/1.1');
  if (rawHeaders.length > 2 * mostHeaders) throw new Problem('bad-request', 'The request has too many headers');
  refuseRepeated(request);
  if (request.url?.startsWith('/') !== true) throw new Problem('bad-request', 'The request target must be a path');
  // RFC 9112 §3.2.1: a target has no fragment. What is left here is all that express reads without parsing it as a URL.
  if (/[#\s]/.test(request.url)) throw new Problem('bad-request', 'The request target must not have a fragment (#)');
  if (httpVersion === '1.0' && headers.host === undefined && authority === undefined) return '';
  const host = hostName(authority ?? headers.host);
  if (host === undefined || (headers.host === undefined && httpVersion !== '1.0'))
    throw new Problem('bad-request', 'The Host header is malformed');
  return host;
}

function refuseRepeated({ rawHeaders, headers }: IncomingMessage): void {
  // Node.js makes one member of headers with one name: as many members as headers means that none is repeated.
  if (2 * Object.keys(headers).length === rawHeaders.length) return;
  let seen = '';
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!single.has(name)) continue;
    if (seen.includes(`,${name},`)) throw new Problem('bad-request', `The header ${name} is repeated: send it once`);
    seen += `,${name},`;
  }
}
