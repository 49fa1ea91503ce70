/** A panel of the dashboard: its title, its unit in Grafana, and the expressions with the text of their legends. */
type Panel = readonly [title: string, unit: string, expressions: Readonly<Record<string, string>>];

const panels: readonly Panel[] = [
  [
    'Requests by status',
    'reqps',
    { '{{status}}': 'sum by (status) (rate(boxgate_http_requests_total[$__rate_interval]))' },
  ],
  [
    'Duration of requests',
    's',
    Object.fromEntries(
      [50, 99].map((percent) => [
        `p${String(percent)}`,
        `histogram_quantile(${String(percent / 100)}, sum by (le) (rate(boxgate_http_request_duration_seconds_bucket[$__rate_interval])))`,
      ]),
    ),
  ],
  [
    'Requests by route',
    'reqps',
    { '{{route}}': 'topk(10, sum by (route) (rate(boxgate_http_requests_total[$__rate_interval])))' },
  ],
  ['Secrets and passwords that wait for argon2', 'short', { '{{pod}}': 'boxgate_argon2_waiting' }],
  [
    'Refused by the shares between boxes',
    'reqps',
    { '{{resource}}': 'sum by (resource) (rate(boxgate_share_refused_total[$__rate_interval]))' },
  ],
  ['Replicas that can serve', 'short', { '{{pod}}': 'boxgate_ready' }],
  ['Boxes in memory', 'short', { '{{pod}}': 'boxgate_boxes_in_memory' }],
  ['CPU', 'percentunit', { '{{pod}}': 'rate(boxgate_process_cpu_seconds_total[$__rate_interval])' }],
  ['Memory', 'bytes', { '{{pod}}': 'boxgate_process_resident_memory_bytes' }],
  ['Event loop, p99', 's', { '{{pod}}': 'boxgate_nodejs_eventloop_lag_p99_seconds' }],
  [
    'Objects that are not Ready',
    'short',
    { '{{kind}}': 'sum by (kind) (boxgate_operator_objects{condition="Ready",status!="True"})' },
  ],
  [
    'From a change until it is live, p99',
    's',
    {
      p99: 'histogram_quantile(0.99, sum by (le) (rate(boxgate_operator_apply_to_live_seconds_bucket[$__rate_interval])))',
    },
  ],
  ['Boxes that wait for a pass', 'short', { '{{pod}}': 'boxgate_operator_queue_depth' }],
  [
    'Calls of the Kubernetes API',
    'reqps',
    { '{{verb}} {{code}}': 'sum by (verb, code) (rate(boxgate_operator_kubernetes_requests_total[$__rate_interval]))' },
  ],
  ['Which replica leads', 'short', { '{{pod}}': 'boxgate_operator_leader' }],
];

const [columns, width, height] = [2, 12, 8];

/** Returns the dashboard as the JSON text that Grafana imports. */
export function dashboardJson(): string {
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  const dashboard = {
    title: 'Boxgate',
    uid: 'boxgate',
    tags: ['boxgate'],
    schemaVersion: 39,
    time: { from: 'now-3h', to: 'now' },
    refresh: '30s',
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map(([title, unit, expressions], index) => ({
      id: index + 1,
      type: 'timeseries',
      title,
      datasource,
      gridPos: { x: (index % columns) * width, y: Math.floor(index / columns) * height, w: width, h: height },
      fieldConfig: { defaults: { unit }, overrides: [] },
      targets: Object.entries(expressions).map(([legendFormat, expr], nth) => ({
        refId: String.fromCharCode(65 + nth),
        datasource,
        expr,
        legendFormat,
      })),
    })),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

/** Returns every expression of the dashboard. */
export function dashboardExpressions(): readonly string[] {
  return panels.flatMap(([, , expressions]) => Object.values(expressions));
}
