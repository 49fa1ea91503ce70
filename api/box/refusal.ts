/**
 * Error that answers a request by what the configuration of its box says. It is only given under the current
 * configuration: {@link StateCache.decide} repeats the decision if the configuration changed meanwhile.
 */
export class Refusal extends Error {}
