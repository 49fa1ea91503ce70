/** A policy that grants nothing although its subjects and the request may be right. */
export interface FailedPolicy {
  readonly policy: string;
  /** Reason why it cannot be compiled, or the message that it gave up. */
  readonly reason: string;
}

/** Record of policies that fail in decisions: each is reported once, all are counted. */
export interface FailedPolicies {
  /** Notes a failure of a policy of a box. */
  note(box: string, failed: FailedPolicy): void;
  /** Decisions in which a policy failed, since the start. */
  readonly count: number;
}

/** Most failures that are remembered; when there are more, each is reported once more. */
const MOST_REMEMBERED = 1000;

/** Creates the record of one process; `report` is called once for each failure of a policy. */
export function createFailedPolicies(report: (box: string, failed: FailedPolicy) => void): FailedPolicies {
  const reported = new Set<string>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    note(box, failed) {
      count += 1;
      const key = JSON.stringify([box, failed.policy, failed.reason]);
      if (reported.has(key)) return;
      if (reported.size >= MOST_REMEMBERED) reported.clear();
      reported.add(key);
      report(box, failed);
    },
  };
}
