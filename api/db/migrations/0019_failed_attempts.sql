-- Failed attempts at passwords and client secrets, counted by all replicas together. A replica counts what fails at one of
-- its addresses in memory; these counts are the limits that hold for all addresses and replicas.
CREATE TABLE boxgate.failed_attempt (
  box      text NOT NULL REFERENCES boxgate.box,
  -- Names what was guessed at, without any text that somebody typed.
  subject  text NOT NULL,
  -- End of the period that the failures are counted in.
  ends_at  timestamptz NOT NULL,
  failures integer NOT NULL,
  PRIMARY KEY (box, subject, ends_at)
);
CREATE INDEX failed_attempt_ends ON boxgate.failed_attempt (ends_at);
ALTER TABLE boxgate.failed_attempt ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.failed_attempt USING (box = current_setting('boxgate.box', true));

-- Returns the failures of subjects in the periods that end at the given seconds since 1970; nothing where there are none.
CREATE FUNCTION boxgate.count_failures(p_boxes text[], p_subjects text[], p_ends bigint[])
RETURNS TABLE (nth bigint, failures integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT a.nth, f.failures
    FROM unnest(p_boxes, p_subjects, p_ends) WITH ORDINALITY AS a (box, subject, ends, nth)
    JOIN failed_attempt f ON f.box = a.box AND f.subject = a.subject AND f.ends_at = to_timestamp(a.ends)
$$;

-- Adds one failure for each element; boxes that do not exist are skipped. Rows are locked in the order of their keys.
CREATE FUNCTION boxgate.add_failures(p_boxes text[], p_subjects text[], p_ends bigint[]) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  INSERT INTO failed_attempt AS f (box, subject, ends_at, failures)
  SELECT b.box, a.subject, to_timestamp(a.ends), count(*)
    FROM unnest(p_boxes, p_subjects, p_ends) AS a (box, subject, ends) JOIN box b ON b.box = a.box
   GROUP BY b.box, a.subject, a.ends ORDER BY b.box, a.subject, a.ends
  ON CONFLICT (box, subject, ends_at) DO UPDATE SET failures = f.failures + excluded.failures
$$;

-- Deletes counts of periods that are over, of all boxes.
CREATE FUNCTION boxgate.delete_failures(p_before timestamptz, p_limit int) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH over AS (
    SELECT f.box, f.subject, f.ends_at FROM failed_attempt f WHERE f.ends_at < p_before
     ORDER BY f.ends_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), deleted AS (
    DELETE FROM failed_attempt f USING over o
     WHERE (f.box, f.subject, f.ends_at) = (o.box, o.subject, o.ends_at) RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;
