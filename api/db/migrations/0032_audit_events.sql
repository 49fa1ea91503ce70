-- The audit trail. The API adds and reads records; it changes and deletes none, whoever asks it to.

-- Partitioned by `day`: the UTC day on which a record expires, as days since 1970, so that retention can differ between
-- boxes. Days that are over are dropped, never deleted.
CREATE TABLE boxgate.audit_event (
  -- A UUIDv7: the order of the ids is that of the records.
  id          uuid NOT NULL,
  -- The config version of the box: records from before its data was discarded are hidden, then deleted.
  version     bigint NOT NULL,
  created_at  timestamptz NOT NULL,
  day         integer NOT NULL,
  count       integer NOT NULL DEFAULT 1,
  box         text NOT NULL,
  event       text NOT NULL,
  result      text NOT NULL,
  -- The actor.
  client      text,
  user_id     bigint,
  remote_addr text,
  operator    text,
  session     uuid,
  request_id  text,
  -- `<kind>/<id>`.
  target      text,
  -- The user who joined or left the group that is the target.
  member      bigint,
  changed     text[],
  PRIMARY KEY (box, id, day)
) PARTITION BY RANGE (day);
CREATE INDEX audit_event_by_event ON boxgate.audit_event (box, event, id);
CREATE INDEX audit_event_by_target ON boxgate.audit_event (box, target, id) WHERE target IS NOT NULL;
CREATE INDEX audit_event_by_user ON boxgate.audit_event (box, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_event_by_client ON boxgate.audit_event (box, client, id) WHERE client IS NOT NULL;

ALTER TABLE boxgate.audit_event ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.audit_event USING (box = current_setting('boxgate.box', true));

-- Days that a box keeps its records: what its Box declares, if that can be used.
CREATE FUNCTION boxgate.audit_retention(p_box text) RETURNS integer
LANGUAGE sql STABLE SET search_path = boxgate, pg_temp
AS $$
  SELECT coalesce((
    SELECT least(400, greatest(1, (r.body #>> '{audit,retention}')::numeric))::integer FROM resource r
     WHERE r.box = p_box AND r.kind = 'Box' AND jsonb_typeof(r.body #> '{audit,retention}') = 'number' LIMIT 1), 90)
$$;

-- The day on which a record of this moment expires.
CREATE FUNCTION boxgate.audit_day(p_box text) RETURNS integer
LANGUAGE sql STABLE SET search_path = boxgate, pg_temp
AS $$
  SELECT (extract(epoch FROM now())::bigint / 86400)::integer + audit_retention(p_box)
$$;

-- Stores records of many boxes: failures and sign-ins that a replica has counted. One that was noted before the data of
-- its box was discarded is not stored: versions are microseconds since 1970.
CREATE FUNCTION boxgate.store_counted_events(p_events jsonb) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  INSERT INTO audit_event (id, version, created_at, day, count, box, event, result, client, user_id, remote_addr,
                           session, request_id, target)
  SELECT e.id, b.config_version, e.created_at, d.day, e.count, b.box, e.event, e.result, e.client, e.user_id,
         e.remote_addr, e.session, e.request_id, e.target
    FROM jsonb_to_recordset(p_events) AS e (id uuid, created_at timestamptz, count integer, box text, event text,
         result text, client text, user_id bigint, remote_addr text, session uuid, request_id text, target text)
    JOIN box b ON b.box = e.box
    JOIN (SELECT n.box, audit_day(n.box) FROM
           (SELECT DISTINCT x.box FROM jsonb_to_recordset(p_events) AS x (box text)) n) AS d (box, day) ON d.box = b.box
   WHERE extract(epoch FROM e.created_at) * 1000000 >= b.records_from
$$;

-- Makes the partitions that records kept for so many days need until the day after tomorrow; the API has no right to.
-- Created first, then attached: PARTITION OF would lock the whole table.
CREATE FUNCTION boxgate.make_audit_days(p_retention integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '2s'
AS $$
DECLARE
  today integer := (extract(epoch FROM now())::bigint / 86400)::integer;
  made integer := 0;
BEGIN
  IF p_retention NOT BETWEEN 1 AND 400 THEN
    RAISE EXCEPTION 'no retention: %', p_retention USING ERRCODE = 'invalid_parameter_value';
  END IF;
  FOR wanted IN today + p_retention .. today + p_retention + 2 LOOP
    CONTINUE WHEN to_regclass('boxgate.audit_event_' || wanted) IS NOT NULL;
    PERFORM pg_advisory_xact_lock(hashtext('boxgate.audit_day'));
    CONTINUE WHEN to_regclass('boxgate.audit_event_' || wanted) IS NOT NULL;
    EXECUTE format('CREATE TABLE boxgate.%I (LIKE boxgate.audit_event INCLUDING ALL)', 'audit_event_' || wanted);
    EXECUTE format('ALTER TABLE boxgate.audit_event ATTACH PARTITION boxgate.%I FOR VALUES FROM (%s) TO (%s)',
                   'audit_event_' || wanted, wanted, wanted + 1);
    made := made + 1;
  END LOOP;
  RETURN made;
END
$$;

-- The retentions that boxes have now, and the default.
CREATE FUNCTION boxgate.audit_retentions() RETURNS TABLE (retention integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT audit_retention(r.box) FROM resource r WHERE r.kind = 'Box' UNION SELECT 90
$$;

-- The days that there are, and whether drop_audit_day would drop them.
CREATE FUNCTION boxgate.audit_days() RETURNS TABLE (day integer, over boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT d.day, d.day < extract(epoch FROM now())::bigint / 86400
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         CROSS JOIN LATERAL (SELECT substr(c.relname, 13)::integer) AS d (day)
   WHERE i.inhparent = 'boxgate.audit_event'::regclass
   ORDER BY d.day
$$;

-- Drops the partition of a day that is over. False when it is not there, or when a long statement holds the table:
-- others would wait behind this lock, so the wait is short.
CREATE FUNCTION boxgate.drop_audit_day(p_day integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '200ms'
AS $$
BEGIN
  IF p_day >= extract(epoch FROM now())::bigint / 86400 THEN
    RAISE EXCEPTION 'day % is not over', p_day USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('boxgate.audit_day'));
  IF to_regclass('boxgate.audit_event_' || p_day) IS NULL THEN
    RETURN false;
  END IF;
  EXECUTE format('DROP TABLE boxgate.%I', 'audit_event_' || p_day);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END
$$;

-- Deletes records of a box whose data was discarded; tells how many. One filled day after the other, by the name of its
-- partition: a statement over all days would lock each of them with its indexes.
CREATE FUNCTION boxgate.delete_audit_events(p_box text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
DECLARE
  filled integer;
  deleted bigint := 0;
  more bigint;
BEGIN
  FOR filled IN SELECT d.day FROM audit_days() d
                 WHERE pg_relation_size(to_regclass('boxgate.audit_event_' || d.day)) > 0 LOOP
    EXECUTE format('DELETE FROM boxgate.%1$I WHERE ctid = ANY (ARRAY(
                      SELECT e.ctid FROM boxgate.%1$I e JOIN boxgate.box b ON b.box = e.box
                       WHERE e.box = $1 AND e.version < b.records_from LIMIT $2))', 'audit_event_' || filled)
      USING p_box, p_limit - deleted;
    GET DIAGNOSTICS more = ROW_COUNT;
    deleted := deleted + more;
    EXIT WHEN deleted >= p_limit;
  END LOOP;
  RETURN deleted;
END
$$;

-- Ends the data of the transaction's box under its config version: users, refresh families, signing keys, and groups `p_all`, or
-- those that no object declares. Records of sessions and of the audit trail are hidden from then on and deleted in the background:
-- they go with the data only.
CREATE FUNCTION boxgate.end_box_data(p_all boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
DECLARE
  ended text := current_setting('boxgate.box');
  part text;
BEGIN
  FOREACH part IN ARRAY ARRAY['refresh_family', 'signing_key', 'session_room', 'client_usage', 'recorded_request', 'policy_use',
                              'user', 'failed_attempt'] LOOP
    EXECUTE format('DELETE FROM boxgate.%I WHERE box = $1', part) USING ended;
  END LOOP;
  DELETE FROM boxgate.group g WHERE g.box = ended AND (g.owner_cluster IS NULL OR p_all);
  UPDATE box b SET sessions_from = b.config_version, records_from = b.config_version, discarding = true, bootstrapped = NULL
   WHERE b.box = ended;
  INSERT INTO revocation (box, subject, version)
  SELECT b.box, 'box', b.config_version FROM box b WHERE b.box = ended ON CONFLICT DO NOTHING;
END
$$;
