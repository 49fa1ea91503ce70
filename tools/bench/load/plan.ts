import type { Credentials } from './requests.ts';

/** Work of the load generator. Every plan ends: by time, by number, or both. */
export type LoadPlan = {
  /** Port on 127.0.0.1; the generator speaks to no other address. */
  port: number;
  /** Keep-alive connections, each with one request under way at most. */
  connections: number;
  /** Whole HTTP/1.1 requests as text, sent in turn, from the first again after the last. */
  requests: string[];
  /** Seconds that count, after the warm-up. */
  seconds: number;
  /** Seconds before that are driven the same way and not counted. */
  warmupSeconds: number;
  /** Stop after this many requests have been sent, warm-up included. */
  limit?: number;
  /** Requests a second, on a fixed schedule; absent: the next one as soon as an answer is there. */
  rate?: number;
};

/** People who go through the code flow of OpenID Connect again and again, each on a connection of their own. */
export type FlowPlan = {
  port: number;
  people: FlowPerson[];
  /** Token request with which their client redeems its codes. */
  redemption: { path: string; fields: Record<string, string>; credentials: Credentials };
  /** Signing algorithm that every id_token must have. */
  algorithm: string;
  /** The path of the userinfo endpoint. */
  userInfo: string;
  /** Seconds that count, after the warm-up. */
  seconds: number;
  /** Seconds before that are driven the same way and not counted. */
  warmupSeconds: number;
};

/** Somebody who is signed in and has consented. */
export type FlowPerson = {
  /** The path of the authorization request, with its query. */
  authorize: string;
  /** Cookies of the browser: `name=value`, or several of them. */
  cookie: string;
  /** Subject that the userinfo endpoint must return. */
  sub: string;
};

/**
 * Result of a plan. Latencies are milliseconds; with a `rate` they count from the time a request was due. Of a {@link
 * FlowPlan}, whole flows are counted, as answers of status 200.
 */
export type LoadReport = {
  /** Answers that count. */
  requests: number;
  seconds: number;
  perSecond: number;
  /** Every answer, the warm-up's included: what the CPU of a server is divided by. */
  answersWithWarmUp: number;
  /** Answers by status code, the warm-up's included. */
  statuses: Record<string, number>;
  /** Connections that were refused, cut or answered with something that is not HTTP/1.1. */
  failures: number;
  latency: { p50: number; p95: number; p99: number; max: number };
  /** CPU the generator itself spent meanwhile, milliseconds. */
  ownCpu: number;
};
