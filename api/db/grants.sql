-- Run at each migrate, for the API's role: rows only, no tables, no partitions by name.
REVOKE ALL ON SCHEMA boxgate FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA boxgate FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA boxgate FROM :role;
GRANT USAGE ON SCHEMA boxgate TO :role;
-- Never `records_from`: records of the audit trail that are older may be deleted. Only end_box_data sets it.
GRANT SELECT, INSERT (box), UPDATE (config_version, sessions_from, revoked_before, namespace_cluster, namespace_uid, locked_for,
     discarding, bootstrapped, quota, missing_since, sessions_full, transit, counterpart, leaving_until) ON boxgate.box TO :role;
GRANT SELECT, INSERT, UPDATE ON boxgate.session, boxgate.revocation, boxgate.operator_epoch,
     boxgate.cluster_settings, boxgate.last_id TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE
  ON boxgate.resource, boxgate.tombstone, boxgate.box_version, boxgate.signing_key, boxgate.refresh_family,
     boxgate.session_room, boxgate.used_assertion, boxgate.service_account_pin, boxgate.user, boxgate.group,
     boxgate.group_member, boxgate.box_host, boxgate.sign_in, boxgate.consent, boxgate.consent_target,
     boxgate.consent_request, boxgate.authorization_code, boxgate.failed_attempt
  TO :role;
GRANT SELECT, UPDATE, DELETE ON boxgate.client_usage, boxgate.recorded_request, boxgate.policy_use TO :role;
GRANT SELECT, INSERT ON boxgate.audit_event TO :role;
GRANT SELECT, INSERT, UPDATE ON boxgate.box_use, boxgate.lease TO :role;
GRANT SELECT, UPDATE ON boxgate.session_count TO :role;
GRANT SELECT, INSERT, UPDATE ON boxgate.placement TO :role;
GRANT SELECT, UPDATE (beat) ON boxgate.identity TO :role;
GRANT SELECT, UPDATE (beat, next, restored_at) ON boxgate.database TO :role;
GRANT SELECT ON boxgate.schema_version, boxgate.bucket, boxgate.audit_day TO :role;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA boxgate TO :role;
-- Only functions of the owner call these. Those of buckets are created later, too, and nobody may call them then.
REVOKE EXECUTE ON FUNCTION boxgate.make_bucket_check(integer) FROM :role;
DO $$
DECLARE
  of_partition regprocedure;
BEGIN
  FOR of_partition IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'boxgate'::regnamespace
                      AND p.proname ~ '^check_sessions_[0-9]+$' LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM :role', of_partition);
  END LOOP;
END
$$;
