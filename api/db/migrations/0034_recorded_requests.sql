-- Requests that callers were recently allowed or refused, and when policies were last used: for people, and never on the
-- path of a request. Replicas remember, and write what is new several times a second.

CREATE TABLE boxgate.recorded_request (
  box           text NOT NULL REFERENCES boxgate.box,
  -- The client of the token.
  client        text NOT NULL,
  -- Whose rights the token carried: `client`; `user`, who is in no group; `group:<id>`, for each group of the user; or
  -- `limited`: a user's token that does not carry the rights of its user.
  principal     text NOT NULL,
  -- App behind a gateway; empty: the own endpoints of the box.
  app           text NOT NULL,
  method        text NOT NULL,
  -- The path without its query, with a placeholder for each segment that names a record.
  shape         text NOT NULL,
  -- The policy that granted the requests; empty: none did.
  policy        text NOT NULL,
  requests      bigint NOT NULL,
  first_seen_at timestamptz NOT NULL,
  last_seen_at  timestamptz NOT NULL,
  PRIMARY KEY (box, client, principal, app, method, shape, policy)
);
CREATE INDEX recorded_request_seen ON boxgate.recorded_request (last_seen_at);
ALTER TABLE boxgate.recorded_request ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.recorded_request USING (box = current_setting('boxgate.box', true));

-- When a policy last granted a request, to the minute.
CREATE TABLE boxgate.policy_use (
  box          text NOT NULL REFERENCES boxgate.box,
  policy       text NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (box, policy)
);
ALTER TABLE boxgate.policy_use ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.policy_use USING (box = current_setting('boxgate.box', true));

-- Adds counts of requests of many boxes, and the use of their policies; times in milliseconds since 1970. Counts from
-- before the data of a box was discarded are not stored: versions are microseconds since 1970. Those without a client
-- show only the use of a policy. Rows are locked in the order of their keys.
CREATE FUNCTION boxgate.record_requests(p_requests jsonb) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH seen AS MATERIALIZED (
    SELECT b.box, r.client, r.principal, r.app, r.method, r.shape, r.policy, r.requests,
           to_timestamp(r.first_seen / 1000.0) AS first_seen_at, to_timestamp(r.last_seen / 1000.0) AS last_seen_at
      FROM jsonb_to_recordset(p_requests) AS r (box text, client text, principal text, app text, method text, shape text,
           policy text, requests bigint, first_seen bigint, last_seen bigint)
      JOIN box b ON b.box = r.box
     WHERE r.last_seen * 1000 >= b.records_from
  ), recorded AS (
    INSERT INTO recorded_request AS q (box, client, principal, app, method, shape, policy, requests, first_seen_at,
                                       last_seen_at)
    SELECT s.box, s.client, s.principal, s.app, s.method, s.shape, s.policy, s.requests, s.first_seen_at, s.last_seen_at
      FROM seen s WHERE s.client <> ''
     ORDER BY s.box, s.client, s.principal, s.app, s.method, s.shape, s.policy
    ON CONFLICT (box, client, principal, app, method, shape, policy) DO UPDATE
       SET requests = q.requests + excluded.requests,
           last_seen_at = GREATEST(q.last_seen_at, excluded.last_seen_at)
  )
  INSERT INTO policy_use AS u (box, policy, last_used_at)
  SELECT p.box, p.id, max(s.last_seen_at)
    FROM seen s JOIN resource p ON p.box = s.box AND p.kind = 'AccessPolicy' AND p.id = s.policy
   GROUP BY p.box, p.id ORDER BY p.box, p.id
  ON CONFLICT (box, policy) DO UPDATE SET last_used_at = GREATEST(u.last_used_at, excluded.last_used_at)
$$;

-- Deletes the requests of these boxes that are too many, the oldest first: of one principal of a client, and of a box.
CREATE FUNCTION boxgate.trim_requests(p_boxes text[], p_each integer, p_all integer) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH numbered AS MATERIALIZED (
    SELECT q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy,
           row_number() OVER (PARTITION BY q.box, q.client, q.principal ORDER BY q.last_seen_at DESC) AS nth_of_principal,
           row_number() OVER (PARTITION BY q.box ORDER BY q.last_seen_at DESC) AS nth
      FROM recorded_request q WHERE q.box = ANY (p_boxes)
  ), over AS MATERIALIZED (
    SELECT q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy
      FROM recorded_request q
      JOIN numbered n ON (q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy)
                       = (n.box, n.client, n.principal, n.app, n.method, n.shape, n.policy)
     WHERE n.nth_of_principal > p_each OR n.nth > p_all
       FOR UPDATE OF q SKIP LOCKED
  ), deleted AS (
    DELETE FROM recorded_request q USING over o
     WHERE (q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy)
         = (o.box, o.client, o.principal, o.app, o.method, o.shape, o.policy)
    RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;

-- Deletes requests that were last seen before a time, of all boxes.
CREATE FUNCTION boxgate.delete_requests(p_before timestamptz, p_limit integer) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH over AS MATERIALIZED (
    SELECT q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy
      FROM recorded_request q WHERE q.last_seen_at < p_before
     ORDER BY q.last_seen_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), deleted AS (
    DELETE FROM recorded_request q USING over o
     WHERE (q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy)
         = (o.box, o.client, o.principal, o.app, o.method, o.shape, o.policy)
    RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;
