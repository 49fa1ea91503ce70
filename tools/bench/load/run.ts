import { setTimeout as pause } from 'node:timers/promises';
import { latencyCounts } from './latency-counts.ts';
import { openConnection, type LoadConnection } from './connection.ts';
import type { LoadPlan, LoadReport } from './plan.ts';

/** Longest wait for answers still out when a plan ends, milliseconds. */
const drainTime = 10_000;
/** After so many lost connections a plan ends early: the server is gone, not slow. */
const tooManyFailures = 1_000;

/** One plan under way. A class because every answer touches its counters; nothing here is shared between plans. */
export class LoadRun {
  readonly #plan: LoadPlan;
  readonly #requests: Buffer[];
  readonly #connections = new Set<LoadConnection>();
  readonly #idle: LoadConnection[] = [];
  /** Times at which paced requests were due that found no idle connection. */
  readonly #overdue: number[] = [];
  readonly #ended = Promise.withResolvers<void>();
  readonly #drained = Promise.withResolvers<void>();
  #counts = latencyCounts();
  readonly #statuses = new Map<number, number>();
  #failures = 0;
  #sent = 0;
  #underWay = 0;
  #over = false;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#requests = plan.requests.map((text) => Buffer.from(text, 'latin1'));
  }

  /** Runs the plan to its end. */
  async report(): Promise<LoadReport> {
    await Promise.all(Array.from({ length: this.#plan.connections }, () => this.#open()));
    const pacer = this.#plan.rate === undefined ? undefined : this.#pace(this.#plan.rate);
    if (pacer === undefined) for (const connection of this.#idle.splice(0)) this.#next(connection);
    if (this.#plan.warmupSeconds > 0) await this.#warmUp(this.#plan.warmupSeconds);
    const [begin, cpu] = [performance.now(), process.cpuUsage()];
    await Promise.race([this.#ended.promise, pause(this.#plan.seconds * 1000)]);
    this.#end();
    clearInterval(pacer);
    await Promise.race([this.#drained.promise, pause(drainTime)]);
    // What has no answer by now never gets one.
    this.#failures += this.#underWay;
    for (const connection of this.#connections) connection.close();
    return this.#summary((performance.now() - begin) / 1000, process.cpuUsage(cpu));
  }

  async #open(): Promise<void> {
    const connection = await openConnection(this.#plan.port, this);
    this.#connections.add(connection);
    this.#idle.push(connection);
  }

  /** Sends what is due every few milliseconds, on the schedule and not on the answers. */
  #pace(rate: number): NodeJS.Timeout {
    const begin = performance.now();
    let scheduled = 0;
    return setInterval(() => {
      for (; begin + (scheduled * 1000) / rate <= performance.now(); scheduled += 1) {
        this.#overdue.push(begin + (scheduled * 1000) / rate);
      }
      while (this.#overdue.length > 0) {
        const connection = this.#idle.pop();
        if (connection === undefined) return;
        this.#next(connection);
      }
    }, 2);
  }

  #next(connection: LoadConnection): void {
    const since = this.#plan.rate === undefined ? performance.now() : this.#overdue.shift();
    const request = this.#requests[this.#sent % this.#requests.length];
    if (this.#over || since === undefined || request === undefined) {
      this.#idle.push(connection);
      if (this.#over && this.#underWay === 0) this.#drained.resolve();
      return;
    }
    this.#sent += 1;
    this.#underWay += 1;
    if (this.#sent === this.#plan.limit) this.#end();
    connection.send(request, since);
  }

  /** Called by a connection with each answer. */
  answered(connection: LoadConnection, status: number, since: number): void {
    this.#underWay -= 1;
    this.#counts.record(performance.now() - since);
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    this.#next(connection);
  }

  /** Called by a connection that is gone. One that was busy counts; every one is replaced while the plan runs. */
  lost(connection: LoadConnection, busy: boolean): void {
    this.#connections.delete(connection);
    const place = this.#idle.indexOf(connection);
    if (place >= 0) this.#idle.splice(place, 1);
    if (busy) {
      this.#underWay -= 1;
      this.#failures += 1;
    }
    if (this.#failures >= tooManyFailures) this.#end();
    if (this.#over && this.#underWay === 0) this.#drained.resolve();
    if (!this.#over) void this.#replace();
  }

  async #replace(): Promise<void> {
    try {
      await this.#open();
      const connection = this.#plan.rate === undefined ? this.#idle.pop() : undefined;
      if (connection !== undefined) this.#next(connection);
    } catch {
      this.#failures += 1;
    }
  }

  async #warmUp(seconds: number): Promise<void> {
    await Promise.race([this.#ended.promise, pause(seconds * 1000)]);
    this.#counts = latencyCounts();
  }

  #end(): void {
    this.#over = true;
    this.#ended.resolve();
    if (this.#underWay === 0) this.#drained.resolve();
  }

  #summary(seconds: number, cpu: NodeJS.CpuUsage): LoadReport {
    const requests = this.#counts.total();
    return {
      requests,
      answersWithWarmUp: [...this.#statuses.values()].reduce((sum, count) => sum + count, 0),
      seconds,
      perSecond: requests / seconds,
      statuses: Object.fromEntries(this.#statuses),
      failures: this.#failures,
      latency: {
        p50: this.#counts.quantile(0.5),
        p95: this.#counts.quantile(0.95),
        p99: this.#counts.quantile(0.99),
        max: this.#counts.max(),
      },
      ownCpu: (cpu.user + cpu.system) / 1000,
    };
  }
}
