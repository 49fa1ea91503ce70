-- Whether a row is as the service wrote it is asked of every row of a box every 45 seconds. To hash each of them again
-- costs sixty microseconds and reads all it says. Postgres marks every version of a row with the transaction that wrote it
-- (xmin): a row that the service wrote last carries the number of that transaction twice. Where the two differ the hash
-- decides: the row was changed past the service, or it was restored from a dump.
ALTER TABLE boxgate.resource ADD COLUMN written_in xid;

CREATE OR REPLACE FUNCTION boxgate.set_content() RETURNS trigger
LANGUAGE plpgsql SET search_path = boxgate, pg_temp
AS $$
BEGIN
  NEW.content := content_of(NEW);
  NEW.content_version := NEW.version;
  NEW.written_in := pg_current_xact_id()::xid;
  RETURN NEW;
END
$$;

UPDATE boxgate.resource r SET written_in = pg_current_xact_id()::xid WHERE r.content = boxgate.content_of(r);
