-- A day that the release before began to make while migration 0046 ran has no function, and pages of the audit trail are read in
-- transactions for as long as it exists. So a day counts as made once it has its function too.
CREATE OR REPLACE FUNCTION boxgate.make_audit_days(p_retention integer) RETURNS integer
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
    CONTINUE WHEN to_regclass('boxgate.audit_event_' || wanted) IS NOT NULL
              AND to_regproc('boxgate.audit_rows_' || wanted) IS NOT NULL;
    PERFORM pg_advisory_xact_lock(hashtext('boxgate.audit_day'));
    IF to_regclass('boxgate.audit_event_' || wanted) IS NULL THEN
      EXECUTE format('CREATE TABLE boxgate.%I (LIKE boxgate.audit_event INCLUDING ALL)', 'audit_event_' || wanted);
      EXECUTE format('ALTER TABLE boxgate.audit_event ATTACH PARTITION boxgate.%I FOR VALUES FROM (%s) TO (%s)',
                     'audit_event_' || wanted, wanted, wanted + 1);
      made := made + 1;
    END IF;
    IF to_regproc('boxgate.audit_rows_' || wanted) IS NULL THEN
      PERFORM make_audit_reads(wanted);
    END IF;
  END LOOP;
  RETURN made;
END
$$;
