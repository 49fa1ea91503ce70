import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { BoundedMap } from '../../../program/bounded-map.ts';

/** Tokens that are remembered with their clients; beyond that the one that was verified first is dropped. */
const mostTokens = 20_000;

/**
 * Last characters of a token, under which it is remembered: nobody else knows them, random bits or a part of a
 * signature, and they are too few to use the token.
 */
const markLength = 24;

/** Name of the sharer of all tokens that are not remembered. */
const UNVERIFIED = 'unverified';

/** One of those who share the requests to `/auth/check` that a box may have in flight. */
export interface CheckSharer {
  readonly name: string;
  /** Key under which its token is remembered. */
  readonly mark: string;
}

/**
 * The sharers of requests to `/auth/check`. A gateway asks for all of its callers, so they do not share by network: the
 * client of a token that was verified lately is a sharer, and all other requests together are one.
 */
export interface CheckSharers {
  of(box: string, token: string): CheckSharer;
  /** Remembers the client of a token. */
  verified(sharer: CheckSharer, client: string): void;
}

/** Creates a memory of tokens that were verified. */
export function createCheckSharers(): CheckSharers {
  const names = new BoundedMap<string>(mostTokens);
  return {
    of(box, token) {
      const mark = `${box} ${token.slice(-markLength)}`;
      return { mark, name: names.get(mark) ?? UNVERIFIED };
    },
    verified({ mark, name }, client) {
      if (name === UNVERIFIED) names.setNewest(mark, `client ${client}`);
    },
  };
}

/**
 * Waits until a response is the first one on its connection: of requests that a caller has sent one after the other
 * without reading the answers (RFC 9112 §9.3.2), one is in flight. Meanwhile no more of them are read. Resolves with
 * false if the caller has hung up.
 */
export type FirstOnConnection = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

/** Creates the order of requests on their connections. */
export function createConnectionOrder(): FirstOnConnection {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return Promise.resolve(false);
    waiting.set(socket, (waiting.get(socket) ?? 0) + 1);
    socket.pause();
    return new Promise((resolve) => {
      const done = (): void => {
        response.off('socket', done);
        request.off('close', done);
        const left = (waiting.get(socket) ?? 1) - 1;
        waiting.set(socket, left);
        if (left === 0) socket.resume();
        resolve(!socket.destroyed);
      };
      response.once('socket', done);
      request.once('close', done);
    });
  };
}
