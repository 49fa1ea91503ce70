/** Series of a Prometheus, each with its values a minute apart, in the notation of promtool. */
export type Series = Readonly<Record<string, string>>;

/** A story of an alert: series with which it must fire, and series with which it must not. */
export interface AlertStory {
  readonly fires: Series;
  /** Minute at which it fires. */
  readonly at: number;
  /** Labels of the alert beside its name and severity. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its summary, where the rule makes it of the values. */
  readonly summary?: string;
  /** Series with which it never fires, within an hour. */
  readonly quiet: readonly Series[];
}

/** A minute of requests, most of which are answered with 200. */
function requests(status: string, perMinute: number): Series {
  const route = '/auth/token';
  return {
    [`boxgate_http_requests_total{method="POST",route="${route}",status="200"}`]: '0+6000x60',
    [`boxgate_http_requests_total{method="POST",route="${route}",status="${status}"}`]: `0+${String(perMinute)}x60`,
  };
}

/** Durations of 600 token requests a minute, of which all but some take less than a tenth of a second. */
function durations(slow: number): Series {
  const bucket = (le: string): string =>
    `boxgate_http_request_duration_seconds_bucket{route="/boxes/:box/auth/token",le="${le}"}`;
  return {
    [bucket('0.1')]: `0+${String(600 - slow)}x60`,
    [bucket('1')]: `0+${String(600 - slow)}x60`,
    [bucket('2.5')]: '0+600x60',
    [bucket('+Inf')]: '0+600x60',
  };
}

const clients = 'boxgate_operator_objects{kind="Client",condition="Ready",status="False"}';
const fields = 'boxgate_operator_definition_fields{kind="Client",definition="older"}';

/** A story for each alert of the chart. */
export const alertStories: Readonly<Record<string, AlertStory>> = {
  BoxgateApiDown: {
    fires: { 'up{job="boxgate-management",pod="boxgate-api-1"}': '1x5 0x20' },
    at: 9,
    quiet: [
      {
        'up{job="boxgate-management",pod="boxgate-api-1"}': '0x60',
        'up{job="boxgate-management",pod="boxgate-api-2"}': '1x60',
      },
    ],
  },
  BoxgateApiNotReady: {
    fires: { 'boxgate_ready{pod="boxgate-api-1"}': '1x5 0x20', 'boxgate_ready{pod="boxgate-api-2"}': '1x5 0x20' },
    at: 9,
    quiet: [
      { 'boxgate_ready{pod="boxgate-api-1"}': '0x60', 'boxgate_ready{pod="boxgate-api-2"}': '1x60' },
      // A failover of Postgres within a minute.
      { 'boxgate_ready{pod="boxgate-api-1"}': '1x5 0x1 1x50' },
      {},
    ],
  },
  BoxgateApiErrors: {
    fires: requests('500', 600),
    at: 12,
    summary: '9.091% of the requests to the Boxgate API fail.',
    quiet: [requests('500', 60), requests('401', 6000), {}],
  },
  BoxgateDatabaseUnreachable: {
    fires: requests('503', 6),
    at: 8,
    quiet: [
      requests('500', 600),
      // A moment of overload.
      { 'boxgate_http_requests_total{method="POST",route="/auth/token",status="503"}': '0x10 100x50' },
    ],
  },
  BoxgateRightsMissing: {
    fires: { boxgate_operator_missing_rights: '3x60' },
    at: 6,
    summary: 'The operator lacks 3 of its rights in the cluster.',
    quiet: [{ boxgate_operator_missing_rights: '0x10 2x3 0x46' }],
  },
  BoxgateCertificateExpires: {
    // The stories begin in 1970.
    fires: { 'boxgate_certificate_expiry_seconds{certificate="public",pod="boxgate-api-1"}': '86400x90' },
    at: 70,
    labels: { certificate: 'public' },
    summary: 'The certificate public of the Boxgate API expires in 22h 50m 0s.',
    quiet: [{ 'boxgate_certificate_expiry_seconds{certificate="public"}': '864000x90' }, {}],
  },
  BoxgateSlowTokens: {
    fires: durations(12),
    at: 20,
    quiet: [durations(3)],
  },
  BoxgateShareRefused: {
    fires: { 'boxgate_share_refused_total{resource="connections",box="shop"}': '0+120x60' },
    at: 20,
    labels: { resource: 'connections' },
    summary: 'Requests are refused because their box has used up its share of connections.',
    quiet: [{ 'boxgate_share_refused_total{resource="connections",box="shop"}': '0+30x60' }],
  },
  BoxgateAuditEventsDropped: {
    fires: { boxgate_audit_events_dropped_total: '0x5 7x20' },
    at: 7,
    quiet: [{ boxgate_audit_events_dropped_total: '7x60' }],
  },
  BoxgatePolicyFails: {
    fires: { boxgate_policy_failures_total: '0x5 1x20' },
    at: 7,
    quiet: [{ boxgate_policy_failures_total: '1x60' }],
  },
  BoxgateOperatorDown: {
    fires: {
      'boxgate_operator_leader{pod="boxgate-operator-1"}': '1x5 0x20',
      'boxgate_operator_leader{pod="boxgate-operator-2"}': '0x25',
    },
    at: 9,
    quiet: [
      {
        // The other takes over within a minute.
        'boxgate_operator_leader{pod="boxgate-operator-1"}': '1x5 0x54',
        'boxgate_operator_leader{pod="boxgate-operator-2"}': '0x6 1x53',
      },
    ],
  },
  BoxgateObjectsNotReady: {
    fires: { [`${clients.slice(0, -1)},pod="boxgate-operator-1"}`]: '2x60' },
    at: 16,
    labels: { kind: 'Client' },
    summary: '2 objects of the kind Client are not Ready.',
    // Unknown are those that somebody has suspended.
    quiet: [
      { [clients.replace('"False"', '"True"')]: '2x60', [clients.replace('"False"', '"Unknown"')]: '2x60' },
      { [clients]: '2x10 0x50' },
    ],
  },
  BoxgateNotReconciling: {
    fires: { 'boxgate_operator_pass_seconds_count{result="failed"}': '0+1x60' },
    at: 20,
    labels: { result: 'failed' },
    quiet: [{ 'boxgate_operator_pass_seconds_count{result="good"}': '0+1x60' }],
  },
  BoxgateMassDeletion: {
    fires: { boxgate_operator_removals_withheld: '1x60' },
    at: 6,
    quiet: [{ boxgate_operator_removals_withheld: '0x5 1x3 0x50' }],
  },
  BoxgateMissingObjects: {
    fires: { boxgate_operator_missing_objects: '1x60' },
    at: 11,
    quiet: [{ boxgate_operator_missing_objects: '0x5 1x8 0x46' }],
  },
  BoxgateDefinitionsDiffer: {
    fires: { [fields]: '1x70' },
    at: 62,
    labels: { kind: 'Client', definition: 'older' },
    summary: 'The custom resource definition of Client is older than the operator.',
    quiet: [{ [fields]: '1x30 0x30' }],
  },
};
